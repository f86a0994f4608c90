/* How long a call may take, and who may end it. */
#ifndef SESLITE_BASE_LIMITS_H
#define SESLITE_BASE_LIMITS_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/common.h"

/* An atomic flag is all that a signal handler may set. So calls look at it now and then, and nothing wakes
 * them. */
struct ses_cancel {
    ses_allocator allocator;
    atomic_bool pulled;
};

/* The work of a traced call. Another thread may run its jobs while its own waits. */
struct meter {
    atomic_int_least64_t wait_us;
    int64_t bytes_in;  /* of texts that statements were given */
    int64_t bytes_out; /* of texts in their rows */
};

/* The limits of one call; all zero: none. They live as long as the call, and never change. */
struct limits {
    int64_t deadline_us; /* by the steady clock; 0: none */
    ses_cancel *cancel;  /* NULL: none */
    struct meter *meter; /* NULL: the call is not traced */
};

/* These functions accept NULL, which means no limits. */

/* Returns NULL if there are none, so that a call without limits costs nothing. */
static UNUSED_INLINE const struct limits *ses__limits_given(const struct limits *limits)
{
    return limits && (limits->deadline_us != 0 || limits->cancel || limits->meter) ? limits : NULL;
}
/* True if the caller has ended the call. */
SESLITE_PRIVATE bool ses__limits_cancelled(const struct limits *limits);
/* True if the call has to end: its time is over, or its caller has ended it. */
SESLITE_PRIVATE bool ses__limits_passed(const struct limits *limits);
/* Returns the earlier of a time and the deadline. */
SESLITE_PRIVATE int64_t ses__limits_until(const struct limits *limits, int64_t deadline_us);
/* Returns what is left of the time in milliseconds, as the member `timeout_ms` of options has it. */
SESLITE_PRIVATE int64_t ses__limits_left_ms(const struct limits *limits);
/* The members of a call's options that give it what is left. */
#define LEFT_OF(limits) .timeout_ms = ses__limits_left_ms(limits), .cancel = (limits)->cancel
/* Waits as ses__condition_wait does, and also returns false soon after the caller has ended the call. */
SESLITE_PRIVATE bool ses__limits_wait(const struct limits *limits, pthread_cond_t *condition,
                                      pthread_mutex_t *lock, int64_t deadline_us);
/* For the trace: the call has waited since then, by the steady clock. */
SESLITE_PRIVATE void ses__limits_waited(const struct limits *limits, int64_t since_us);
/* NULL: the call is not traced. */
static inline struct meter *ses__limits_meter(const struct limits *limits)
{
    return limits ? limits->meter : NULL;
}
/* INTERRUPTED for a call that has to end. `name` is the store's. */
SESLITE_PRIVATE int ses__limits_refuse(const char *name, ses_error *error);
SESLITE_PRIVATE extern const char ses__limits_text[];

#endif
