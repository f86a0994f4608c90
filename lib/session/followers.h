/*
 * The followers of a store: what each of them waits for, and how a write tells them. Until the first follower is opened a
 * write only looks whether there are any.
 *
 * All of it is guarded by one lock, which is held for moments: while it is held, nothing is read, allocated or waited for
 * (but on the conditions). The callers' `notify` runs under it.
 */
#ifndef SESLITE_SESSION_FOLLOWERS_H
#define SESLITE_SESSION_FOLLOWERS_H

#include "base/thread.h"
#include "session/store.h"

struct followers;

/* One follower, as others see it. The first part is set by its owner, and stays; the rest is guarded. */
struct listener {
    ses_key key; /* without a session: all of the user */
    void (*notify)(void *context);
    void *context;
    struct followers *home;
    pthread_cond_t wake;
    struct listener *next; /* in the bucket */
    bool notified;         /* something has happened since the last look */
    bool woken;            /* by its owner's ses_follower_wake */
    bool interrupted;
    bool armed;           /* `notify` is to be called */
    bool watched;         /* it waits, or is armed: other processes matter to it */
    struct watched state; /* as of its last look */
    size_t watch_at;      /* its number in the look of the poller that is under way; 0: it is not in it */
};

enum { FOLLOWER_BUCKETS = 1024 };

struct followers {
    ses_store *store;
    pthread_mutex_t lock;
    struct listener *buckets[FOLLOWER_BUCKETS]; /* by names */
    size_t watched;
    bool closed; /* the store is */
    /* The poller; see poller.c. */
    pthread_t thread;
    pthread_cond_t work;
    bool started;
    bool sleeps; /* until there is something to watch */
    bool stops;
};

/* ---- followers.c */

/* Tells those that follow the session; without one those of the user, without a user those of the app, without an app
 * all. */
SESLITE_PRIVATE void ses__followers_signal(struct followers *followers, const ses_key *key);
/* The same after a call that has written, unless it failed. */
static inline void ses__followers_notify(ses_store *store, int code, const ses_key *key)
{
    struct followers *followers = atomic_load(&store->followers);
    if (UNLIKELY(followers) && (code >= 0 || code == SES_UNKNOWN))
        ses__followers_signal(followers, key);
}

/* Those that wait return INTERRUPTED. */
SESLITE_PRIVATE void ses__followers_interrupt(struct followers *followers);
/* The same for good; and the end of the poller, when no call is under way any more. */
SESLITE_PRIVATE void ses__followers_close(struct followers *followers);
SESLITE_PRIVATE void ses__followers_stop(struct followers *followers);
SESLITE_PRIVATE void ses__followers_free(struct followers *followers);
/* With the lock held. */
SESLITE_PRIVATE void ses__listener_signal(struct listener *listener);
SESLITE_PRIVATE void ses__listener_set_watched(struct listener *listener, bool watched);
/* Calls `notify`, if it is armed. */
SESLITE_PRIVATE void ses__listener_notify(struct listener *listener);
SESLITE_PRIVATE struct listener **ses__followers_bucket(struct followers *followers, const ses_key *key);

/* ---- listener.c */

enum listener_end { LISTENER_NOTIFIED, LISTENER_PASSED, LISTENER_INTERRUPTED };

/* `listener` has its key, `notify` and context. */
SESLITE_PRIVATE int ses__listener_join(ses_store *store, struct listener *listener, ses_error *error);
SESLITE_PRIVATE void ses__listener_leave(struct listener *listener);
/* Before a look: what is told from now on may have come after it. `first`: of the call. */
SESLITE_PRIVATE void ses__listener_begin(struct listener *listener, bool first);
/* After a look that has found nothing but `state`. PASSED: the deadline has (INT64_MIN: without waiting), or it was woken;
 * then `notify` is armed. */
SESLITE_PRIVATE enum listener_end ses__listener_wait(struct listener *listener, const struct watched *state,
                                                     int64_t deadline_us);
SESLITE_PRIVATE void ses__listener_wake(struct listener *listener);

/* ---- poller.c */

/* With the lock held; false: the system starts no thread. */
SESLITE_PRIVATE bool ses__poller_start(struct followers *followers);

#endif
