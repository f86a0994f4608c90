package seslite

// #include "seslite.h"
import "C"

import (
	"context"
	"time"
)

// CreateOptions are those of Create and GetOrCreate, which uses none but Range if the session exists.
type CreateOptions struct {
	Range   *Range    // GetOrCreate: the events to read of an existing session; nil: all
	Created time.Time // for imports; zero: the store's clock
	Expires time.Time // when the session may be removed; zero: never
	Title   string
	Labels  map[string]string
	ChildOf *Key // the session that the new one is a child of, such as that of a sub-agent; nil: none
}

func (c *call) createOptions(o *CreateOptions) *C.ses_create_options {
	if o == nil {
		o = &CreateOptions{}
	}
	labels, count := c.labels(o.Labels, nil)
	return lend(c, &C.ses_create_options{
		size:        C.sizeof_ses_create_options,
		_range:      c.rangeOf(o.Range),
		created_us:  c.time(o.Created),
		expires_us:  c.time(o.Expires),
		title:       c.optional(o.Title),
		labels:      labels,
		label_count: count,
		timeout_ms:  c.timeout,
		cancel:      c.cancel,
		child_of:    c.link(o.ChildOf),
	})
}

// link lends a key of the session's app, whose App may be empty.
func (c *call) link(key *Key) *C.ses_key {
	if key == nil {
		return nil
	}
	return lend(c, &C.ses_key{app: c.optional(key.App), user: c.text(key.User), session: c.text(key.Session)})
}

// Create creates a session with an initial state, a JSON object; nil is empty. Without an id in the key the store makes
// one. An existing session is ErrExists, and nothing has changed then, not even shared state.
func (s *Store) Create(ctx context.Context, key Key, state []byte, options *CreateOptions) (*Session, error) {
	var p *C.ses_session
	_, err := s.do(ctx, func(c *call) C.int {
		text, length := c.bytes(state)
		return C.ses_create(c.store, c.key(key), text, length, c.createOptions(options), &p, &c.err)
	})
	if err != nil {
		return nil, err
	}
	return s.own(p), nil
}

// GetOrCreate reads a session, or creates it with the state if it does not exist, which created says.
func (s *Store) GetOrCreate(ctx context.Context, key Key, state []byte, options *CreateOptions) (session *Session, created bool, err error) {
	var p *C.ses_session
	code, err := s.do(ctx, func(c *call) C.int {
		text, length := c.bytes(state)
		return C.ses_get_or_create(c.store, c.key(key), text, length, c.createOptions(options), &p, &c.err)
	})
	if err != nil {
		return nil, false, err
	}
	return s.own(p), code != C.SES_EXISTING, nil
}

// Get reads a session with the events of the range; nil: all. State and events belong to the same moment.
func (s *Store) Get(ctx context.Context, key Key, events *Range) (*Session, error) {
	var p *C.ses_session
	_, err := s.do(ctx, func(c *call) C.int {
		options := lend(c, &C.ses_get_options{
			size:       C.sizeof_ses_get_options,
			_range:     c.rangeOf(events),
			timeout_ms: c.timeout,
			cancel:     c.cancel,
		})
		return C.ses_get(c.store, c.key(key), options, &p, &c.err)
	})
	if err != nil {
		return nil, err
	}
	return s.own(p), nil
}

// Refresh brings the session up to date with other writers. It reads only what the session lacks.
func (s *Session) Refresh(ctx context.Context) error {
	_, err := s.target().do(ctx, func(c *call) C.int { return C.ses_refresh(c.session, c.options(), &c.err) })
	return err
}
