package seslite

// #include "seslite_memory.h"
import "C"

import (
	"context"
	"time"
)

// RememberOptions are those of RememberEvents and Remember.
type RememberOptions struct {
	Replace bool   // what was copied of the session before is forgotten
	Copy    bool   // also copies events that the session has, from which those given differ
	Project string // what is added belongs to it, and is found only in a search of it; "": none
}

// RecallOptions are those of Recall and Remembered.
type RecallOptions struct {
	Project      string    // also what belongs to this project
	Since        time.Time // the event's time is this or later
	Before       time.Time // it is earlier than this
	Limit        int       // hits; 0: 10; at most 10,000
	SnippetBytes int       // of the text around the words, about; 0: none
}

// RememberSession remembers the events of a session up to that number, or with 0 up to its newest. Nothing is copied, and
// the number is never lowered.
func (s *Store) RememberSession(ctx context.Context, key Key, lastSeq int64) error {
	_, err := s.do(ctx, func(c *call) C.int {
		return C.ses_memory_add_session(c.store, c.key(key), C.int64_t(lastSeq), c.options(), &c.err)
	})
	return err
}

func (c *call) rememberOptions(o *RememberOptions) *C.ses_memory_add_options {
	if o == nil {
		o = &RememberOptions{}
	}
	return lend(c, &C.ses_memory_add_options{
		size:       C.sizeof_ses_memory_add_options,
		flags:      flag(o.Replace, C.SES_MEMORY_REPLACE) | flag(o.Copy, C.SES_MEMORY_COPY),
		project:    c.optional(o.Project),
		timeout_ms: c.timeout,
		cancel:     c.cancel,
	})
}

// RememberEvents remembers events of a session, which need not be in the store, or without one as notes. It returns how
// many were not remembered before. Events in which nobody said anything are passed over.
func (s *Store) RememberEvents(ctx context.Context, key Key, events [][]byte, options *RememberOptions) (int, error) {
	var added C.size_t
	_, err := s.do(ctx, func(c *call) C.int {
		texts, count := c.texts(events)
		return C.ses_memory_add_events(c.store, c.key(key), texts, count, c.rememberOptions(options), &added, &c.err)
	})
	return int(added), err
}

// Remember remembers a text as a note of the user.
func (s *Store) Remember(ctx context.Context, key Key, text string, options *RememberOptions) error {
	_, err := s.do(ctx, func(c *call) C.int {
		bytes, length := c.bytes([]byte(text))
		return C.ses_memory_add(c.store, c.key(key), bytes, length, c.rememberOptions(options), &c.err)
	})
	return err
}

func (c *call) recallOptions(o *RecallOptions) *C.ses_memory_options {
	if o == nil {
		o = &RecallOptions{}
	}
	return lend(c, &C.ses_memory_options{
		size:          C.sizeof_ses_memory_options,
		project:       c.optional(o.Project),
		since_us:      c.time(o.Since),
		before_us:     c.time(o.Before),
		limit:         C.size_t(max(o.Limit, 0)),
		snippet_bytes: C.size_t(max(o.SnippetBytes, 0)),
		timeout_ms:    c.timeout,
		cancel:        c.cancel,
	})
}

func (s *Store) recalled(ctx context.Context, f func(c *call, hits **C.ses_hits) C.int) ([]Hit, error) {
	var made *Hits
	_, err := s.do(ctx, func(c *call) C.int {
		var hits *C.ses_hits
		code := f(c, &hits)
		if hits != nil {
			defer C.ses_hits_close(hits)
			made = hitsOf(hits)
		}
		return code
	})
	if err != nil {
		return nil, err
	}
	return made.Hits, nil
}

// Recall finds what is remembered of a user and has at least one word of a query, which may be a whole message. Events
// with most of its words come first, among these the latest. Hits have their JSON and a score.
func (s *Store) Recall(ctx context.Context, app, user, query string, options *RecallOptions) ([]Hit, error) {
	return s.recalled(ctx, func(c *call, hits **C.ses_hits) C.int {
		text, length := c.bytes([]byte(query))
		return C.ses_memory_search(c.store, c.text(app), c.text(user), text, length, c.recallOptions(options), hits, &c.err)
	})
}

// Remembered lists the latest of what is remembered of a user.
func (s *Store) Remembered(ctx context.Context, app, user string, options *RecallOptions) ([]Hit, error) {
	return s.recalled(ctx, func(c *call, hits **C.ses_hits) C.int {
		return C.ses_memory_list(c.store, c.text(app), c.text(user), c.recallOptions(options), hits, &c.err)
	})
}

// Forget forgets what is remembered of a session, of a user, or with a project only what belongs to it ("": no project is
// given). Conversations stay. The receipt, if one is asked for, says what was deleted.
func (s *Store) Forget(ctx context.Context, key Key, project string, options *DeleteOptions) (more bool, err error) {
	code, err := s.do(ctx, func(c *call) C.int {
		return C.ses_memory_forget(c.store, c.key(key), c.optional(project), c.deleteOptions(options), &c.err)
	})
	return code == C.SES_MORE, err
}

// ForgetEvents forgets single events of what is remembered, by their numbers in a session, as hits have them.
func (s *Store) ForgetEvents(ctx context.Context, key Key, seqs []int64) error {
	_, err := s.do(ctx, func(c *call) C.int {
		numbers, count := c.seqs(seqs)
		return C.ses_memory_forget_events(c.store, c.key(key), numbers, count, c.options(), &c.err)
	})
	return err
}
