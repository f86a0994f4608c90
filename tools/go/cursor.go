package seslite

// #include "seslite.h"
import "C"

import (
	"context"
	"encoding/json"
	"iter"
)

// WalkOptions are those of Events.
type WalkOptions struct {
	Range    *Range // the events to walk; nil: all
	Backward bool   // newest first
}

// Events yields the stored events of a session that existed when the walk began, in constant memory however long the log
// is. The context limits the whole walk. An error ends it: ErrNotFound if the session is deleted meanwhile, ErrStale if
// events are cut.
func (s *Store) Events(ctx context.Context, key Key, options *WalkOptions) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if err := s.walk(ctx, key, options, func(e Event) bool { return yield(e, nil) }); err != nil {
			yield(Event{}, err)
		}
	}
}

// walk opens a cursor with a handle of its own that ends its calls, since a cursor keeps that for as long as it lives.
func (s *Store) walk(ctx context.Context, key Key, o *WalkOptions, yield func(Event) bool) error {
	if o == nil {
		o = &WalkOptions{}
	}
	handle, err := s.lasting()
	if err != nil {
		return err
	}
	defer C.ses_cancel_close(handle)
	var cursor *C.ses_cursor
	_, err = s.doWith(ctx, handle, func(c *call) C.int {
		options := &C.ses_cursor_options{
			size:   C.sizeof_ses_cursor_options,
			flags:  flag(o.Backward, C.SES_CURSOR_BACKWARD),
			_range: c.rangeOf(o.Range),
			cancel: handle,
		}
		return C.ses_cursor_open(c.store, c.key(key), lend(c, options), &cursor, &c.err)
	})
	if err != nil {
		return err
	}
	defer func() { C.ses_cursor_close(cursor, nil) }()
	for {
		event, more, err := s.step(ctx, handle, cursor)
		if err != nil || !more || !yield(event) {
			return err
		}
	}
}

// lasting makes a handle that ends calls, for an object that keeps it.
func (s *Store) lasting() (*C.ses_cancel, error) {
	if s == nil {
		return nil, failure(ErrMisuse, "the store is nil")
	}
	if !s.enter() {
		return nil, closed("store")
	}
	defer s.leave()
	return s.newCancel()
}

func (s *Store) step(ctx context.Context, handle *C.ses_cancel, cursor *C.ses_cursor) (event Event, more bool, err error) {
	code, err := s.doWith(ctx, handle, func(c *call) C.int {
		var e *C.ses_event
		code := C.ses_cursor_next(cursor, &e, &c.err)
		if e != nil {
			event = eventOf(e)
		}
		return code
	})
	return event, code == C.SES_ROW, err
}

// A StoredEvent is what EventByID finds.
type StoredEvent struct {
	Seq  int64
	JSON json.RawMessage
}

// EventByID reads the stored event of that id, or nil if there is none. An index finds it, however long the log is.
func (s *Store) EventByID(ctx context.Context, key Key, id string) (*StoredEvent, error) {
	var text owned
	var seq C.int64_t
	code, err := s.do(ctx, func(c *call) C.int {
		return C.ses_event_get_by_key(c.store, c.key(key), c.text(id), c.options(), &seq, &text.text, &text.len, &c.err)
	})
	if err != nil || code == C.SES_ABSENT {
		return nil, err
	}
	return &StoredEvent{int64(seq), text.take()}, nil
}

// EventCount reads how many events of a session are stored, and its version.
func (s *Store) EventCount(ctx context.Context, key Key) (count, version int64, err error) {
	var n, v C.int64_t
	_, err = s.do(ctx, func(c *call) C.int {
		return C.ses_event_count_by_key(c.store, c.key(key), c.options(), &n, &v, &c.err)
	})
	return int64(n), int64(v), err
}
