package seslite

// #include "seslite.h"
import "C"

import (
	"context"
	"time"
)

// DeleteOptions are those of calls that delete.
type DeleteOptions struct {
	Secure bool // overwrites the deleted data, and empties the write-ahead log
	Limit  int  // DeleteApp: sessions per call; 0: 100
	// Delete: also the session's children, and theirs.
	Children bool
	// Erased becomes the receipt, which takes time: forks are looked for. nil: none.
	Erased *Erased
}

func (c *call) deleteOptions(o *DeleteOptions) *C.ses_delete_options {
	if o == nil {
		o = &DeleteOptions{}
	}
	return lend(c, &C.ses_delete_options{
		size:       C.sizeof_ses_delete_options,
		flags:      flag(o.Secure, C.SES_SECURE) | flag(o.Children, C.SES_DELETE_CHILDREN),
		limit:      C.int64_t(o.Limit),
		timeout_ms: c.timeout,
		cancel:     c.cancel,
		erased:     c.receipt(o.Erased),
	})
}

// Deleted says what a call has deleted.
type Deleted struct {
	Count     int64 // sessions, events or versions, as the call says
	StateKeys int64 // DeleteUser: keys of the user
	More      bool  // call again: there is more to delete, or the log could not be emptied yet
}

// A doer is what a call is made on: a store, or one session of it.
type doer interface {
	do(ctx context.Context, f func(c *call) C.int) (int, error)
}

// deleting runs a call that deletes.
func deleting(ctx context.Context, on doer, f func(c *call, count, keys *C.int64_t) C.int) (Deleted, error) {
	var count, keys C.int64_t
	code, err := on.do(ctx, func(c *call) C.int { return f(c, &count, &keys) })
	return Deleted{int64(count), int64(keys), code == C.SES_MORE}, err
}

// Delete deletes a session with its events and its state. That there is none is not an error.
func (s *Store) Delete(ctx context.Context, key Key, options *DeleteOptions) (Deleted, error) {
	return deleting(ctx, target{store: s, key: key}, func(c *call, count, _ *C.int64_t) C.int {
		return C.ses_delete(c.store, c.name, c.deleteOptions(options), count, &c.err)
	})
}

// DeleteUser deletes all sessions of a user and the user's state, in one transaction.
func (s *Store) DeleteUser(ctx context.Context, app, user string, options *DeleteOptions) (Deleted, error) {
	return deleting(ctx, s, func(c *call, count, keys *C.int64_t) C.int {
		return C.ses_delete_user(c.store, c.text(app), c.text(user), c.deleteOptions(options), count, keys, &c.err)
	})
}

// DeleteApp deletes everything of an app, in steps. Call it until Deleted.More is false.
func (s *Store) DeleteApp(ctx context.Context, app string, options *DeleteOptions) (Deleted, error) {
	return deleting(ctx, s, func(c *call, count, _ *C.int64_t) C.int {
		return C.ses_delete_app(c.store, c.text(app), c.deleteOptions(options), count, &c.err)
	})
}

// PruneOptions select the events to prune: the longest first part of the log that meets all that are set.
type PruneOptions struct {
	Keep      *int64    // all but the newest so many; nil: not set
	Before    time.Time // those before the first one whose time is this or later; zero: not set
	LastSeq   int64     // those up to this number; 0: not set
	Compacted bool      // only those that a live compaction covers, or that rewinds have taken back
	Secure    bool      // overwrites what is deleted
	Limit     int       // events per transaction; 0: 10,000
	// Erased becomes the receipt, which takes time: forks are looked for. nil: none.
	Erased *Erased
}

func (c *call) pruneOptions(o *PruneOptions) *C.ses_prune_options {
	if o == nil {
		o = &PruneOptions{}
	}
	made := &C.ses_prune_options{
		size: C.sizeof_ses_prune_options,
		which: flag(o.Keep != nil, C.SES_PRUNE_KEEP) | flag(!o.Before.IsZero(), C.SES_PRUNE_BEFORE) |
			flag(o.LastSeq != 0, C.SES_PRUNE_SEQ) | flag(o.Compacted, C.SES_PRUNE_COMPACTED),
		flags:      flag(o.Secure, C.SES_SECURE),
		last_seq:   C.int64_t(o.LastSeq),
		limit:      C.int64_t(o.Limit),
		timeout_ms: c.timeout,
		cancel:     c.cancel,
		erased:     c.receipt(o.Erased),
	}
	if o.Keep != nil {
		made.keep = C.int64_t(*o.Keep)
	}
	if !o.Before.IsZero() {
		made.before_us = C.int64_t(o.Before.UnixMicro())
	}
	return lend(c, made)
}

func (t target) prune(ctx context.Context, o *PruneOptions) (Deleted, error) {
	return deleting(ctx, t, func(c *call, count, _ *C.int64_t) C.int {
		if c.session != nil {
			return C.ses_prune(c.session, c.pruneOptions(o), count, &c.err)
		}
		return C.ses_prune_by_key(c.store, c.name, c.pruneOptions(o), count, &c.err)
	})
}

// Prune deletes the oldest events that the session knows. The state stays exact.
func (s *Session) Prune(ctx context.Context, options *PruneOptions) (Deleted, error) {
	return s.target().prune(ctx, options)
}

// Prune deletes the oldest events of a session. The state stays exact.
func (s *Store) Prune(ctx context.Context, key Key, options *PruneOptions) (Deleted, error) {
	return target{store: s, key: key}.prune(ctx, options)
}

// ExpireOptions select sessions in addition to those whose expiry time has come.
type ExpireOptions struct {
	App             string        // only in this app; "": in all
	Now             time.Time     // the caller's clock; zero: the store's
	Idle            time.Duration // also sessions last written to longer ago than this; 0: none
	MemoryIdle      time.Duration // also memory last written to longer ago than this, which Idle leaves alone; 0: none
	SessionsPerUser int           // also a user's least recently updated sessions beyond this number; 0: none
	ByChange        bool          // SessionsPerUser keeps those that were last written to, by the store's clock
	Limit           int           // sessions per call; 0: 100
	DryRun          bool          // deletes nothing: Deleted.Count is how many all calls would delete
	Secure          bool          // overwrites what is deleted
	// Erased becomes the receipt; forks are not looked for. nil: none.
	Erased *Erased
}

// Expire deletes sessions whose time has come. Call it until Deleted.More is false.
func (s *Store) Expire(ctx context.Context, options *ExpireOptions) (Deleted, error) {
	o := options
	if o == nil {
		o = &ExpireOptions{}
	}
	return deleting(ctx, s, func(c *call, count, _ *C.int64_t) C.int {
		return C.ses_store_expire(c.store, c.optional(o.App), lend(c, &C.ses_expire_options{
			size:              C.sizeof_ses_expire_options,
			flags:             flag(o.DryRun, C.SES_EXPIRE_DRY_RUN) | flag(o.Secure, C.SES_SECURE) | flag(o.ByChange, C.SES_EXPIRE_CHANGED),
			now_us:            c.time(o.Now),
			idle_us:           C.int64_t(o.Idle.Microseconds()),
			memory_us:         C.int64_t(o.MemoryIdle.Microseconds()),
			sessions_per_user: C.int64_t(o.SessionsPerUser),
			limit:             C.int64_t(o.Limit),
			timeout_ms:        c.timeout,
			cancel:            c.cancel,
			erased:            c.receipt(o.Erased),
		}), count, &c.err)
	})
}

// Maintain gives up to limit free pages back to the file system (0: 10,000), empties the write-ahead log, and refreshes
// the statistics of SQLite's planner. It returns whether there is more to do.
func (s *Store) Maintain(ctx context.Context, limit int) (more bool, err error) {
	code, err := s.do(ctx, func(c *call) C.int {
		return C.ses_store_maintain(c.store, lend(c, &C.ses_maintain_options{
			size:       C.sizeof_ses_maintain_options,
			limit:      C.int64_t(limit),
			timeout_ms: c.timeout,
			cancel:     c.cancel,
		}), &c.err)
	})
	return code == C.SES_MORE, err
}

// Space returns the size of the stored data, and how much of that is free.
func (s *Store) Space(ctx context.Context) (bytes, free int64, err error) {
	space := C.ses_space{size: C.sizeof_ses_space}
	_, err = s.do(ctx, func(c *call) C.int { return C.ses_store_space(c.store, c.options(), &space, &c.err) })
	return int64(space.bytes), int64(space.free_bytes), err
}
