/*
 * The followers of a store: the events that each waits for, and how a write notifies them. Until the first
 * follower is opened, a write only checks whether there are any.
 *
 * One lock guards all of it, and is held only for moments. While it is held, nothing is read, allocated or
 * waited for (except on the conditions). The callers' `notify` runs under it.
 */
#ifndef SESLITE_SESSION_FOLLOWERS_H
#define SESLITE_SESSION_FOLLOWERS_H

#include "base/thread.h"
#include "session/store.h"

struct followers;

/* The sessions of a user to which this process has written since the follower last looked: their names, each
 * with its NUL. For an app or the store, those of its app and its user come before each. */
enum { NOTIFICATION_BYTES = 640 };
struct notifications {
    char names[NOTIFICATION_BYTES];
    size_t len;
    bool all; /* any session may have changed: there were too many names, or another process has written */
};

/* One follower, as others see it. The owner sets the first part once; the lock guards the rest. */
struct listener {
    ses_key key; /* without a session, a user, an app: all of the user, of the app, of the store */
    void (*notify)(void *context);
    void *context;
    struct followers *home;
    pthread_cond_t wake;
    struct listener *next;              /* in the bucket */
    bool notified;                      /* something has changed since the last look */
    struct notifications notifications; /* and where */
    bool woken;                         /* by its owner's ses_follower_wake */
    bool missed_wake;                   /* the same, while `notify` was not armed */
    bool interrupted;
    bool armed;           /* `notify` is to be called */
    bool watched;         /* waits or is armed, so writes of other processes matter */
    struct watched state; /* as of its last look */
    size_t watch_at;      /* its number in the poller's current look; 0: not in it */
    int64_t unchanged_us; /* when the poller last saw only changes that it was notified of */
};

/* By names; the last is for followers of an app or of the store. */
enum { FOLLOWER_BUCKETS = 1024 + 1 };

struct followers {
    ses_store *store;
    /* ses__followers_signal, which a program without followers need not link. */
    void (*signal)(struct followers *followers, const ses_key *key);
    pthread_mutex_t lock;
    struct listener *buckets[FOLLOWER_BUCKETS];
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

/* Notifies the followers of the session; without a session in the key those of the user, without a user those
 * of the app, without an app all. */
SESLITE_PRIVATE void ses__followers_signal(struct followers *followers, const ses_key *key);
/* The same, after a call that has written, unless the call failed. */
static inline void ses__followers_notify(ses_store *store, int code, const ses_key *key)
{
    struct followers *followers = atomic_load(&store->followers);
    if (UNLIKELY(followers) && (code >= 0 || code == SES_UNKNOWN))
        followers->signal(followers, key);
}

/* Makes followers that wait return INTERRUPTED; with `closes`, also those that wait later. */
SESLITE_PRIVATE void ses__followers_interrupt(struct followers *followers, bool closes);
/* Stops the poller, once no call is under way. */
SESLITE_PRIVATE void ses__followers_stop(struct followers *followers);
SESLITE_PRIVATE void ses__followers_free(struct followers *followers);
/* With the lock held. `written`: the session that was written to; NULL: any. */
SESLITE_PRIVATE void ses__listener_signal(struct listener *listener, const ses_key *written);
SESLITE_PRIVATE void ses__listener_set_watched(struct listener *listener, bool watched);
/* Calls `notify`, if it is armed. */
SESLITE_PRIVATE void ses__listener_notify(struct listener *listener);
SESLITE_PRIVATE struct listener **ses__followers_bucket(struct followers *followers, const ses_key *key);

/* ---- listener.c */

enum listener_end { LISTENER_NOTIFIED, LISTENER_PASSED, LISTENER_INTERRUPTED };

/* `listener` has its key, `notify` and context. */
SESLITE_PRIVATE int ses__listener_join(ses_store *store, struct listener *listener, ses_error *error);
SESLITE_PRIVATE void ses__listener_leave(struct listener *listener);
/* Must be called before a look: later notifications may be about writes after it. `first`: it is the call's
 * first look. Gives the notifications since the last, and returns its `unchanged_us`. */
SESLITE_PRIVATE int64_t ses__listener_begin(struct listener *listener, bool first,
                                            struct notifications *notifications);
/* Must be called after a look that found nothing new; `state` is what it saw. (For an app or the store the
 * poller compares with its own last look instead.) PASSED: the deadline has passed
 * (INT64_MIN: without waiting), or the listener was woken; then `notify` is armed. */
SESLITE_PRIVATE enum listener_end ses__listener_wait(struct listener *listener, const struct watched *state,
                                                     const struct limits *limits, int64_t deadline_us);
SESLITE_PRIVATE void ses__listener_wake(struct listener *listener);

/* ---- poller.c */

/* With the lock held. False: the system could not start the thread. */
SESLITE_PRIVATE bool ses__poller_start(struct followers *followers);

#endif
