/* The functions that the agent layer and searches need beyond the public calls. */
#ifndef SESLITE_SESSION_HANDLE_H
#define SESLITE_SESSION_HANDLE_H

#include "base/hash.h"
#include "base/limits.h"

/* Returns the allocator of everything that is made from the store. It lives as long as the store or the last
 * handle on it. */
SESLITE_PRIVATE const ses_allocator *ses__store_allocator(const ses_store *store);
SESLITE_PRIVATE struct hash_seed ses__store_seed(const ses_store *store);

/* Returns the limits of a call that has begun, from the members of its options. */
SESLITE_PRIVATE struct limits ses__limits(ses_store *store, int64_t timeout_ms, ses_cancel *cancel);

/* Keeps the memory of a handle beyond ses_session_close, until it is released as often as it was retained,
 * for objects that may outlive the handle. On a closed handle, calls that return a code return MISUSE; the
 * others answer as before. */
SESLITE_PRIVATE void ses__session_retain(ses_session *session);
SESLITE_PRIVATE void ses__session_release(ses_session *session);
SESLITE_PRIVATE ses_store *ses__session_store(const ses_session *session);

/* Begins a public call on a handle: clears the error. MISUSE for NULL and for a closed handle. */
SESLITE_PRIVATE int ses__session_check(const ses_session *session, ses_error *error);

/* Begins a call, and names it for the trace. The macros give the name of the function that they are in. */
#define ses__store_begin(store, error) ses__store_begin_as((store), __func__, (error))
SESLITE_PRIVATE int ses__store_begin_as(ses_store *store, const char *call, ses_error *error);
/* A call that consists of several begins once, so that ses_close waits for all of it and no part is
 * refused. The parts are the calls below: ses_get, ses_cursor_open and ses_cursor_next within a call
 * that has begun. */
SESLITE_PRIVATE int ses__store_end(ses_store *store, int code); /* Returns the code. */
SESLITE_PRIVATE int ses__begun_get(ses_store *store, const ses_key *key, const ses_get_options *given,
                                   ses_session **session, ses_error *error);
/* `after_settled`: events of a range of live ones are left out as far as no call up to them is known to be
 * pending. */
SESLITE_PRIVATE int ses__begun_cursor_open(ses_store *store, const ses_key *key,
                                           const ses_cursor_options *given, bool after_settled,
                                           ses_cursor **cursor, ses_error *error);
/* True if it is worth knowing that no call is pending up to that event of the walk ... */
SESLITE_PRIVATE bool ses__cursor_may_settle(const ses_cursor *cursor, int64_t seq);
/* ... which this keeps, if it can without waiting long. */
SESLITE_PRIVATE void ses__begun_cursor_settle(const ses_cursor *cursor, int64_t seq);
/* Remembers the session up to that number at least, above MAX_SEQ up to its newest event; 0: forgets that.
 * INVALID: it is of the kind memory. */
SESLITE_PRIVATE int ses__begun_remember(ses_store *store, const ses_key *key, int64_t seq,
                                        const struct limits *limits, ses_error *error);
/* A failure is kept: later calls and the close return it again. */
SESLITE_PRIVATE int ses__begun_cursor_next(ses_cursor *cursor, const ses_event **event, ses_error *error);

#endif
