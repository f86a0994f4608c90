// Package seslite keeps sessions of AI agents in an SQLite file: conversations as logs of events, and state in app, user
// and session scope, as the Agent Development Kit (ADK) defines them. It compiles the C library of the same name, whose
// header seslite.h is the reference for what each call does.
//
// # Stores and sessions
//
// [Open] opens a [Store], which any number of goroutines may use. A session can be used in two ways. The methods of a
// [Store] that take a [Key] need nothing else. A [Session] is a snapshot of one session: it holds the events and the state
// of the moment when it was read, its own appends move it forward, and [Session.Refresh] adds what others wrote. An append
// through an outdated one is [ErrStale], so that no turn is computed from what is no longer so. Goroutines may share a
// Session, whose calls then run one after another; give each goroutine that works on its own a Session of its own.
//
// # JSON
//
// Events, states and values are JSON text in a []byte or a [json.RawMessage], byte for byte as it was stored: no number is
// rounded. Options are structs; nil stands for the defaults.
//
// # Contexts
//
// A deadline of a context is the time limit of the call, and a context that is cancelled ends it. A call that was ended so
// has changed nothing; its error is [ErrBusy] or [ErrInterrupted] and wraps the error of the context, so ask
// errors.Is(err, context.DeadlineExceeded). A commit that has begun is waited for, so that the result is the truth. A context without a deadline and without
// Done costs nothing.
//
// # Closing
//
// Close what was opened. An object that is forgotten is freed some time after the garbage collector has found it.
package seslite
