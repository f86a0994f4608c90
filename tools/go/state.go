package seslite

// #include "seslite.h"
import "C"

import (
	"context"
	"encoding/json"
	"iter"
)

// State returns the merged state of all scopes as one JSON object, with the temp: values of the invocation.
func (s *Session) State() (json.RawMessage, error) {
	var state json.RawMessage
	_, err := s.ask(func(c *call, p *C.ses_session) C.int {
		var text *C.char
		var length C.size_t
		code := C.ses_state_json(p, &text, &length, &c.err)
		state = borrowed(text, length)
		return code
	})
	return state, err
}

// Value returns a value of the state, or nil if it has no such key.
func (s *Session) Value(name string) (json.RawMessage, error) {
	var value json.RawMessage
	_, err := s.ask(func(c *call, p *C.ses_session) C.int {
		var text *C.char
		var length C.size_t
		code := C.ses_state_get(p, c.text(name), &text, &length, &c.err)
		value = borrowed(text, length)
		return code
	})
	return value, err
}

// valueAs runs a getter, and reports whether the state has the key.
func (s *Session) valueAs(f func(c *call, p *C.ses_session) C.int) (bool, error) {
	code, err := s.ask(f)
	return err == nil && code != C.SES_ABSENT, err
}

// String returns a value that is a string. ErrType: it is another kind of value.
func (s *Session) StringValue(name string) (value string, found bool, err error) {
	found, err = s.valueAs(func(c *call, p *C.ses_session) C.int {
		var text *C.char
		var length C.size_t
		code := C.ses_state_get_string(p, c.text(name), &text, &length, &c.err)
		value = string(borrowed(text, length))
		return code
	})
	return value, found, err
}

// Int returns a value that is an integer, exactly. ErrRange: it does not fit.
func (s *Session) IntValue(name string) (int64, bool, error) {
	var value C.int64_t
	found, err := s.valueAs(func(c *call, p *C.ses_session) C.int {
		return C.ses_state_get_int64(p, c.text(name), &value, &c.err)
	})
	return int64(value), found, err
}

// Float returns a value that is a number, as the nearest float64.
func (s *Session) FloatValue(name string) (float64, bool, error) {
	var value C.double
	found, err := s.valueAs(func(c *call, p *C.ses_session) C.int {
		return C.ses_state_get_double(p, c.text(name), &value, &c.err)
	})
	return float64(value), found, err
}

// Bool returns a value that is a boolean.
func (s *Session) BoolValue(name string) (value, found bool, err error) {
	var number C.int
	found, err = s.valueAs(func(c *call, p *C.ses_session) C.int {
		return C.ses_state_get_bool(p, c.text(name), &number, &c.err)
	})
	return number != 0, found, err
}

// KeyCount returns the number of keys of the state.
func (s *Session) KeyCount() (count int) {
	s.read(func(p *C.ses_session) { count = int(C.ses_state_count(p)) })
	return count
}

// Values yields the keys and values of the state in the order of State. After an error it stops; State returns it.
func (s *Session) Values() iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		for i := C.size_t(0); ; i++ {
			var name string
			var value json.RawMessage
			_, err := s.ask(func(c *call, p *C.ses_session) C.int {
				var key, text *C.char
				var length C.size_t
				code := C.ses_state_at(p, i, &key, &text, &length, &c.err)
				name, value = C.GoString(key), borrowed(text, length)
				return code
			})
			if err != nil || !yield(name, value) {
				return
			}
		}
	}
}

// State returns the stored state of a session, without reading the session.
func (s *Store) State(ctx context.Context, key Key) (json.RawMessage, error) {
	var text owned
	_, err := s.do(ctx, func(c *call) C.int {
		return C.ses_state_json_by_key(c.store, c.key(key), c.options(), &text.text, &text.len, &c.err)
	})
	return text.take(), err
}

// Value returns a value of the stored state of a session, or nil if it has no such key.
func (s *Store) Value(ctx context.Context, key Key, name string) (json.RawMessage, error) {
	var text owned
	_, err := s.do(ctx, func(c *call) C.int {
		return C.ses_state_get_by_key(c.store, c.key(key), c.text(name), c.options(), &text.text, &text.len, &c.err)
	})
	return text.take(), err
}

// SharedState returns the shared state of a user, or of the app if user is "". Its keys have no prefix.
func (s *Store) SharedState(ctx context.Context, app, user string) (json.RawMessage, error) {
	var text owned
	_, err := s.do(ctx, func(c *call) C.int {
		return C.ses_shared_state_json(c.store, c.text(app), c.optional(user), c.options(), &text.text, &text.len, &c.err)
	})
	return text.take(), err
}

// SharedValue returns a value of shared state, or nil if there is no such key.
func (s *Store) SharedValue(ctx context.Context, app, user, name string) (json.RawMessage, error) {
	var text owned
	_, err := s.do(ctx, func(c *call) C.int {
		return C.ses_shared_state_get(c.store, c.text(app), c.optional(user), c.text(name), c.options(), &text.text,
			&text.len, &c.err)
	})
	return text.take(), err
}

// ChangeSharedState changes shared state in one transaction. Each member of delta, a JSON object, replaces a value, and
// Removed removes one. ErrStale: a key is not as expected says, a JSON object or nil.
func (s *Store) ChangeSharedState(ctx context.Context, app, user string, delta, expected []byte) error {
	_, err := s.do(ctx, func(c *call) C.int {
		options := &C.ses_shared_state_options{
			size:       C.sizeof_ses_shared_state_options,
			timeout_ms: c.timeout,
			cancel:     c.cancel,
		}
		options.expected, options.expected_len = c.bytes(expected)
		text, length := c.bytes(delta)
		return C.ses_shared_state_change(c.store, c.text(app), c.optional(user), text, length, lend(c, options), &c.err)
	})
	return err
}
