package seslite

// #include "callbacks.h"
import "C"

import (
	"context"
	"time"
)

// A LoadedValue is a key of the state to which the pruned events of a loaded session had led.
type LoadedValue struct {
	Name string
	JSON []byte
	Seq  int64 // the event that set it; 0: the initial state has it with this value
}

// A LoadedEvent is an event of a session that is loaded.
type LoadedEvent struct {
	JSON    []byte    // as for Append; it must stay as it is until the next one is asked for
	Seq     int64     // its number, above that of the one before; 0: the next
	Updated time.Time // the session's update time after it; zero: the latest time so far
}

// A Loaded is a session to load. The zero value of a member means its default.
type Loaded struct {
	InitialState []byte // the state it was created with; nil: empty
	State        []byte // its own keys, to which the rest must lead; nil: they are not checked
	Created      time.Time
	Updated      time.Time
	Expires      time.Time
	Version      *int64
	LastSeq      int64     // the last number that was ever given; 0: the last event's
	Archived     time.Time // after 1970
	Remembered   int64     // the number of the last event that is remembered; 0: none is
	Title        string
	Labels       map[string]string
	Parent       *Key // of a fork; its App may be empty
	ChildOf      *Key // the session that it is a child of; its App may be empty
	IsMemory     bool // and no child
	ParentSeq    int64
	BaseSeq      int64 // the last event that was pruned; 0: none was
	Base         []LoadedValue
	Origin       int64 // a random number that it has in common with its forks, for RedactOptions.Forks; 0: none
	// Next gives the next event, and nil at the end. It runs inside the transaction, and must not write to the store.
	Next func() (*LoadedEvent, error)
}

// LoadOptions say how to proceed if a different session of the same name exists; by default it is ErrExists.
type LoadOptions struct {
	Update  bool // if the existing one is the beginning of it, add the missing events
	Follow  bool // with Update: title, labels and expiry time become those that are given; otherwise they must be equal
	Replace bool // delete the existing one
	Rename  bool // load it as NAME~2, or NAME~3, ...
	DryRun  bool // find out what the call would do, and change nothing
	Shared  bool // LoadJSON: also write the shared keys that do not exist yet
}

// An Outcome is that of a session, or of a shared key, that was loaded or imported.
type Outcome int

const (
	LoadedNew      Outcome = C.SES_LOADED_NEW            // no session had its name
	LoadedEqual    Outcome = C.SES_LOADED_EQUAL          // an equal one exists; nothing has changed
	LoadedUpdated  Outcome = C.SES_LOADED_UPDATED        // the existing one got events, or with LoadOptions.Follow the rest
	LoadedReplaced Outcome = C.SES_LOADED_REPLACED       // it has replaced the existing one
	LoadedRenamed  Outcome = C.SES_LOADED_RENAMED        // it has another name; the existing one stays
	Refused        Outcome = C.SES_IMPORTED_REFUSED      // ImportItem.Err says why
	KeyKept        Outcome = C.SES_IMPORTED_KEY_KEPT     // the shared key keeps another value
	KeyReplaced    Outcome = C.SES_IMPORTED_KEY_REPLACED // the shared key had another value
)

// LoadResult is the outcome of a load.
type LoadResult struct {
	Outcome Outcome
	Events  int64 // stored now: those that the session of that name did not have already
	Version int64
	Session string // its id
}

func (c *call) loadOptions(o *LoadOptions) *C.ses_load_options {
	if o == nil {
		o = &LoadOptions{}
	}
	return lend(c, &C.ses_load_options{
		size: C.sizeof_ses_load_options,
		flags: flag(o.Update, C.SES_LOAD_UPDATE) | flag(o.Replace, C.SES_LOAD_REPLACE) | flag(o.Rename, C.SES_LOAD_RENAME) |
			flag(o.DryRun, C.SES_LOAD_DRY_RUN) | flag(o.Shared, C.SES_LOAD_SHARED) | flag(o.Follow, C.SES_LOAD_FOLLOW),
		timeout_ms: c.timeout,
		cancel:     c.cancel,
	})
}

func (c *call) loaded(l *Loaded) *C.ses_loaded {
	made := &C.ses_loaded{
		size:           C.sizeof_ses_loaded,
		created_us:     c.time(l.Created),
		updated_us:     c.time(l.Updated),
		expires_us:     c.time(l.Expires),
		last_seq:       C.int64_t(l.LastSeq),
		title:          c.optional(l.Title),
		parent_seq:     C.int64_t(l.ParentSeq),
		base_seq:       C.int64_t(l.BaseSeq),
		base_count:     C.size_t(len(l.Base)),
		origin:         C.int64_t(l.Origin),
		archived_us:    c.time(l.Archived),
		remembered_seq: C.int64_t(l.Remembered),
		parent:         c.link(l.Parent),
		child_of:       c.link(l.ChildOf),
	}
	made.initial_state, made.initial_state_len = c.bytes(l.InitialState)
	made.state, made.state_len = c.bytes(l.State)
	made.labels, made.label_count = c.labels(l.Labels, nil)
	if l.Version != nil {
		version := C.int64_t(*l.Version)
		made.version = lend(c, &version)
	}
	if l.IsMemory {
		made.kind = C.SES_KIND_MEMORY
	}
	if len(l.Base) > 0 {
		made.base = c.base(l.Base)
	}
	return made
}

func (c *call) base(values []LoadedValue) *C.ses_loaded_value {
	made := make([]C.ses_loaded_value, len(values))
	for i, value := range values {
		made[i].name, made[i].seq = c.text(value.Name), C.int64_t(value.Seq)
		made[i].json, made[i].json_len = c.bytes(value.JSON)
	}
	return lend(c, &made[0])
}

func loadResultOf(r *C.ses_load_result) LoadResult {
	return LoadResult{Outcome(r.outcome), int64(r.events), int64(r.version), C.GoString(&r.session[0])}
}

// Load stores a session with everything that belongs to it but artifacts, in one transaction. Events keep their bytes,
// ids, times and numbers.
func (s *Store) Load(ctx context.Context, key Key, loaded *Loaded, options *LoadOptions) (LoadResult, error) {
	if loaded == nil {
		return LoadResult{}, failure(ErrMisuse, "there is nothing to load")
	}
	var result C.ses_load_result
	lent := &call{}
	defer lent.release()
	_, err := s.do(ctx, func(c *call) C.int {
		made := c.loaded(loaded)
		if loaded.Next != nil {
			made.next = (*[0]byte)(C.ses_go_next)
			made.next_context = c.callback(&callback{next: loaded.Next, event: lent})
		}
		return C.ses_load(c.store, c.key(key), lend(c, made), c.loadOptions(options), &result, &c.err)
	})
	return loadResultOf(&result), err
}

// LoadJSON loads a session from the JSON that the ADK and Session.JSON write. Members of the key that are empty are taken
// from the JSON.
func (s *Store) LoadJSON(ctx context.Context, key Key, json []byte, options *LoadOptions) (LoadResult, error) {
	var result C.ses_load_result
	_, err := s.do(ctx, func(c *call) C.int {
		text, length := c.bytes(json)
		return C.ses_load_json(c.store, c.scope(key), text, length, c.loadOptions(options), &result, &c.err)
	})
	return loadResultOf(&result), err
}
