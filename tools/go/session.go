package seslite

// #include "seslite.h"
import "C"

import (
	"context"
	"encoding/json"
	"iter"
	"runtime"
	"sync"
	"time"
	"unsafe"
)

// A Session is a snapshot of a session: its times, version, state and events, as of when it was created or read. Its own
// appends move it forward, and Refresh adds what others wrote. It may outlive the store; then it can only be read. After
// Close, it has no events and an empty state.
type Session struct {
	store   *Store
	mu      sync.Mutex // the library allows one thread at a time
	p       *C.ses_session
	cleanup runtime.Cleanup
}

// own makes a Session of a handle. Nobody needs to close it, but that frees it earlier.
func (s *Store) own(p *C.ses_session) *Session {
	made := &Session{store: s, p: p}
	made.cleanup = runtime.AddCleanup(made, func(p *C.ses_session) { C.ses_session_close(p) }, p)
	return made
}

// Close frees the session. What is stored does not change. Closing again does nothing.
func (s *Session) Close() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.p != nil {
		s.cleanup.Stop()
		C.ses_session_close(s.p)
		s.p = nil
	}
	return nil
}

// lock returns the handle, for as long as s.mu is locked.
func (s *Session) lock() (*C.ses_session, error) {
	if s == nil {
		return nil, failure(ErrMisuse, "the session is nil")
	}
	s.mu.Lock()
	if s.p == nil {
		s.mu.Unlock()
		return nil, closed("session")
	}
	return s.p, nil
}

// read gives f the handle, unless the session is closed.
func (s *Session) read(f func(p *C.ses_session)) {
	if p, err := s.lock(); err == nil {
		defer s.mu.Unlock()
		f(p)
	}
}

// ask runs a call that only looks at the handle's memory.
func (s *Session) ask(f func(c *call, p *C.ses_session) C.int) (int, error) {
	p, err := s.lock()
	if err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	return (&call{}).run(background, func(c *call) C.int { return f(c, p) })
}

func (s *Session) target() target { return target{store: s.owner(), session: s} }

// owner returns the store, which is nil if the session is.
func (s *Session) owner() *Store {
	if s == nil {
		return nil
	}
	return s.store
}

func (s *Session) text(f func(p *C.ses_session) *C.char) (text string) {
	s.read(func(p *C.ses_session) { text = C.GoString(f(p)) })
	return text
}

func (s *Session) number(f func(p *C.ses_session) C.int64_t) (number int64) {
	s.read(func(p *C.ses_session) { number = int64(f(p)) })
	return number
}

// App returns the id of the app.
func (s *Session) App() string {
	return s.text(func(p *C.ses_session) *C.char { return C.ses_session_app(p) })
}

// User returns the id of the user.
func (s *Session) User() string {
	return s.text(func(p *C.ses_session) *C.char { return C.ses_session_user(p) })
}

// ID returns the id of the session.
func (s *Session) ID() string {
	return s.text(func(p *C.ses_session) *C.char { return C.ses_session_id(p) })
}

// Key returns the key of the session.
func (s *Session) Key() Key { return Key{s.App(), s.User(), s.ID()} }

// Version returns the version, which every stored event and every cut raises.
func (s *Session) Version() int64 {
	return s.number(func(p *C.ses_session) C.int64_t { return C.ses_session_version(p) })
}

// LastSeq returns the number of the last event; 0 before the first.
func (s *Session) LastSeq() int64 {
	return s.number(func(p *C.ses_session) C.int64_t { return C.ses_session_last_seq(p) })
}

// Stored returns how many events are stored.
func (s *Session) Stored() int64 {
	return s.number(func(p *C.ses_session) C.int64_t { return C.ses_session_stored(p) })
}

// BaseSeq returns the number of the last event that was pruned; 0: none was.
func (s *Session) BaseSeq() int64 {
	return s.number(func(p *C.ses_session) C.int64_t { return C.ses_session_base_seq(p) })
}

func (s *Session) moment(f func(p *C.ses_session) C.int64_t) (moment time.Time) {
	s.read(func(p *C.ses_session) { moment = timeOf(f(p)) })
	return moment
}

// Created returns when the session was created.
func (s *Session) Created() time.Time {
	return s.moment(func(p *C.ses_session) C.int64_t { return C.ses_session_created_us(p) })
}

// Updated returns the update time, which never goes back.
func (s *Session) Updated() time.Time {
	return s.moment(func(p *C.ses_session) C.int64_t { return C.ses_session_updated_us(p) })
}

// Expires returns when the session may be removed; zero: never.
func (s *Session) Expires() time.Time {
	return s.moment(func(p *C.ses_session) C.int64_t { return C.ses_session_expires_us(p) })
}

// Archived returns when the session was archived; zero: it is not.
func (s *Session) Archived() (archived time.Time) {
	s.read(func(p *C.ses_session) { archived = archivedOf(p) })
	return archived
}

// Parent returns the session that this one was forked from, and the number of the last event that was taken from there.
func (s *Session) Parent() (key Key, seq int64, forked bool) {
	s.read(func(p *C.ses_session) {
		var last C.int64_t
		if parent := C.ses_session_parent(p, &last); parent != nil {
			key = Key{C.GoString(parent.app), C.GoString(parent.user), C.GoString(parent.session)}
			seq, forked = int64(last), true
		}
	})
	return key, seq, forked
}

// RememberedSeq returns the number of the last event that is remembered; 0: none is.
func (s *Session) RememberedSeq() (seq int64) {
	s.read(func(p *C.ses_session) { seq = int64(C.ses_session_remembered_seq(p)) })
	return seq
}

// Kind returns what the session is.
func (s *Session) Kind() (kind Kind) {
	s.read(func(p *C.ses_session) { kind = Kind(C.ses_session_kind(p)) })
	return kind
}

// ChildOf returns the session that this one is a child of.
func (s *Session) ChildOf() (key Key, isChild bool) {
	s.read(func(p *C.ses_session) {
		if of := C.ses_session_child_of(p); of != nil {
			key = Key{C.GoString(of.app), C.GoString(of.user), C.GoString(of.session)}
			isChild = true
		}
	})
	return key, isChild
}

// Title returns the title; "" if there is none.
func (s *Session) Title() string {
	return s.text(func(p *C.ses_session) *C.char { return C.ses_session_title(p) })
}

// Labels returns the labels.
func (s *Session) Labels() (labels map[string]string) {
	s.read(func(p *C.ses_session) { labels = labelsOf(p) })
	return labels
}

func labelsOf(p *C.ses_session) map[string]string {
	count := C.ses_session_label_count(p)
	labels := make(map[string]string, int(count))
	for i := C.size_t(0); i < count; i++ {
		label := C.ses_session_label(p, i)
		labels[C.GoString(label.name)] = C.GoString(label.value)
	}
	return labels
}

// Label returns the value of a label, and whether there is one of that name.
func (s *Session) Label(name string) (value string, found bool) {
	_, _ = s.ask(func(c *call, p *C.ses_session) C.int {
		if text := C.ses_session_label_value(p, c.text(name)); text != nil {
			value, found = C.GoString(text), true
		}
		return C.SES_OK
	})
	return value, found
}

// EventCount returns how many events the session holds.
func (s *Session) EventCount() (count int) {
	s.read(func(p *C.ses_session) { count = int(C.ses_session_event_count(p)) })
	return count
}

// Event returns an event that the session holds, oldest first, and whether there is one at that index.
func (s *Session) Event(index int) (event Event, found bool) {
	if index < 0 {
		return Event{}, false
	}
	s.read(func(p *C.ses_session) {
		if e := C.ses_session_event(p, C.size_t(index)); e != nil {
			event, found = eventOf(e), true
		}
	})
	return event, found
}

// EventByID returns the event of that id, and whether the session holds it.
func (s *Session) EventByID(id string) (event Event, found bool) {
	_, _ = s.ask(func(c *call, p *C.ses_session) C.int {
		if e := C.ses_session_event_by_id(p, c.text(id)); e != nil {
			event, found = eventOf(e), true
		}
		return C.SES_OK
	})
	return event, found
}

// Events yields the events that the session holds, oldest first: those of its range, and those appended or refreshed since.
func (s *Session) Events() iter.Seq[Event] {
	return func(yield func(Event) bool) {
		for i := 0; ; i++ {
			event, found := s.Event(i)
			if !found || !yield(event) {
				return
			}
		}
	}
}

// Live returns for each event that the session holds whether no rewind has taken it back.
func (s *Session) Live(ctx context.Context) ([]bool, error) {
	var live []bool
	_, err := s.target().do(ctx, func(c *call) C.int {
		count := int(C.ses_session_event_count(c.session))
		marks := make([]byte, count+1)
		code := C.ses_session_live(c.session, c.options(), (*C.uchar)(unsafe.Pointer(&marks[0])), C.size_t(len(marks)), &c.err)
		live = make([]bool, count)
		for i := range live {
			live[i] = marks[i] != 0
		}
		return code
	})
	if err != nil {
		return nil, err
	}
	return live, nil
}

// JSON returns the session as the JSON object that the ADK writes, with the merged state and the events that it holds.
func (s *Session) JSON() (json.RawMessage, error) {
	var text owned
	_, err := s.ask(func(c *call, p *C.ses_session) C.int {
		return C.ses_session_json(p, &text.text, &text.len, &c.err)
	})
	return text.take(), err
}

// Place returns the place after the last event that the session knows, for FollowOptions.
func (s *Session) Place() string {
	return s.text(func(p *C.ses_session) *C.char { return C.ses_session_place(p) })
}

// BeginInvocation begins an invocation and drops the temp: values of another. Without an id the store makes one. It
// returns the id.
func (s *Session) BeginInvocation(id string) (string, error) {
	_, err := s.ask(func(c *call, p *C.ses_session) C.int {
		code := C.ses_invocation_begin(p, c.optional(id), &c.err)
		id = C.GoString(C.ses_invocation_id(p))
		return code
	})
	return id, err
}

// InvocationID returns the id of the current invocation; "" if there is none.
func (s *Session) InvocationID() string {
	return s.text(func(p *C.ses_session) *C.char { return C.ses_invocation_id(p) })
}

// EndInvocation ends the current invocation and drops its temp: values.
func (s *Session) EndInvocation() error {
	_, err := s.ask(func(c *call, p *C.ses_session) C.int { return C.ses_invocation_end(p, &c.err) })
	return err
}

// options lends the options of a call that has none but its limits.
func (c *call) options() *C.ses_call_options {
	return lend(c, &C.ses_call_options{size: C.sizeof_ses_call_options, timeout_ms: c.timeout, cancel: c.cancel})
}
