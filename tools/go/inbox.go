package seslite

// #include "seslite_inbox.h"
import "C"

import (
	"context"
	"time"
)

// An Input waits in the inbox of a session until a worker takes it, and answers it with AppendOptions.Answers.
type Input struct {
	Key     Key
	Request string
	Body    []byte    // JSON
	Added   time.Time // when it was added, by the store's clock
	Place   int64     // in the order of all inputs of the store
}

// InputOptions are those of AddInput.
type InputOptions struct {
	Create     bool // the session is created, without state, if there is none
	MaxWaiting int  // how many inputs may wait in the session; 0: 1000
}

func inputsOf(p *C.ses_inputs) []Input {
	var made []Input
	for i := C.size_t(0); i < C.ses_inputs_count(p); i++ {
		f := C.ses_inputs_at(p, i)
		made = append(made, Input{
			Key:     Key{C.GoString(f.app), C.GoString(f.user), C.GoString(f.session)},
			Request: C.GoString(f.request),
			Body:    []byte(string(borrowed(f.body, f.body_len))),
			Added:   timeOf(f.added_us),
			Place:   int64(f.place),
		})
	}
	return made
}

// AddInput adds an input, any JSON, to the inbox of a session, under the id of its request. False: it waits already, or
// the session has an event with that id.
func (s *Store) AddInput(ctx context.Context, key Key, request string, body []byte, options *InputOptions) (bool, error) {
	if options == nil {
		options = &InputOptions{}
	}
	code, err := s.do(ctx, func(c *call) C.int {
		text, length := c.bytes(body)
		return C.ses_inbox_add(c.store, c.key(key), c.text(request), text, length, lend(c, &C.ses_inbox_add_options{
			size:        C.sizeof_ses_inbox_add_options,
			flags:       flag(options.Create, C.SES_INBOX_CREATES),
			max_waiting: C.int64_t(options.MaxWaiting),
			timeout_ms:  c.timeout,
			cancel:      c.cancel,
		}), &c.err)
	})
	return code == C.SES_OK, err
}

// inputs calls f with the scope, or NULL for the whole store, and takes the page that it makes.
func (s *Store) inputs(ctx context.Context, scope Key, f func(c *call, key *C.ses_key, page **C.ses_inputs) C.int) ([]Input, error) {
	var made []Input
	_, err := s.do(ctx, func(c *call) C.int {
		var page *C.ses_inputs
		var key *C.ses_key
		if scope != (Key{}) {
			key = c.scope(scope)
		}
		code := f(c, key, &page)
		if page != nil {
			defer C.ses_inputs_close(page)
			made = inputsOf(page)
		}
		return code
	})
	return made, err
}

// TakeInput takes the oldest input that waits in a session, a user or an app, as the key says, or the whole store, if
// the key is empty, together with the lease of its session. It waits for one for as long as wait says; negative: without
// limit. Without an input, both are nil.
func (s *Store) TakeInput(ctx context.Context, scope Key, owner string, duration, wait time.Duration) (*Input, *Lease, error) {
	var taken C.ses_lease
	inputs, err := s.inputs(ctx, scope, func(c *call, key *C.ses_key, page **C.ses_inputs) C.int {
		options := lend(c, &C.ses_inbox_take_options{
			size:        C.sizeof_ses_inbox_take_options,
			duration_us: C.int64_t(duration.Microseconds()),
			wait_ms:     signed(wait),
			timeout_ms:  c.timeout,
			cancel:      c.cancel,
		})
		return C.ses_inbox_take(c.store, key, c.text(owner), options, page, &taken, &c.err)
	})
	if err != nil || len(inputs) == 0 {
		return nil, nil, err
	}
	return &inputs[0], &Lease{int64(taken.token), timeOf(taken.until_us), s, inputs[0].Key}, nil
}

// Inputs returns the inputs that wait, the oldest first: of the sessions that TakeInput chooses from, up to limit (0:
// 100), after the place of the last one of the page before.
func (s *Store) Inputs(ctx context.Context, scope Key, after int64, limit int) ([]Input, error) {
	return s.inputs(ctx, scope, func(c *call, key *C.ses_key, page **C.ses_inputs) C.int {
		options := lend(c, &C.ses_inbox_list_options{
			size:       C.sizeof_ses_inbox_list_options,
			limit:      C.size_t(max(limit, 0)),
			after:      C.int64_t(after),
			timeout_ms: c.timeout,
			cancel:     c.cancel,
		})
		return C.ses_inbox_list(c.store, key, options, page, &c.err)
	})
}

// RemoveInput removes an input that nobody is to answer. False: it was not there.
func (s *Store) RemoveInput(ctx context.Context, key Key, request string) (bool, error) {
	code, err := s.do(ctx, func(c *call) C.int {
		return C.ses_inbox_remove(c.store, c.key(key), c.text(request), c.options(), &c.err)
	})
	return code == C.SES_OK, err
}
