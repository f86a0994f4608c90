package seslite

// #include "seslite.h"
import "C"

import (
	"context"
	"time"
)

// AppendOptions are those of an append.
type AppendOptions struct {
	Anyway       bool              // an outdated session catches up instead of ErrStale
	Version      *int64            // by key: ErrStale unless the session has this version
	Expected     []byte            // the values of shared keys that the caller has seen, a JSON object: ErrStale if they differ
	Delta        []byte            // state changes in addition to the event's, a JSON object; they win
	Lease        int64             // the token of a lease: ErrLeased once another owner has taken it; 0: none
	TakesDraft   bool              // the session's draft is removed, if an event is stored
	Answers      string            // and the input with this request from the session's inbox; "": none
	Title        string            // the title that the session gets with the event; "": it stays
	Labels       map[string]string // labels that the session gets with the event
	RemoveLabels []string          // labels that it loses
	Attachments  *Attachments      // artifacts that are saved with the event
}

func (c *call) appendOptions(o *AppendOptions) *C.ses_append_options {
	if o == nil {
		o = &AppendOptions{}
	}
	made := &C.ses_append_options{
		size:       C.sizeof_ses_append_options,
		flags:      flag(o.Anyway, C.SES_ANYWAY) | flag(o.Version != nil, C.SES_AT_VERSION) | flag(o.TakesDraft, C.SES_APPEND_TAKES_DRAFT),
		lease:      C.int64_t(o.Lease),
		title:      c.optional(o.Title),
		answers:    c.optional(o.Answers),
		timeout_ms: c.timeout,
		cancel:     c.cancel,
	}
	if o.Version != nil {
		made.version = C.int64_t(*o.Version)
	}
	made.expected, made.expected_len = c.bytes(o.Expected)
	made.delta, made.delta_len = c.bytes(o.Delta)
	made.labels, made.label_count = c.labels(o.Labels, o.RemoveLabels)
	if o.Attachments != nil {
		made.artifacts = o.Attachments.p
	}
	return lend(c, made)
}

// A Status says what an append has done with an event.
type Status int

const (
	Stored    Status = C.SES_OK        // the event is stored
	Partial   Status = C.SES_PARTIAL   // the event is partial: nothing was stored or applied
	Duplicate Status = C.SES_DUPLICATE // the event was stored before: nothing was written again
	Unchanged Status = C.SES_UNCHANGED // of a rewind: there was nothing to take back
)

// Appended is the outcome for one event. It also comes with ErrUnknown, for MadeID.
type Appended struct {
	Status  Status
	Seq     int64     // the number of the event; 0 when none is stored
	Version int64     // the session's version after the call; 0 when partial
	Time    time.Time // the event's timestamp, given or made
	Updated time.Time // the session's update time after the call
	MadeID  string    // the id that the library made; "" if it made none
}

func appendedOf(a *C.ses_appended) Appended {
	made := Appended{Status: Status(a.status), Seq: int64(a.seq), Version: int64(a.version), MadeID: C.GoString(&a.made_id[0])}
	if a.version != 0 || a.time_us != 0 {
		made.Time, made.Updated = timeOf(a.time_us), timeOf(a.updated_us)
	}
	return made
}

// appending runs a call that appends, or rewinds, one event.
func (t target) appending(ctx context.Context, o *AppendOptions, f func(c *call, a *C.ses_appended) C.int) (Appended, error) {
	var a C.ses_appended
	unlock, err := o.lock()
	if err != nil {
		return Appended{}, err
	}
	defer unlock()
	_, err = t.do(ctx, func(c *call) C.int { return f(c, &a) })
	return appendedOf(&a), err
}

// lock keeps the attachments open during an append.
func (o *AppendOptions) lock() (unlock func(), err error) {
	if o == nil || o.Attachments == nil {
		return func() {}, nil
	}
	return o.Attachments.lock()
}

func (t target) append(ctx context.Context, event []byte, o *AppendOptions) (Appended, error) {
	return t.appending(ctx, o, func(c *call, a *C.ses_appended) C.int {
		text, length := c.bytes(event)
		options := c.appendOptions(o)
		if c.session != nil {
			return C.ses_append(c.session, text, length, options, a, &c.err)
		}
		return C.ses_append_by_key(c.store, c.name, text, length, options, a, &c.err)
	})
}

// Append appends an event, a JSON object as the ADK writes it, and applies its state changes, in one transaction.
// ErrStale: another writer appended in the meantime.
func (s *Session) Append(ctx context.Context, event []byte, options *AppendOptions) (Appended, error) {
	return s.target().append(ctx, event, options)
}

// Append appends an event at whatever version the session has, unless the options give one.
func (s *Store) Append(ctx context.Context, key Key, event []byte, options *AppendOptions) (Appended, error) {
	return target{store: s, key: key}.append(ctx, event, options)
}

// texts lends events.
func (c *call) texts(events [][]byte) (*C.ses_text, C.size_t) {
	made := make([]C.ses_text, len(events)+1)
	for i, event := range events {
		made[i].text, made[i].len = c.bytes(event)
	}
	return lend(c, &made[0]), C.size_t(len(events))
}

func (t target) appendBatch(ctx context.Context, events [][]byte, o *AppendOptions) ([]Appended, error) {
	results := make([]C.ses_appended, len(events)+1)
	unlock, err := o.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	_, err = t.do(ctx, func(c *call) C.int {
		list, count := c.texts(events)
		out, options := lend(c, &results[0]), c.appendOptions(o)
		if c.session != nil {
			return C.ses_append_batch(c.session, list, count, options, out, &c.err)
		}
		return C.ses_append_batch_by_key(c.store, c.name, list, count, options, out, &c.err)
	})
	if err != nil && CodeOf(err) != ErrUnknown {
		return nil, err
	}
	made := make([]Appended, len(events))
	for i := range made {
		made[i] = appendedOf(&results[i])
	}
	return made, err
}

// AppendBatch appends events in one transaction: all or none. Error.Index is the one that was rejected.
func (s *Session) AppendBatch(ctx context.Context, events [][]byte, options *AppendOptions) ([]Appended, error) {
	return s.target().appendBatch(ctx, events, options)
}

// AppendBatch appends events in one transaction, at whatever version the session has.
func (s *Store) AppendBatch(ctx context.Context, key Key, events [][]byte, options *AppendOptions) ([]Appended, error) {
	return target{store: s, key: key}.appendBatch(ctx, events, options)
}
