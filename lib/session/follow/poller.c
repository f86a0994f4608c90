/*
 * Other processes do not announce their writes. A thread therefore looks on behalf of the store's followers
 * that wait: first whether anything was written, then at the sessions that each follower waits for. It looks
 * often while it finds something, then less and less often, and never for more than a twentieth of its time.
 * It sleeps while no follower waits.
 */
#include <string.h>

#include "base/clock.h"
#include "base/thread.h"
#include "base/memory.h"
#include "session/followers.h"

static const int64_t SHORTEST_US = 4000;
static const int64_t LONGEST_US = 120000;
enum { SHARE = 20 }; /* it rests this many times as long as a look took */

struct poll {
    struct followers *followers;
    const ses_allocator *allocator;
    struct watch_op op;
    void *items;
    size_t capacity;
    struct buffer names; /* users' names, used in `items` */
    int64_t interval_us;
};

/* ------------------------------------------------------------------------------------- what to look at */

/* Adds a name, for which there is room. */
static const char *keep_name(struct poll *poll, const char *name)
{
    const char *copy = poll->names.data + poll->names.len;
    ses__buffer_add(&poll->names, name, strlen(name) + 1);
    return copy;
}

static void add_watched(struct poll *poll, struct listener *listener)
{
    struct watched *item = &poll->op.items[poll->op.count++];

    *item = listener->state;
    if (item->app) {
        item->app = keep_name(poll, listener->key.app);
        item->user = keep_name(poll, listener->key.user);
    }
    listener->watch_at = poll->op.count;
}

/* Collects what to look at into the room that there is, and gives the room that all of it needs. */
static void collect(struct poll *poll, size_t *count, size_t *names)
{
    struct followers *followers = poll->followers;

    *count = *names = 0;
    ses__buffer_cut(&poll->names, 0);
    poll->op = (struct watch_op){.items = poll->items};
    (void)pthread_mutex_lock(&followers->lock);
    for (size_t i = 0; i < FOLLOWER_BUCKETS; i++) {
        for (struct listener *at = followers->buckets[i]; at; at = at->next) {
            at->watch_at = 0;
            if (!at->watched)
                continue;
            *count += 1;
            *names += at->state.app ? strlen(at->key.app) + strlen(at->key.user) + 2 : 0;
            if (*count <= poll->capacity && *names < poll->names.capacity)
                add_watched(poll, at);
        }
    }
    (void)pthread_mutex_unlock(&followers->lock);
}

/* Nothing is allocated with the lock held, so it may take several tries. False: out of memory. */
static bool collect_all(struct poll *poll)
{
    size_t count;
    size_t names;

    for (collect(poll, &count, &names); poll->op.count < count; collect(poll, &count, &names)) {
        ses__buffer_cut(&poll->names, 0);
        if (!ses__memory_grow(poll->allocator, &poll->items, &poll->capacity, count,
                              sizeof(struct watched)) ||
            !ses__buffer_reserve(&poll->names, names))
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------------------------------ one look */

/* A busy file is tried again later. Any other failure is left to the callers, which meet it themselves. */
static bool concerns_callers(int code)
{
    return code < 0 && code != SES_BUSY && code != SES_NOMEM && code != SES_INTERRUPTED;
}

/* Notifies the listeners whose sessions have changed. True if there were any. `begun_us`: when the look
 * was. */
static bool notify_found(struct poll *poll, int code, int64_t begun_us)
{
    struct followers *followers = poll->followers;
    bool found = false;

    (void)pthread_mutex_lock(&followers->lock);
    for (size_t i = 0; i < FOLLOWER_BUCKETS; i++) {
        for (struct listener *at = followers->buckets[i]; at; at = at->next) {
            const bool changed =
                at->watch_at > 0 && code == SES_OK && poll->op.items[at->watch_at - 1].changed;
            if (at->watch_at > 0)
                at->state.fresh = code != SES_OK;
            if (at->watch_at > 0 && code == SES_OK && !changed)
                at->unchanged_us = begun_us;
            if (changed || (at->watch_at > 0 && concerns_callers(code)))
                ses__listener_signal(at, NULL);
            found = found || changed;
        }
    }
    (void)pthread_mutex_unlock(&followers->lock);
    return found;
}

/* Looks once. Returns how long to rest after it. */
static int64_t look_once(struct poll *poll)
{
    const int64_t begin = ses__clock_thread_us();
    const int64_t begun_us = ses__clock_steady_us();
    const bool found =
        collect_all(poll) &&
        notify_found(poll, ses__door_watch(poll->followers->store->storage, &poll->op, NULL), begun_us);
    const int64_t rest = (ses__clock_thread_us() - begin) * SHARE;

    poll->interval_us = found ? SHORTEST_US : poll->interval_us + poll->interval_us / 8;
    if (poll->interval_us > LONGEST_US)
        poll->interval_us = LONGEST_US;
    return rest > poll->interval_us ? rest : poll->interval_us;
}

/* ----------------------------------------------------------------------------------------- the thread */

/* With the lock held. */
static void rest_until(struct followers *followers, int64_t deadline)
{
    bool in_time = true;
    while (!followers->stops && in_time)
        in_time = ses__condition_wait(&followers->work, &followers->lock, deadline);
}

/* With the lock held. */
static void sleep_until_watched(struct followers *followers)
{
    followers->sleeps = true;
    while (!followers->stops && followers->watched == 0)
        (void)ses__condition_wait(&followers->work, &followers->lock, INT64_MAX);
    followers->sleeps = false;
}

static void *poll_loop(void *context)
{
    struct followers *followers = context;
    struct poll poll = {
        .followers = followers, .allocator = &followers->store->allocator, .interval_us = SHORTEST_US};

    ses__buffer_init(&poll.names, poll.allocator);
    (void)pthread_mutex_lock(&followers->lock);
    while (!followers->stops) {
        sleep_until_watched(followers);
        if (followers->stops)
            break;
        (void)pthread_mutex_unlock(&followers->lock);
        const int64_t rest = look_once(&poll);
        (void)pthread_mutex_lock(&followers->lock);
        rest_until(followers, ses__clock_steady_us() + rest);
    }
    (void)pthread_mutex_unlock(&followers->lock);
    ses__buffer_free(&poll.names);
    ses__memory_free(poll.allocator, poll.items);
    return NULL;
}

bool ses__poller_start(struct followers *followers)
{
    if (!followers->started)
        followers->started = ses__thread_start(&followers->thread, poll_loop, followers);
    return followers->started;
}
