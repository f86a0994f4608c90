/* One follower among the others: it joins, waits and leaves. */
#include <string.h>

#include "base/thread.h"
#include "base/error.h"
#include "base/memory.h"
#include "session/followers.h"

/* ------------------------------------------------------------------------------------ coming and going */

static struct followers *followers_new(ses_store *store)
{
    struct followers *fresh = ses__memory_zeroed(&store->allocator, sizeof *fresh);
    bool lock = fresh && pthread_mutex_init(&fresh->lock, NULL) == 0;
    bool work = lock && ses__condition_init(&fresh->work);

    if (!work && lock)
        (void)pthread_mutex_destroy(&fresh->lock);
    if (!work) {
        ses__memory_free(&store->allocator, fresh);
        return NULL;
    }
    fresh->store = store;
    fresh->signal = ses__followers_signal;
    return fresh;
}

static bool enter_bucket(struct listener *listener)
{
    struct followers *home = listener->home;

    (void)pthread_mutex_lock(&home->lock);
    /* Where there are no threads, a follower sees what other processes wrote when it is called. */
    bool ok = !HAS_THREADS || !home->store->is_shared || ses__poller_start(home);
    if (ok) {
        struct listener **bucket = ses__followers_bucket(home, &listener->key);
        listener->next = *bucket;
        *bucket = listener;
    }
    (void)pthread_mutex_unlock(&home->lock);
    return ok;
}

int ses__listener_join(ses_store *store, struct listener *listener, ses_error *error)
{
    struct followers *home = atomic_load(&store->followers);
    struct followers *fresh = home ? NULL : followers_new(store); /* this is the first follower */

    if (fresh && atomic_compare_exchange_strong(&store->followers, &home, fresh))
        home = fresh;
    else if (fresh)
        ses__followers_free(fresh); /* another thread was faster */
    if (!home || !ses__condition_init(&listener->wake))
        return ses__error_nomem(error);
    listener->home = home;
    if (enter_bucket(listener))
        return SES_OK;
    (void)pthread_cond_destroy(&listener->wake);
    listener->home = NULL;
    return ses__error_set(error, SES_NOMEM, "the system could not start a thread, which followers need");
}

void ses__listener_leave(struct listener *listener)
{
    struct followers *home = listener->home;

    (void)pthread_mutex_lock(&home->lock);
    ses__listener_set_watched(listener, false);
    for (struct listener **at = ses__followers_bucket(home, &listener->key); *at; at = &(*at)->next) {
        if (*at == listener) {
            *at = listener->next;
            break;
        }
    }
    (void)pthread_mutex_unlock(&home->lock);
    (void)pthread_cond_destroy(&listener->wake);
}

/* ------------------------------------------------------------------------------------------- waiting */

int64_t ses__listener_begin(struct listener *listener, bool first, struct notifications *notifications)
{
    struct followers *home = listener->home;

    (void)pthread_mutex_lock(&home->lock);
    const int64_t unchanged_us = listener->unchanged_us;
    memcpy(notifications->names, listener->notifications.names,
           listener->notifications.len); /* only a part of them is in use */
    notifications->len = listener->notifications.len;
    notifications->all = listener->notifications.all;
    listener->state.written = listener->state.written && !notifications->all;
    listener->notifications.len = 0;
    listener->notifications.all = false;
    listener->notified = false;
    if (first) {
        listener->interrupted = false;
        listener->armed = false;
        ses__listener_set_watched(listener, false);
    }
    (void)pthread_mutex_unlock(&home->lock);
    return unchanged_us;
}

static bool is_called(const struct listener *listener)
{
    return listener->notified || listener->woken || listener->interrupted || listener->home->closed;
}

enum listener_end ses__listener_wait(struct listener *listener, const struct watched *state,
                                     const struct limits *limits, int64_t deadline_us)
{
    struct followers *home = listener->home;
    bool in_time = deadline_us != INT64_MIN;
    enum listener_end end = LISTENER_PASSED;

    (void)pthread_mutex_lock(&home->lock);
    if (state->is_wide) {
        listener->state.is_wide = true;
        listener->state.app = state->app;
        listener->state.since_us = state->since_us;
        listener->state.due_us = state->due_us;
        listener->state.written = listener->state.written || state->written;
    } else {
        listener->state = *state;
    }
    if (in_time && !is_called(listener))
        ses__listener_set_watched(listener, true);
    while (in_time && !is_called(listener))
        in_time = ses__limits_wait(limits, &listener->wake, &home->lock, deadline_us);
    if (ses__limits_cancelled(limits) || (in_time && (listener->interrupted || home->closed)))
        end = LISTENER_INTERRUPTED;
    else if (in_time && listener->notified)
        end = LISTENER_NOTIFIED;
    /* A call that found nothing arms `notify`. It is due at once if there was a notification after the last
     * look, or if the loop was woken while `notify` was not armed: it may have looked for the reason before
     * this call. */
    const bool is_due = listener->notified || listener->missed_wake || home->closed;
    if (end == LISTENER_PASSED) {
        listener->woken = false;
        listener->missed_wake = false;
        listener->armed = listener->notify != NULL;
    }
    ses__listener_set_watched(listener, end == LISTENER_PASSED && listener->armed);
    if (end == LISTENER_PASSED && is_due)
        ses__listener_notify(listener);
    (void)pthread_mutex_unlock(&home->lock);
    return end;
}

void ses__listener_wake(struct listener *listener)
{
    struct followers *home = listener->home;

    (void)pthread_mutex_lock(&home->lock);
    listener->woken = true;
    listener->missed_wake = listener->missed_wake || !listener->armed;
    (void)pthread_cond_signal(&listener->wake);
    ses__listener_notify(listener);
    (void)pthread_mutex_unlock(&home->lock);
}
