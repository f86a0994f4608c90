package seslite

// #include "seslite.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A Code says what went wrong. It is an error by itself, so that errors.Is(err, seslite.ErrNotFound) finds it.
type Code int

// The codes of the library, whose header says what each means for a call.
const (
	ErrNoMemory    Code = C.SES_NOMEM
	ErrMisuse      Code = C.SES_MISUSE
	ErrInvalid     Code = C.SES_INVALID
	ErrJSON        Code = C.SES_JSON
	ErrNotFound    Code = C.SES_NOTFOUND
	ErrExists      Code = C.SES_EXISTS
	ErrStale       Code = C.SES_STALE
	ErrBusy        Code = C.SES_BUSY
	ErrReadOnly    Code = C.SES_READONLY
	ErrFull        Code = C.SES_FULL
	ErrIO          Code = C.SES_IO
	ErrCorrupt     Code = C.SES_CORRUPT
	ErrNotAStore   Code = C.SES_NOTASTORE
	ErrTooNew      Code = C.SES_TOONEW
	ErrLimit       Code = C.SES_LIMIT
	ErrInterrupted Code = C.SES_INTERRUPTED
	ErrType        Code = C.SES_TYPE
	ErrRange       Code = C.SES_RANGE
	ErrCannotOpen  Code = C.SES_CANTOPEN
	ErrInternal    Code = C.SES_INTERNAL
	ErrUnknown     Code = C.SES_UNKNOWN
	ErrLeased      Code = C.SES_LEASED
	ErrConstraint  Code = C.SES_CONSTRAINT
	ErrKey         Code = C.SES_KEY
	ErrUnsupported Code = C.SES_UNSUPPORTED
)

// Error returns the general meaning of the code.
func (c Code) Error() string { return C.GoString(C.ses_code_text(C.int(c))) }

// String returns the name of the code, such as "SES_NOTFOUND".
func (c Code) String() string { return C.GoString(C.ses_code_name(C.int(c))) }

// An Error is what a call that failed returns. Nothing has changed then, unless Code is ErrUnknown.
type Error struct {
	Code       Code
	Message    string // what failed, where, and what to do about it
	Version    int64  // after ErrStale: the version that the session has now; otherwise -1
	Offset     int64  // the byte of a JSON text at which the fault is; -1: there is none
	Index      int64  // the rejected event of a batch, counted from 0; -1: there is none
	EngineCode int    // SQLite's extended result code, or the number of MySQL's error; 0: there is none
	SQLState   string // the SQLSTATE of a database server; "": there is none
	cause      error  // of the context, or of a callback
}

// Error returns the name of the code and the message.
func (e *Error) Error() string {
	if e.cause != nil {
		return fmt.Sprintf("seslite: %s: %s: %v", e.Code.String(), e.Message, e.cause)
	}
	return fmt.Sprintf("seslite: %s: %s", e.Code.String(), e.Message)
}

// Is reports whether target is the code of the error.
func (e *Error) Is(target error) bool {
	code, ok := target.(Code)
	return ok && code == e.Code
}

// Unwrap returns what ended the call: the error of its context, or of a reader, a writer or a callback.
func (e *Error) Unwrap() error { return e.cause }

// CodeOf returns the code of an error of this package, and 0 for nil and any other error.
func CodeOf(err error) Code {
	var failure *Error
	if errors.As(err, &failure) {
		return failure.Code
	}
	return 0
}

// failure makes an error that no call of the library has returned.
func failure(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Version: -1, Offset: -1, Index: -1}
}

func closed(what string) *Error { return failure(ErrMisuse, "the %s is closed", what) }

// errorOf copies the library's error.
func errorOf(code C.int, from *C.ses_error) *Error {
	return &Error{
		Code:       Code(code),
		Message:    C.GoString(&from.message[0]),
		Version:    int64(from.version),
		Offset:     int64(from.offset),
		Index:      int64(from.index),
		EngineCode: int(from.engine_code),
		SQLState:   C.GoString(&from.sqlstate[0]),
	}
}

// blame names the context as the cause, if it is what ended the call.
func (e *Error) blame(ctx context.Context) {
	if e.Code != ErrBusy && e.Code != ErrInterrupted {
		return
	}
	if e.cause = ctx.Err(); e.cause != nil {
		return
	}
	// The library's clock may be a little ahead of the context's timer.
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < time.Millisecond {
		e.cause = context.DeadlineExceeded
	}
}
