package seslite

// #include "seslite.h"
import "C"

import (
	"context"
	"encoding/json"
	"math"
	"time"
)

// giving runs a call that gives its caller a text.
func giving(ctx context.Context, on doer, f func(c *call, text *owned) C.int) (json.RawMessage, error) {
	var text owned
	_, err := on.do(ctx, func(c *call) C.int { return f(c, &text) })
	return text.take(), err
}

func (t target) stateAsOf(ctx context.Context, point Point, shared bool) (json.RawMessage, error) {
	return giving(ctx, t, func(c *call, text *owned) C.int {
		options := lend(c, &C.ses_as_of_options{
			size:       C.sizeof_ses_as_of_options,
			flags:      flag(shared, C.SES_AS_OF_SHARED),
			timeout_ms: c.timeout,
			cancel:     c.cancel,
		})
		if c.session != nil {
			return C.ses_state_json_as_of(c.session, c.point(point), options, &text.text, &text.len, &c.err)
		}
		return C.ses_state_json_as_of_by_key(c.store, c.name, c.point(point), options, &text.text, &text.len, &c.err)
	})
}

// StateAsOf returns the session's own state as it was at a point of its log, and with shared the app: and user: keys
// that it had written by then.
func (s *Session) StateAsOf(ctx context.Context, point Point, shared bool) (json.RawMessage, error) {
	return s.target().stateAsOf(ctx, point, shared)
}

// StateAsOf returns the own state of a session as it was at a point of its log.
func (s *Store) StateAsOf(ctx context.Context, key Key, point Point, shared bool) (json.RawMessage, error) {
	return target{store: s, key: key}.stateAsOf(ctx, point, shared)
}

func (t target) initialState(ctx context.Context) (json.RawMessage, error) {
	return giving(ctx, t, func(c *call, text *owned) C.int {
		if c.session != nil {
			return C.ses_state_json_initial(c.session, c.options(), &text.text, &text.len, &c.err)
		}
		return C.ses_state_json_initial_by_key(c.store, c.name, c.options(), &text.text, &text.len, &c.err)
	})
}

// InitialState returns the state that the session was created with.
func (s *Session) InitialState(ctx context.Context) (json.RawMessage, error) {
	return s.target().initialState(ctx)
}

// InitialState returns the state that a session was created with.
func (s *Store) InitialState(ctx context.Context, key Key) (json.RawMessage, error) {
	return target{store: s, key: key}.initialState(ctx)
}

// RewindOptions are those of Rewind and Redo.
type RewindOptions struct {
	Anyway        bool   // an outdated session catches up instead of ErrStale
	Version       *int64 // by key: ErrStale unless the session has this version
	ArtifactDelta []byte // for artifacts that another service keeps: their versions after the rewind, a JSON object
}

func (c *call) rewindOptions(o *RewindOptions) *C.ses_rewind_options {
	if o == nil {
		o = &RewindOptions{}
	}
	made := &C.ses_rewind_options{
		size:       C.sizeof_ses_rewind_options,
		flags:      flag(o.Anyway, C.SES_ANYWAY) | flag(o.Version != nil, C.SES_AT_VERSION),
		timeout_ms: c.timeout,
		cancel:     c.cancel,
	}
	if o.Version != nil {
		made.version = C.int64_t(*o.Version)
	}
	made.artifact_delta, made.artifact_delta_len = c.bytes(o.ArtifactDelta)
	return lend(c, made)
}

// rewinding runs a rewind, whose code says whether anything was taken back.
func (t target) rewinding(ctx context.Context, f func(c *call, a *C.ses_appended) C.int) (Appended, error) {
	var a C.ses_appended
	code, err := t.do(ctx, func(c *call) C.int { return f(c, &a) })
	made := appendedOf(&a)
	if err == nil {
		made.Status = Status(code)
	}
	return made, err
}

func (t target) rewind(ctx context.Context, point Point, o *RewindOptions) (Appended, error) {
	return t.rewinding(ctx, func(c *call, a *C.ses_appended) C.int {
		if c.session != nil {
			return C.ses_rewind(c.session, c.point(point), c.rewindOptions(o), a, &c.err)
		}
		return C.ses_rewind_by_key(c.store, c.name, c.point(point), c.rewindOptions(o), a, &c.err)
	})
}

// Rewind takes back everything after a point, by an event that records this. Nothing is deleted.
func (s *Session) Rewind(ctx context.Context, point Point, options *RewindOptions) (Appended, error) {
	return s.target().rewind(ctx, point, options)
}

// Rewind takes back everything of a session after a point.
func (s *Store) Rewind(ctx context.Context, key Key, point Point, options *RewindOptions) (Appended, error) {
	return target{store: s, key: key}.rewind(ctx, point, options)
}

func (t target) redo(ctx context.Context, o *RewindOptions) (Appended, error) {
	return t.rewinding(ctx, func(c *call, a *C.ses_appended) C.int {
		if c.session != nil {
			return C.ses_redo(c.session, c.rewindOptions(o), a, &c.err)
		}
		return C.ses_redo_by_key(c.store, c.name, c.rewindOptions(o), a, &c.err)
	})
}

// Redo takes the newest rewind back.
func (s *Session) Redo(ctx context.Context, options *RewindOptions) (Appended, error) {
	return s.target().redo(ctx, options)
}

// Redo takes the newest rewind of a session back.
func (s *Store) Redo(ctx context.Context, key Key, options *RewindOptions) (Appended, error) {
	return target{store: s, key: key}.redo(ctx, options)
}

// CutOptions are those of Cut and Pop.
type CutOptions struct {
	Anyway  bool   // an outdated session catches up instead of ErrStale
	Version *int64 // by key: ErrStale unless the session has this version
	Secure  bool   // overwrites what is deleted
	// Erased becomes the receipt, which takes time: forks are looked for. nil: none.
	Erased *Erased
}

func (c *call) cutOptions(o *CutOptions) *C.ses_cut_options {
	if o == nil {
		o = &CutOptions{}
	}
	made := &C.ses_cut_options{
		size: C.sizeof_ses_cut_options,
		flags: flag(o.Anyway, C.SES_ANYWAY) | flag(o.Version != nil, C.SES_AT_VERSION) |
			flag(o.Secure, C.SES_SECURE),
		timeout_ms: c.timeout,
		cancel:     c.cancel,
		erased:     c.receipt(o.Erased),
	}
	if o.Version != nil {
		made.version = C.int64_t(*o.Version)
	}
	return lend(c, made)
}

func (t target) cut(ctx context.Context, point Point, o *CutOptions) (Deleted, error) {
	return deleting(ctx, t, func(c *call, count, _ *C.int64_t) C.int {
		if c.session != nil {
			return C.ses_cut(c.session, c.point(point), c.cutOptions(o), count, &c.err)
		}
		return C.ses_cut_by_key(c.store, c.name, c.point(point), c.cutOptions(o), count, &c.err)
	})
}

// Cut deletes the events after a point for good. The own state becomes that of the point.
func (s *Session) Cut(ctx context.Context, point Point, options *CutOptions) (Deleted, error) {
	return s.target().cut(ctx, point, options)
}

// Cut deletes the events of a session after a point for good.
func (s *Store) Cut(ctx context.Context, key Key, point Point, options *CutOptions) (Deleted, error) {
	return target{store: s, key: key}.cut(ctx, point, options)
}

func (t target) pop(ctx context.Context, point Point, o *CutOptions) (events []Event, more bool, err error) {
	code, err := t.do(ctx, func(c *call) C.int {
		var popped *C.ses_popped
		var code C.int
		if c.session != nil {
			code = C.ses_pop(c.session, c.point(point), c.cutOptions(o), &popped, &c.err)
		} else {
			code = C.ses_pop_by_key(c.store, c.name, c.point(point), c.cutOptions(o), &popped, &c.err)
		}
		if popped != nil {
			defer C.ses_popped_close(popped)
			for i := C.size_t(0); i < C.ses_popped_count(popped); i++ {
				events = append(events, eventOf(C.ses_popped_event(popped, i)))
			}
		}
		return code
	})
	return events, code == C.SES_MORE, err
}

// Pop deletes the events after a point, as Cut does, and returns them, oldest first. No two callers get the same event.
// With CutOptions.Secure, more says that the log could not be emptied yet.
func (s *Session) Pop(ctx context.Context, point Point, options *CutOptions) (events []Event, more bool, err error) {
	return s.target().pop(ctx, point, options)
}

// Pop deletes the events of a session after a point and returns them, oldest first.
func (s *Store) Pop(ctx context.Context, key Key, point Point, options *CutOptions) (events []Event, more bool, err error) {
	return target{store: s, key: key}.pop(ctx, point, options)
}

// ForkOptions are those of Fork.
type ForkOptions struct {
	OtherUser bool      // the new session may belong to another user
	Range     *Range    // the events that the returned session holds; nil: all
	Created   time.Time // the time of creation; zero: the store's clock
	Expires   time.Time // zero: it expires when the original does
	Never     bool      // it does not expire
}

func (t target) fork(ctx context.Context, point Point, to Key, o *ForkOptions) (*Session, error) {
	if o == nil {
		o = &ForkOptions{}
	}
	var p *C.ses_session
	_, err := t.do(ctx, func(c *call) C.int {
		options := lend(c, &C.ses_fork_options{
			size:       C.sizeof_ses_fork_options,
			flags:      flag(o.OtherUser, C.SES_FORK_OTHER_USER),
			_range:     c.rangeOf(o.Range),
			created_us: c.time(o.Created),
			timeout_ms: c.timeout,
			cancel:     c.cancel,
			expires_us: c.time(o.Expires),
		})
		if o.Never {
			never := C.int64_t(math.MaxInt64)
			options.expires_us = lend(c, &never)
		}
		var other *C.ses_key
		if to != (Key{}) {
			other = lend(c, &C.ses_key{app: c.text(to.App), user: c.text(to.User), session: c.optional(to.Session)})
		}
		if c.session != nil {
			return C.ses_fork(c.session, c.point(point), other, options, &p, &c.err)
		}
		return C.ses_fork_by_key(c.store, c.name, c.point(point), other, options, &p, &c.err)
	})
	if err != nil {
		return nil, err
	}
	return t.store.own(p), nil
}

// Fork makes a new session from the log up to a point. Without an id in the key, or without a key, the store makes one.
func (s *Session) Fork(ctx context.Context, point Point, to Key, options *ForkOptions) (*Session, error) {
	return s.target().fork(ctx, point, to, options)
}

// Fork makes a new session from the log of another up to a point.
func (s *Store) Fork(ctx context.Context, key Key, point Point, to Key, options *ForkOptions) (*Session, error) {
	return target{store: s, key: key}.fork(ctx, point, to, options)
}
