package seslite

// #include "seslite.h"
import "C"

import (
	"context"
	"iter"
	"runtime"
	"sync"
	"time"
)

// LeaseOptions are those of TakeLease.
type LeaseOptions struct {
	Duration time.Duration // how long the lease holds unless it is renewed; 0: 60 seconds
	Wait     time.Duration // how long to wait for other owners; 0: the busy timeout; negative: not at all
}

// A Lease makes the turns of a session run one at a time. It runs out by itself, so turns go on if a worker dies.
type Lease struct {
	Token int64     // for AppendOptions
	Until time.Time // the lease holds until then, by the store's clock
	store *Store
	key   Key
}

func (c *call) leaseOptions(o *LeaseOptions) *C.ses_lease_options {
	if o == nil {
		o = &LeaseOptions{}
	}
	return lend(c, &C.ses_lease_options{
		size:        C.sizeof_ses_lease_options,
		duration_us: C.int64_t(o.Duration.Microseconds()),
		wait_ms:     signed(o.Wait),
		timeout_ms:  c.timeout,
		cancel:      c.cancel,
	})
}

// TakeLease takes the lease of a session for an owner, and waits while another owner has it. ErrBusy: another still has it.
// Equal names are the same owner, so make a name for each turn.
func (s *Store) TakeLease(ctx context.Context, key Key, owner string, options *LeaseOptions) (*Lease, error) {
	var taken C.ses_lease
	_, err := s.do(ctx, func(c *call) C.int {
		return C.ses_lease_take(c.store, c.key(key), c.text(owner), c.leaseOptions(options), &taken, &c.err)
	})
	if err != nil {
		return nil, err
	}
	return &Lease{int64(taken.token), timeOf(taken.until_us), s, key}, nil
}

// Renew lets the lease hold for the duration from now on; 0: 60 seconds. ErrLeased: another owner has taken it.
func (l *Lease) Renew(ctx context.Context, duration time.Duration) error {
	var renewed C.ses_lease
	_, err := l.store.do(ctx, func(c *call) C.int {
		return C.ses_lease_renew(c.store, c.key(l.key), C.int64_t(l.Token), c.leaseOptions(&LeaseOptions{Duration: duration}),
			&renewed, &c.err)
	})
	if err == nil {
		l.Until = timeOf(renewed.until_us)
	}
	return err
}

// Release gives the lease back; the next waiter takes it.
func (l *Lease) Release(ctx context.Context) error {
	_, err := l.store.do(ctx, func(c *call) C.int {
		return C.ses_lease_release(c.store, c.key(l.key), C.int64_t(l.Token), c.options(), &c.err)
	})
	return err
}

// FollowOptions say where a follower begins: with the first event, unless one of them is set.
type FollowOptions struct {
	New   bool   // only events that are appended after the follower was opened
	After int64  // after the event with this number, for one session
	Place string // after this place (Follower.Place, Session.Place)
}

// A Follower returns the events of a session, or of all sessions of a user, an app or the store, as any process appends
// them. Each event comes once, in order within its session, and never before its commit.
type Follower struct {
	store   *Store
	mu      sync.Mutex
	p       *C.ses_follower
	cancel  *C.ses_cancel
	closing chan struct{}
	once    sync.Once
	cleanup runtime.Cleanup
}

type followerHandles struct {
	p      *C.ses_follower
	cancel *C.ses_cancel
}

func (h followerHandles) free() {
	C.ses_follower_close(h.p)
	C.ses_cancel_close(h.cancel)
}

// Follow opens a follower of a session, which must exist, or without an id in the key of all sessions of the user.
func (s *Store) Follow(ctx context.Context, key Key, options *FollowOptions) (*Follower, error) {
	o := options
	if o == nil {
		o = &FollowOptions{}
	}
	return s.follow(ctx, func(c *call) *C.ses_key { return c.key(key) }, o)
}

// FollowAll opens a follower of the new events of all sessions of an app, or with "" of the store. It has no place.
func (s *Store) FollowAll(ctx context.Context, app string) (*Follower, error) {
	return s.follow(ctx, func(c *call) *C.ses_key { return c.scope(Key{App: app}) }, &FollowOptions{New: true})
}

func (s *Store) follow(ctx context.Context, key func(*call) *C.ses_key, o *FollowOptions) (*Follower, error) {
	handle, err := s.lasting()
	if err != nil {
		return nil, err
	}
	var p *C.ses_follower
	_, err = s.doWith(ctx, handle, func(c *call) C.int {
		return C.ses_follower_open(c.store, key(c), lend(c, &C.ses_follow_options{
			size:      C.sizeof_ses_follow_options,
			flags:     flag(o.New, C.SES_FOLLOW_NEW),
			after_seq: C.int64_t(o.After),
			place:     c.optional(o.Place),
			cancel:    handle, // which ends each call of it, so the deadline of this one is no limit for those
		}), &p, &c.err)
	})
	if err != nil {
		C.ses_cancel_close(handle)
		return nil, err
	}
	f := &Follower{store: s, p: p, cancel: handle, closing: make(chan struct{})}
	f.cleanup = runtime.AddCleanup(f, followerHandles.free, followerHandles{p, handle})
	return f, nil
}

// A Change is what a follower returns.
type Change struct {
	Session string // the id of the session
	Key     Key    // its names; without an id after a reset of an app or the store, of which sessions were deleted
	Event   Event
	Reset   bool   // events of the session are gone, or are not to be had: read it again. There is no event.
	Place   string // the place after this change, for FollowOptions
}

// Next waits for the next change until the context is done. After Close it returns ErrMisuse.
func (f *Follower) Next(ctx context.Context) (*Change, error) {
	for {
		change, err := f.wait(ctx, -1)
		if change != nil || err != nil {
			return change, err
		}
	}
}

// Poll returns the next change if there is one, and otherwise nil.
func (f *Follower) Poll(ctx context.Context) (*Change, error) { return f.wait(ctx, 0) }

func (f *Follower) wait(ctx context.Context, timeout C.int64_t) (*Change, error) {
	if f == nil {
		return nil, failure(ErrMisuse, "the follower is nil")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.isClosing() {
		return nil, closed("follower")
	}
	var change *Change
	_, err := f.store.doWith(ctx, f.cancel, func(c *call) C.int {
		var e *C.ses_event
		code := C.ses_follower_next(f.p, timeout, &e, &c.err)
		if code != C.SES_ROW && code != C.SES_RESET {
			return code
		}
		key := C.ses_follower_key(f.p)
		change = &Change{
			Session: C.GoString(C.ses_follower_session(f.p)),
			Key:     Key{C.GoString(key.app), C.GoString(key.user), C.GoString(key.session)},
			Reset:   code == C.SES_RESET,
			Place:   C.GoString(C.ses_follower_place(f.p)),
		}
		if e != nil {
			change.Event = eventOf(e)
		}
		return code
	})
	if err != nil && f.isClosing() {
		return nil, closed("follower")
	}
	return change, err
}

func (f *Follower) isClosing() bool {
	select {
	case <-f.closing:
		return true
	default:
		return false
	}
}

// Changes yields changes until the context is done or the follower is closed, neither of which is an error of the walk.
// Any other error ends it.
func (f *Follower) Changes(ctx context.Context) iter.Seq2[*Change, error] {
	return func(yield func(*Change, error) bool) {
		for {
			change, err := f.Next(ctx)
			if err != nil {
				if ctx.Err() == nil && !f.isClosing() {
					yield(nil, err)
				}
				return
			}
			if !yield(change, nil) {
				return
			}
		}
	}
}

// Place returns the place after the last change, from which another follower can go on, in any process.
func (f *Follower) Place() (place string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.p != nil {
		place = C.GoString(C.ses_follower_place(f.p))
	}
	return place
}

// Close ends the follower, and the calls of other goroutines that wait on it.
func (f *Follower) Close() error {
	if f == nil {
		return nil
	}
	f.once.Do(func() {
		close(f.closing)
		C.ses_follower_wake(f.p)
		f.mu.Lock()
		defer f.mu.Unlock()
		f.cleanup.Stop()
		followerHandles{f.p, f.cancel}.free()
		f.p = nil
	})
	return nil
}
