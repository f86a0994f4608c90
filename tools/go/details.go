package seslite

// #include "seslite.h"
import "C"

import (
	"context"
	"time"
)

func (t target) setTitle(ctx context.Context, title string) error {
	_, err := t.do(ctx, func(c *call) C.int {
		if c.session != nil {
			return C.ses_title_set(c.session, c.optional(title), c.options(), &c.err)
		}
		return C.ses_title_set_by_key(c.store, c.name, c.optional(title), c.options(), &c.err)
	})
	return err
}

// SetTitle sets the title; "" removes it.
func (s *Session) SetTitle(ctx context.Context, title string) error {
	return s.target().setTitle(ctx, title)
}

// SetTitle sets the title of a session; "" removes it.
func (s *Store) SetTitle(ctx context.Context, key Key, title string) error {
	return target{store: s, key: key}.setTitle(ctx, title)
}

func (t target) setLabels(ctx context.Context, set map[string]string, remove []string) error {
	_, err := t.do(ctx, func(c *call) C.int {
		labels, count := c.labels(set, remove)
		if labels == nil { // the library wants a pointer also for none
			labels = lend(c, &C.ses_label{})
		}
		if c.session != nil {
			return C.ses_labels_set(c.session, labels, count, c.options(), &c.err)
		}
		return C.ses_labels_set_by_key(c.store, c.name, labels, count, c.options(), &c.err)
	})
	return err
}

// SetLabels sets labels and removes others. The rest stay.
func (s *Session) SetLabels(ctx context.Context, set map[string]string, remove ...string) error {
	return s.target().setLabels(ctx, set, remove)
}

// SetLabels sets labels of a session and removes others. The rest stay.
func (s *Store) SetLabels(ctx context.Context, key Key, set map[string]string, remove ...string) error {
	return target{store: s, key: key}.setLabels(ctx, set, remove)
}

func (t target) setExpiry(ctx context.Context, expires time.Time) error {
	_, err := t.do(ctx, func(c *call) C.int {
		if c.session != nil {
			return C.ses_expiry_set(c.session, c.time(expires), c.options(), &c.err)
		}
		return C.ses_expiry_set_by_key(c.store, c.name, c.time(expires), c.options(), &c.err)
	})
	return err
}

// SetExpiry sets when Expire may remove the session; zero: never.
func (s *Session) SetExpiry(ctx context.Context, expires time.Time) error {
	return s.target().setExpiry(ctx, expires)
}

// SetExpiry sets when Expire may remove a session; zero: never.
func (s *Store) SetExpiry(ctx context.Context, key Key, expires time.Time) error {
	return target{store: s, key: key}.setExpiry(ctx, expires)
}

func (t target) setArchived(ctx context.Context, archived bool) error {
	_, err := t.do(ctx, func(c *call) C.int {
		if c.session != nil {
			return C.ses_archive_set(c.session, C.int(flag(archived, 1)), c.options(), &c.err)
		}
		return C.ses_archive_set_by_key(c.store, c.name, C.int(flag(archived, 1)), c.options(), &c.err)
	})
	return err
}

// SetArchived puts the session into the archive, or takes it out of there. It keeps the time of the first time.
func (s *Session) SetArchived(ctx context.Context, archived bool) error {
	return s.target().setArchived(ctx, archived)
}

// SetArchived puts a session into the archive, or takes it out of there.
func (s *Store) SetArchived(ctx context.Context, key Key, archived bool) error {
	return target{store: s, key: key}.setArchived(ctx, archived)
}
