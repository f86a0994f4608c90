#include "session/lease_queue.h"

#include <string.h>

#include "base/clock.h"
#include "base/thread.h"

bool ses__lease_queue_init(struct lease_queue *queue)
{
    return pthread_mutex_init(&queue->lock, NULL) == 0;
}

void ses__lease_queue_free(struct lease_queue *queue)
{
    (void)pthread_mutex_destroy(&queue->lock);
}

static bool same_name(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_key(const ses_key *a, const ses_key *b)
{
    return same_name(a->session, b->session) && same_name(a->user, b->user) && same_name(a->app, b->app);
}

/* True if the waiter waits for the session, or for inputs of sessions among which it is. */
static bool concerns(const struct lease_waiter *waiter, const ses_key *session)
{
    const ses_key *key = waiter->key;

    return (!key->session || strcmp(key->session, session->session) == 0) &&
           (!key->user || strcmp(key->user, session->user) == 0) &&
           (!key->app || strcmp(key->app, session->app) == 0);
}

/* With the lock held, as are the next two. Returns the first from there on that waits for the same. */
static struct lease_waiter *find_waiter(struct lease_waiter *from, const struct lease_waiter *like)
{
    while (from && !(from->is_inbox == like->is_inbox && same_key(from->key, like->key)))
        from = from->next;
    return from;
}

static void wake_waiter(struct lease_waiter *waiter)
{
    waiter->must_look = true;
    (void)pthread_cond_signal(&waiter->wake);
}

static void make_first(struct lease_waiter *waiter)
{
    waiter->is_first = true;
    waiter->first_us = ses__clock_steady_us();
}

bool ses__lease_queue_join(struct lease_queue *queue, struct lease_waiter *waiter)
{
    if (!ses__condition_init(&waiter->wake))
        return false;
    (void)pthread_mutex_lock(&queue->lock);
    if (!find_waiter(queue->waiters, waiter))
        make_first(waiter);
    struct lease_waiter **end = &queue->waiters;
    while (*end)
        end = &(*end)->next;
    *end = waiter;
    waiter->is_interrupted = queue->closed;
    (void)pthread_mutex_unlock(&queue->lock);
    return true;
}

void ses__lease_queue_leave(struct lease_queue *queue, struct lease_waiter *waiter)
{
    (void)pthread_mutex_lock(&queue->lock);
    struct lease_waiter **at = &queue->waiters;
    while (*at != waiter)
        at = &(*at)->next;
    *at = waiter->next;
    struct lease_waiter *next = waiter->is_first ? find_waiter(waiter->next, waiter) : NULL;
    if (next) {
        make_first(next);
        wake_waiter(next);
    }
    (void)pthread_mutex_unlock(&queue->lock);
    (void)pthread_cond_destroy(&waiter->wake);
}

bool ses__lease_queue_is_first(struct lease_queue *queue, const struct lease_waiter *waiter,
                               int64_t *since_us)
{
    (void)pthread_mutex_lock(&queue->lock);
    bool is_first = waiter->is_first;
    *since_us = waiter->first_us;
    (void)pthread_mutex_unlock(&queue->lock);
    return is_first;
}

bool ses__lease_queue_wait(struct lease_queue *queue, struct lease_waiter *waiter, int64_t look_us,
                           int64_t deadline_us)
{
    bool in_time = true;

    (void)pthread_mutex_lock(&queue->lock);
    while (in_time && !waiter->must_look && !waiter->is_interrupted) {
        int64_t until = waiter->is_first && look_us < deadline_us ? look_us : deadline_us;
        in_time = ses__limits_wait(waiter->limits, &waiter->wake, &queue->lock, until);
    }
    waiter->must_look = false;
    bool goes_on = !waiter->is_interrupted && !ses__limits_cancelled(waiter->limits);
    (void)pthread_mutex_unlock(&queue->lock);
    return goes_on;
}

void ses__lease_queue_wake(struct lease_queue *queue, const ses_key *key)
{
    (void)pthread_mutex_lock(&queue->lock);
    for (struct lease_waiter *at = queue->waiters; at; at = at->next) {
        if (at->is_first && (!key || concerns(at, key)))
            wake_waiter(at);
    }
    (void)pthread_mutex_unlock(&queue->lock);
}

void ses__lease_queue_interrupt(struct lease_queue *queue, bool closes)
{
    (void)pthread_mutex_lock(&queue->lock);
    queue->closed = queue->closed || closes;
    for (struct lease_waiter *at = queue->waiters; at; at = at->next) {
        at->is_interrupted = true;
        (void)pthread_cond_signal(&at->wake);
    }
    (void)pthread_mutex_unlock(&queue->lock);
}
