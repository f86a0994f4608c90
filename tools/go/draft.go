package seslite

// #include "seslite_draft.h"
import "C"

import (
	"context"
	"time"
)

// A Draft is a text beside the log of a session that is replaced in place, such as a message that a model is writing.
type Draft struct {
	Body    string
	Updated time.Time // when it was set, by the store's clock
}

func (c *call) draftOptions(lease int64) *C.ses_draft_options {
	return lend(c, &C.ses_draft_options{
		size:       C.sizeof_ses_draft_options,
		lease:      C.int64_t(lease),
		timeout_ms: c.timeout,
		cancel:     c.cancel,
	})
}

// SetDraft sets the draft of a session in place of the one that it has. With the token of a lease, it is ErrLeased once
// another owner has taken the lease; 0: none. An append with TakesDraft removes the draft.
func (s *Store) SetDraft(ctx context.Context, key Key, body string, lease int64) error {
	_, err := s.do(ctx, func(c *call) C.int {
		text, length := c.bytes([]byte(body))
		return C.ses_draft_set(c.store, c.key(key), text, length, c.draftOptions(lease), &c.err)
	})
	return err
}

// Draft returns the draft of a session, or nil if it has none.
func (s *Store) Draft(ctx context.Context, key Key) (*Draft, error) {
	var text owned
	var updated C.int64_t
	_, err := s.do(ctx, func(c *call) C.int {
		return C.ses_draft_get(c.store, c.key(key), c.options(), &text.text, &text.len, &updated, &c.err)
	})
	if err != nil || text.text == nil {
		return nil, err
	}
	return &Draft{string(text.take()), timeOf(updated)}, nil
}

// ClearDraft removes the draft of a session. False: it had none.
func (s *Store) ClearDraft(ctx context.Context, key Key, lease int64) (bool, error) {
	code, err := s.do(ctx, func(c *call) C.int {
		return C.ses_draft_clear(c.store, c.key(key), c.draftOptions(lease), &c.err)
	})
	return code == C.SES_OK, err
}
