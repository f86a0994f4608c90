package seslite

// #include <stdlib.h>
// #include "callbacks.h"
import "C"

import (
	"runtime"
	"runtime/cgo"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// A Store holds the sessions of a file, of memory or of a database. Any goroutine may use it at any time.
type Store struct {
	p       *C.ses_store
	hooks   *hookup
	closed  atomic.Bool
	use     sync.RWMutex // held for reading by each call, and for writing while the store closes
	mu      sync.Mutex   // guards cancels
	cancels []*C.ses_cancel
	cleanup runtime.Cleanup
}

// An Option changes how a store is opened.
type Option func(*opening)

type opening struct {
	options  C.ses_open_options
	postgres postgresOptions
	hooks    hooks
}

// hooks are the functions that a store calls.
type hooks struct {
	clock  func() time.Time
	makeID func() string
	trace  func(Trace)
}

// A Trace describes a call of the library that has ended.
type Trace struct {
	Call     string        // its name in C, such as "ses_append"
	Code     int           // the code that it returned
	Wait     time.Duration // how long it waited for locks, connections and other calls
	Work     time.Duration // the rest of its time
	BytesIn  int64         // of the texts that it wrote
	BytesOut int64         // of the texts that it read
}

// ReadOnly opens the store for reading only. The file must exist.
func ReadOnly() Option { return func(o *opening) { o.options.flags |= C.SES_OPEN_READ_ONLY } }

// Linked opens a file also if it has other names, such as hard links: only for programs that all use the same one.
func Linked() Option { return func(o *opening) { o.options.flags |= C.SES_OPEN_LINKED } }

// MustExist makes a missing file ErrNotFound instead of creating it.
func MustExist() Option { return func(o *opening) { o.options.flags |= C.SES_OPEN_MUST_EXIST } }

// SyncNormal lets a power loss lose the last writes; a crash of the process cannot. Writes then do not wait for the disk.
func SyncNormal() Option { return func(o *opening) { o.options.synchronous = C.SES_SYNC_NORMAL } }

// WAL uses a write-ahead log even where it does not look safe, such as on a network file system.
func WAL() Option { return func(o *opening) { o.options.journal = C.SES_JOURNAL_WAL } }

// RollbackJournal uses a rollback journal: readers and the writer wait for each other.
func RollbackJournal() Option {
	return func(o *opening) { o.options.journal = C.SES_JOURNAL_ROLLBACK }
}

// ExternalCheckpoint leaves emptying the write-ahead log to another program, such as Litestream.
func ExternalCheckpoint() Option {
	return func(o *opening) { o.options.checkpoint = C.SES_CHECKPOINT_EXTERNAL }
}

// BusyTimeout is how long a call waits for other writers: 10 seconds by default, not at all if it is negative.
func BusyTimeout(d time.Duration) Option {
	return func(o *opening) { o.options.busy_timeout_ms = signed(d) }
}

// Timeout is the time limit of calls whose context has no deadline.
func Timeout(d time.Duration) Option { return func(o *opening) { o.options.timeout_ms = signed(d) } }

// MaxEventBytes is the length of the longest event or initial state: 16 MiB by default.
func MaxEventBytes(n int) Option {
	return func(o *opening) { o.options.max_event_bytes = C.size_t(max(n, 0)) }
}

// MaxReaders is the number of connections for reading: 4 by default.
func MaxReaders(n int) Option {
	return func(o *opening) { o.options.max_readers = C.uint(max(n, 0)) }
}

// MaxSessionEvents is the number of events that a session may hold.
func MaxSessionEvents(n int64) Option {
	return func(o *opening) { o.options.max_session_events = C.int64_t(n) }
}

// Clock gives the time of sessions and events that have none, and of leases. It must not use the store.
func Clock(now func() time.Time) Option { return func(o *opening) { o.hooks.clock = now } }

// MakeID makes the ids of sessions and events that have none. It must not use the store.
func MakeID(make func() string) Option { return func(o *opening) { o.hooks.makeID = make } }

// OnCall is told of each call that has ended, on the goroutine of that call. It must not use the store.
func OnCall(trace func(Trace)) Option { return func(o *opening) { o.hooks.trace = trace } }

// signed rounds a duration to milliseconds. The sign stays: what is not 0 does not become it.
func signed(d time.Duration) C.int64_t {
	switch {
	case d > 0:
		return milliseconds(d)
	case d < 0:
		return -1
	}
	return 0
}

// A hookup is what C needs to call hooks, for as long as the store may call them.
type hookup struct {
	number  cgo.Handle
	context unsafe.Pointer // C's memory, with the number in it
}

func (h *hookup) free() {
	if h != nil {
		h.number.Delete()
		C.free(h.context)
	}
}

// hook registers the functions of a store, if there are any.
func (o *opening) hook() *hookup {
	if o.hooks.clock == nil && o.hooks.makeID == nil && o.hooks.trace == nil {
		return nil
	}
	h := &hookup{number: cgo.NewHandle(&o.hooks), context: C.malloc(C.sizeof_uintptr_t)}
	*(*cgo.Handle)(h.context) = h.number
	if o.hooks.clock != nil {
		o.options.clock, o.options.clock_context = (*[0]byte)(C.ses_go_clock), h.context
	}
	if o.hooks.makeID != nil {
		o.options.make_id, o.options.make_id_context = (*[0]byte)(C.ses_go_make_id), h.context
	}
	if o.hooks.trace != nil {
		o.options.trace, o.options.trace_context = (*[0]byte)(C.ses_go_trace), h.context
	}
	return h
}

// open runs a call that opens a store.
func open(options []Option, f func(c *call, o *opening, store **C.ses_store) C.int) (*Store, error) {
	o := &opening{options: C.ses_open_options{size: C.sizeof_ses_open_options}}
	for _, each := range options {
		if each == nil {
			return nil, failure(ErrMisuse, "an option is nil")
		}
		each(o)
	}
	hooks := o.hook()
	var p *C.ses_store
	_, err := (&call{}).run(background, func(c *call) C.int { return f(c, o, &p) })
	if err != nil {
		hooks.free()
		return nil, err
	}
	s := &Store{p: p, hooks: hooks}
	s.cleanup = runtime.AddCleanup(s, forget, forgotten{s.p, s.hooks})
	return s, nil
}

// forgotten is a store that nobody has closed.
type forgotten struct {
	p     *C.ses_store
	hooks *hookup
}

func forget(f forgotten) {
	C.ses_close(f.p)
	f.hooks.free()
}

// Open opens the store in a file, which is created if it does not exist. The path ":memory:" is a store in memory, which
// lives until it is closed.
func Open(path string, options ...Option) (*Store, error) {
	return open(options, func(c *call, o *opening, store **C.ses_store) C.int {
		return C.ses_open(c.text(path), &o.options, store, &c.err)
	})
}

// Close interrupts the calls that wait, waits for the others and closes the store. What was opened on it can be closed
// later, and its contents can still be read. Closing again does nothing.
func (s *Store) Close() error {
	if s == nil || !s.closed.CompareAndSwap(false, true) {
		return nil
	}
	for !s.use.TryLock() { // a call that begins to wait after the interruption is interrupted by the next one
		C.ses_store_interrupt(s.p, nil)
		time.Sleep(time.Millisecond)
	}
	defer s.use.Unlock()
	s.cleanup.Stop()
	for _, handle := range s.cancels {
		C.ses_cancel_close(handle)
	}
	s.cancels = nil
	C.ses_close(s.p)
	s.hooks.free()
	return nil
}

// enter begins a call, unless the store is closed. leave ends it.
func (s *Store) enter() bool {
	s.use.RLock()
	if s.closed.Load() {
		s.use.RUnlock()
		return false
	}
	return true
}

func (s *Store) leave() { s.use.RUnlock() }

// takeCancel returns a handle that ends a call, for one call at a time.
func (s *Store) takeCancel() (*C.ses_cancel, error) {
	s.mu.Lock()
	if n := len(s.cancels); n > 0 {
		handle := s.cancels[n-1]
		s.cancels = s.cancels[:n-1]
		s.mu.Unlock()
		return handle, nil
	}
	s.mu.Unlock()
	return s.newCancel()
}

func (s *Store) newCancel() (*C.ses_cancel, error) {
	var handle *C.ses_cancel
	_, err := (&call{}).run(background, func(c *call) C.int { return C.ses_cancel_open(s.p, &handle, &c.err) })
	return handle, err
}

func (s *Store) giveCancel(handle *C.ses_cancel) {
	s.mu.Lock()
	s.cancels = append(s.cancels, handle)
	s.mu.Unlock()
}
