/* The calls of a store that wait for leases, or for inputs in inboxes, in the order in which they came, and
 * the calls that wake them. */
#ifndef SESLITE_SESSION_LEASE_QUEUE_H
#define SESLITE_SESSION_LEASE_QUEUE_H

#include <pthread.h>

#include "base/limits.h"

/* Lives in the memory of the waiting call, as does the key. */
struct lease_waiter {
    const ses_key *key;
    bool is_inbox; /* waits for an input of any session that the key names; members of it may be NULL */
    struct lease_waiter *next;
    pthread_cond_t wake;
    bool is_first;               /* the first of its session or inboxes, which looks; the others only wait */
    int64_t first_us;            /* since then, by the steady clock */
    const struct limits *limits; /* of the call */
    bool must_look;              /* something has changed since it last looked */
    bool is_interrupted;
};

struct lease_queue {
    pthread_mutex_t lock; /* guards everything, and the waiters; no other lock is taken under it */
    struct lease_waiter *waiters;
    bool closed; /* calls that come later are interrupted */
};

SESLITE_PRIVATE bool ses__lease_queue_init(struct lease_queue *queue);
SESLITE_PRIVATE void ses__lease_queue_free(struct lease_queue *queue);

/* Joins the queue. The waiter has its key, its limits and `is_inbox`. After success the call must leave it;
 * the key must live until then. False: out of memory. */
SESLITE_PRIVATE bool ses__lease_queue_join(struct lease_queue *queue, struct lease_waiter *waiter);
/* Leaves the queue, and wakes the next waiter of its session. */
SESLITE_PRIVATE void ses__lease_queue_leave(struct lease_queue *queue, struct lease_waiter *waiter);
/* True if the waiter is the first of its session; and since when, by the steady clock. */
SESLITE_PRIVATE bool ses__lease_queue_is_first(struct lease_queue *queue, const struct lease_waiter *waiter,
                                               int64_t *since_us);
/* Waits until it is woken, or until that time; a waiter that is not the first waits until the deadline.
 * False: interrupted, or cancelled. */
SESLITE_PRIVATE bool ses__lease_queue_wait(struct lease_queue *queue, struct lease_waiter *waiter,
                                           int64_t look_us, int64_t deadline_us);

/* Wakes waiters because the lease of the session is free, an input was added, or the session is gone. NULL:
 * sessions are gone. */
SESLITE_PRIVATE void ses__lease_queue_wake(struct lease_queue *queue, const ses_key *key);
/* Interrupts all calls in the queue; with `closes`, also those that come later. */
SESLITE_PRIVATE void ses__lease_queue_interrupt(struct lease_queue *queue, bool closes);

#endif
