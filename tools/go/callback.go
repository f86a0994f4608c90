package seslite

// #cgo CFLAGS: -I${SRCDIR}/internal/lib
// #include "callbacks.h"
import "C"

import (
	"errors"
	"io"
	"runtime/cgo"
	"strings"
	"time"
	"unsafe"

	_ "example.org/seslite/internal/lib" // the library itself
)

// A callback is what the library calls in Go during one call. It keeps an error or a panic of the function, which must
// not pass through C, until the call has returned.
type callback struct {
	store    *C.ses_store
	read     func([]byte) (int, error)
	write    func([]byte) error
	next     func() (*LoadedEvent, error)
	progress func(done, total int64) error
	leftOut  func(why error) error
	imported func(ImportItem) error
	problem  func(Problem) error
	answer   func(FunctionCall) ([]byte, error)
	count    func(Message) (int64, error)
	artifact func(name string) ([]byte, error)
	find     func(text []byte, from int) (begin, end int, err error)
	zone     *time.Location
	event    *call // lends C the event of next
	err      error
	panicked bool
	cause    any
}

// callback registers what C may call back until the call ends, and returns the context to give to C.
func (c *call) callback(b *callback) unsafe.Pointer {
	b.store = c.store
	c.callbacks = append(c.callbacks, b)
	return c.handle(b)
}

func (c *call) handle(value any) unsafe.Pointer {
	number := cgo.NewHandle(value)
	c.handles = append(c.handles, number)
	return unsafe.Pointer(lend(c, &number))
}

// guard runs a function for C. After an error, or a panic, it returns a code that ends the call.
func guard(value C.uintptr_t, f func(b *callback) error) (code C.int) {
	b := cgo.Handle(value).Value().(*callback)
	defer func() {
		if cause := recover(); cause != nil {
			b.panicked, b.cause, code = true, cause, C.SES_INTERRUPTED
		}
	}()
	if b.panicked {
		return C.SES_INTERRUPTED
	}
	err := f(b)
	if err == nil {
		return C.SES_OK
	}
	b.err = err
	if known := CodeOf(err); known < 0 {
		return C.int(known)
	}
	var known Code
	if errors.As(err, &known) && known < 0 {
		return C.int(known)
	}
	return C.SES_IO
}

// What a store calls at any time must not fail: a panic of a clock, a maker of ids or a trace ends in these functions.

//export sesGoClock
func sesGoClock(value C.uintptr_t) (us C.int64_t) {
	us = C.int64_t(time.Now().UnixMicro())
	defer func() { _ = recover() }()
	return C.int64_t(cgo.Handle(value).Value().(*hooks).clock().UnixMicro())
}

//export sesGoMakeID
func sesGoMakeID(value C.uintptr_t, id *C.char, capacity C.size_t) (failed C.int) {
	failed = 1
	defer func() { _ = recover() }()
	made := cgo.Handle(value).Value().(*hooks).makeID()
	room := unsafe.Slice((*byte)(unsafe.Pointer(id)), int(capacity))
	if len(made) >= len(room) || strings.IndexByte(made, 0) >= 0 {
		return 1
	}
	room[copy(room, made)] = 0
	return 0
}

//export sesGoTrace
func sesGoTrace(value C.uintptr_t, t *C.ses_trace) {
	defer func() { _ = recover() }()
	cgo.Handle(value).Value().(*hooks).trace(Trace{
		Call:     C.GoString(t.call),
		Code:     int(t.code),
		Wait:     time.Duration(t.wait_us) * time.Microsecond,
		Work:     time.Duration(t.work_us) * time.Microsecond,
		BytesIn:  int64(t.bytes_in),
		BytesOut: int64(t.bytes_out),
	})
}

//export sesGoRead
func sesGoRead(value C.uintptr_t, buffer *C.char, capacity C.size_t, length *C.size_t) C.int {
	return guard(value, func(b *callback) error {
		n, err := fill(b.read, unsafe.Slice((*byte)(unsafe.Pointer(buffer)), int(capacity)))
		*length = C.size_t(n)
		return err
	})
}

// fill reads at least a byte, unless the text has ended.
func fill(read func([]byte) (int, error), room []byte) (int, error) {
	for range 100 {
		n, err := read(room)
		if n < 0 || n > len(room) {
			return 0, failure(ErrMisuse, "a reader returned %d of %d bytes", n, len(room))
		}
		if err == io.EOF {
			err = nil
			if n == 0 {
				return 0, nil
			}
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
	return 0, io.ErrNoProgress
}

//export sesGoWrite
func sesGoWrite(value C.uintptr_t, data *C.char, length C.size_t) C.int {
	return guard(value, func(b *callback) error {
		return b.write(unsafe.Slice((*byte)(unsafe.Pointer(data)), int(length)))
	})
}

//export sesGoProgress
func sesGoProgress(value C.uintptr_t, done, total C.int64_t) C.int {
	return guard(value, func(b *callback) error { return b.progress(int64(done), int64(total)) })
}

//export sesGoLeftOut
func sesGoLeftOut(value C.uintptr_t, why *C.ses_error) C.int {
	return guard(value, func(b *callback) error { return b.leftOut(errorOf(C.int(why.code), why)) })
}

//export sesGoImported
func sesGoImported(value C.uintptr_t, item *C.ses_import_item) C.int {
	return guard(value, func(b *callback) error { return b.imported(importItemOf(item)) })
}

//export sesGoProblem
func sesGoProblem(value C.uintptr_t, problem *C.ses_problem) C.int {
	return guard(value, func(b *callback) error { return b.problem(problemOf(problem)) })
}

//export sesGoNext
func sesGoNext(value C.uintptr_t, event *C.ses_loaded_event) C.int {
	more := false
	code := guard(value, func(b *callback) error {
		b.event.pin.Unpin() // the library is done with the event before
		loaded, err := b.next()
		if loaded == nil || err != nil {
			return err
		}
		more = true
		event.json, event.json_len = b.event.bytes(loaded.JSON)
		event.seq = C.int64_t(loaded.Seq)
		event.updated_us = b.event.time(loaded.Updated)
		return nil
	})
	if code == C.SES_OK && more {
		return 1
	}
	return code
}

//export sesGoAnswer
func sesGoAnswer(value C.uintptr_t, function *C.ses_function, event *C.ses_event, longRunning C.int, response **C.char,
	length *C.size_t) C.int {
	left := false
	code := guard(value, func(b *callback) error {
		answer, err := b.answer(FunctionCall{Function: functionOf(function), Event: eventOf(event), LongRunning: longRunning != 0})
		if err != nil {
			return err
		}
		left = answer == nil
		return b.give(answer, response, length)
	})
	if code == C.SES_OK && left {
		return C.SES_ABSENT
	}
	return code
}

//export sesGoCount
func sesGoCount(value C.uintptr_t, event *C.ses_event, content *C.char, length C.size_t, tokens *C.int64_t) C.int {
	return guard(value, func(b *callback) error {
		count, err := b.count(Message{eventOf(event), borrowed(content, length)})
		*tokens = C.int64_t(count)
		return err
	})
}

//export sesGoFind
func sesGoFind(value C.uintptr_t, text *C.char, length, from C.size_t, begin, end *C.size_t) C.int {
	found := false
	code := guard(value, func(b *callback) error {
		first, after, err := b.find(unsafe.Slice((*byte)(unsafe.Pointer(text)), int(length)), int(from))
		if err == nil && first >= 0 {
			found = true
			*begin, *end = C.size_t(first), C.size_t(max(after, 0))
		}
		return err
	})
	if code == C.SES_OK && found {
		return 1
	}
	return code
}

//export sesGoZone
func sesGoZone(value C.uintptr_t, us C.int64_t) C.int {
	_, ahead := time.UnixMicro(int64(us)).In(cgo.Handle(value).Value().(*callback).zone).Zone()
	return C.int(ahead)
}

//export sesGoArtifact
func sesGoArtifact(value C.uintptr_t, name *C.char, text **C.char, length *C.size_t) C.int {
	return guard(value, func(b *callback) error {
		found, err := b.artifact(C.GoString(name))
		if err == nil && found == nil {
			err = failure(ErrNotFound, "there is no artifact %q", C.GoString(name))
		}
		if err != nil {
			return err
		}
		return b.give(found, text, length)
	})
}

// give copies a text for the library to keep.
func (b *callback) give(text []byte, out **C.char, length *C.size_t) error {
	if text == nil {
		return nil
	}
	made := C.ses_text_make(b.store, C.size_t(len(text)))
	if made == nil {
		return failure(ErrNoMemory, "out of memory")
	}
	copy(unsafe.Slice((*byte)(unsafe.Pointer(made)), len(text)), text)
	*out, *length = made, C.size_t(len(text))
	return nil
}
