package seslite

// #include <stdlib.h>
// #include "seslite.h"
import "C"

import (
	"context"
	"runtime"
	"runtime/cgo"
	"strings"
	"time"
	"unsafe"
)

// A call is one call of the library: its arguments, which C borrows until it returns, its limits and its error. The
// arguments are in Go's memory and are pinned: nothing is copied that need not end in a NUL.
type call struct {
	store     *C.ses_store
	session   *C.ses_session // of a call on a handle
	name      *C.ses_key     // of a call by key
	timeout   C.int64_t
	cancel    *C.ses_cancel
	err       C.ses_error
	pin       runtime.Pinner
	callbacks []*callback
	handles   []cgo.Handle
	succeeded func() // copies what the library has written; nil: nothing
}

// A refusal is an argument that cannot be given to C. It ends the making of a call as a panic, which run catches.
type refusal struct{ err *Error }

// do runs one call on the store. f makes the arguments, calls the library and returns its code.
func (s *Store) do(ctx context.Context, f func(c *call) C.int) (int, error) {
	if err := s.begin(ctx); err != nil {
		return 0, err
	}
	defer s.leave()
	if ctx.Done() == nil {
		return s.call(ctx, nil, f)
	}
	handle, err := s.takeCancel()
	if err != nil {
		return 0, err
	}
	defer s.giveCancel(handle)
	defer watch(ctx, handle)()
	return s.call(ctx, handle, f)
}

// doWith runs a call of an object that keeps the handle by which its calls are ended.
func (s *Store) doWith(ctx context.Context, handle *C.ses_cancel, f func(c *call) C.int) (int, error) {
	if err := s.begin(ctx); err != nil {
		return 0, err
	}
	defer s.leave()
	if ctx.Done() != nil {
		defer watch(ctx, handle)()
	}
	return s.call(ctx, handle, f)
}

// begin enters the store, unless the context is done.
func (s *Store) begin(ctx context.Context) error {
	if s == nil || ctx == nil {
		return failure(ErrMisuse, "the store or the context is nil")
	}
	if err := ctx.Err(); err != nil {
		return interrupted(err)
	}
	if !s.enter() {
		return closed("store")
	}
	return nil
}

func (s *Store) call(ctx context.Context, handle *C.ses_cancel, f func(c *call) C.int) (int, error) {
	c := &call{store: s.p, cancel: handle}
	if deadline, ok := ctx.Deadline(); ok {
		c.timeout = milliseconds(time.Until(deadline))
	}
	return c.run(ctx, f)
}

func interrupted(cause error) *Error {
	err := failure(ErrInterrupted, "the context was done before the call")
	err.cause = cause
	return err
}

// milliseconds rounds up, and is at least 1: 0 and less have other meanings.
func milliseconds(d time.Duration) C.int64_t {
	if d <= time.Millisecond {
		return 1
	}
	return C.int64_t((d + time.Millisecond - 1) / time.Millisecond)
}

// watch pulls the handle when the context is done. The function that it returns ends this and makes the handle as new.
func watch(ctx context.Context, handle *C.ses_cancel) func() {
	pulled := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		C.ses_cancel_pull(handle)
		close(pulled)
	})
	return func() {
		if !stop() {
			<-pulled
			C.ses_cancel_reset(handle)
		}
	}
}

// run makes the call and returns its code if it is not negative, and otherwise its error.
func (c *call) run(ctx context.Context, f func(c *call) C.int) (code int, err error) {
	defer c.release()
	defer func() {
		if cause := recover(); cause != nil {
			refused, ok := cause.(refusal)
			if !ok {
				panic(cause)
			}
			code, err = 0, refused.err
		}
	}()
	result := f(c)
	failed := c.failed()
	if result >= 0 {
		if c.succeeded != nil {
			c.succeeded()
		}
		return int(result), failed
	}
	made := errorOf(result, &c.err)
	made.blame(ctx)
	if failed != nil {
		made.cause = failed
	}
	return 0, made
}

// failed returns the first error of a callback. A panic in one goes on here, outside of C.
func (c *call) failed() error {
	var first error
	for _, each := range c.callbacks {
		if each.panicked {
			panic(each.cause)
		}
		if first == nil {
			first = each.err
		}
	}
	return first
}

// release ends what C has borrowed.
func (c *call) release() {
	c.pin.Unpin()
	for _, each := range c.handles {
		each.Delete()
	}
}

// text lends a text that ends in a NUL. It cannot hold one.
func (c *call) text(s string) *C.char {
	if strings.IndexByte(s, 0) >= 0 {
		panic(refusal{failure(ErrInvalid, "a text contains a NUL: %.100q", s)})
	}
	bytes := make([]byte, len(s)+1)
	copy(bytes, s)
	return c.pinned(bytes)
}

// optional lends a text, or NULL for an empty one.
func (c *call) optional(s string) *C.char {
	if s == "" {
		return nil
	}
	return c.text(s)
}

var nothing = []byte{0}

// bytes lends a text with its length. NULL stands for nil, but not for an empty text.
func (c *call) bytes(b []byte) (*C.char, C.size_t) {
	switch {
	case b == nil:
		return nil, 0
	case len(b) == 0:
		return c.pinned(nothing), 0
	}
	return c.pinned(b), C.size_t(len(b))
}

func (c *call) pinned(b []byte) *C.char {
	p := unsafe.SliceData(b)
	c.pin.Pin(p)
	return (*C.char)(unsafe.Pointer(p))
}

// time lends a time in microseconds, or NULL for the zero time.
func (c *call) time(t time.Time) *C.int64_t {
	if t.IsZero() {
		return nil
	}
	us := C.int64_t(t.UnixMicro())
	return lend(c, &us)
}

// lend pins what p points to, which C may then find in other arguments, and returns p.
func lend[T any](c *call, p *T) *T {
	c.pin.Pin(p)
	return p
}

// key lends a key. An empty session is NULL: the store makes an id, or all sessions are meant.
func (c *call) key(k Key) *C.ses_key {
	c.name = lend(c, &C.ses_key{app: c.text(k.App), user: c.text(k.User), session: c.optional(k.Session)})
	return c.name
}

// scope lends a key whose members may all be absent.
func (c *call) scope(k Key) *C.ses_key {
	return lend(c, &C.ses_key{app: c.optional(k.App), user: c.optional(k.User), session: c.optional(k.Session)})
}

// labels lends the labels to set and to remove.
func (c *call) labels(set map[string]string, remove []string) (*C.ses_label, C.size_t) {
	count := len(set) + len(remove)
	if count == 0 {
		return nil, 0
	}
	labels := make([]C.ses_label, 0, count)
	for name, value := range set {
		labels = append(labels, C.ses_label{name: c.text(name), value: c.text(value)})
	}
	for _, name := range remove {
		labels = append(labels, C.ses_label{name: c.text(name)})
	}
	return lend(c, &labels[0]), C.size_t(count)
}

// flags combines the flags whose condition is true.
func flag(condition bool, value C.uint) C.uint {
	if condition {
		return value
	}
	return 0
}

// A text that the library gave to its caller.
type owned struct {
	text *C.char
	len  C.size_t
}

// take copies the text and frees it. No text is nil.
func (o *owned) take() []byte {
	if o.text == nil {
		return nil
	}
	copied := C.GoBytes(unsafe.Pointer(o.text), C.int(o.len))
	C.ses_free(o.text)
	o.text = nil
	return copied
}

// borrowed copies a text that the library lends. No text is nil.
func borrowed(text *C.char, length C.size_t) []byte {
	if text == nil {
		return nil
	}
	return C.GoBytes(unsafe.Pointer(text), C.int(length))
}

// copied copies a text with its length.
func copied(text C.ses_text) []byte { return borrowed(text.text, text.len) }

// timeOf returns a time of the library. The largest number, by which it says never, is the zero time.
func timeOf(us C.int64_t) time.Time {
	if us == C.INT64_MAX {
		return time.Time{}
	}
	return time.UnixMicro(int64(us)).UTC()
}

// A target is a session as a call names it: by a handle, or by key. Each operation that has both forms is written once.
type target struct {
	store   *Store
	session *Session // nil: by key
	key     Key
}

// do runs a call on the session. If the target is a handle, c.session is it, and otherwise c.name is the key.
func (t target) do(ctx context.Context, f func(c *call) C.int) (int, error) {
	if t.session == nil {
		return t.store.do(ctx, func(c *call) C.int {
			c.key(t.key)
			return f(c)
		})
	}
	handle, err := t.session.lock()
	if err != nil {
		return 0, err
	}
	defer t.session.mu.Unlock()
	return t.store.do(ctx, func(c *call) C.int {
		c.session = handle
		return f(c)
	})
}
