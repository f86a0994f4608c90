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
    struct buffer names; /* of apps and users, used in `items` */
    int64_t interval_us;
};

/* ------------------------------------------------------------------------------------- what to look at */

static size_t size_of(const char *name)
{
    return name ? strlen(name) + 1 : 0;
}

/* Adds a name, for which there is room. */
static const char *keep_name(struct poll *poll, const char *name)
{
    const char *copy = poll->names.data + poll->names.len;

    if (!name)
        return NULL;
    ses__buffer_add(&poll->names, name, size_of(name));
    return copy;
}

/* Collects the sessions to look at, as far as there is room, and counts all of them and the bytes of their
 * names. */
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
            if (!at->watched) {
                at->state.fresh = true; /* this look is one that it misses */
                continue;
            }
            *count += 1;
            *names += at->state.app ? size_of(at->key.app) + size_of(at->key.user) : 0;
            if (*count > poll->capacity || *names >= poll->names.capacity)
                continue;
            struct watched *item = &poll->op.items[poll->op.count++];
            *item = at->state;
            if (item->app) {
                item->app = keep_name(poll, at->key.app);
                item->user = keep_name(poll, at->key.user);
            }
            at->watch_at = poll->op.count;
        }
    }
    (void)pthread_mutex_unlock(&followers->lock);
}

/* ------------------------------------------------------------------------------------------ one look */

/* The next look compares with this one. */
static void keep_seen(struct listener *listener, const struct watched *item)
{
    listener->state.session_id = item->session_id;
    listener->state.count = item->count;
    listener->state.versions = item->versions;
    listener->state.written = listener->state.written || item->written;
}

/* Notifies the listeners whose sessions the look has found to be changed, and records for the others that
 * theirs were unchanged when it began, at `begun_us`. True if any were changed. A busy file is tried again
 * later; any other failure is left to the callers, which meet it themselves. */
static bool notify_found(struct poll *poll, int code, int64_t begun_us)
{
    struct followers *followers = poll->followers;
    const bool concerns_callers =
        code < 0 && code != SES_BUSY && code != SES_NOMEM && code != SES_INTERRUPTED;
    bool found = false;

    (void)pthread_mutex_lock(&followers->lock);
    for (size_t i = 0; i < FOLLOWER_BUCKETS; i++) {
        for (struct listener *at = followers->buckets[i]; at; at = at->next) {
            if (at->watch_at == 0)
                continue;
            const struct watched *item = &poll->op.items[at->watch_at - 1];
            const bool changed = code == SES_OK && item->changed;
            at->state.fresh = code != SES_OK;
            if (code == SES_OK && !changed)
                at->unchanged_us = begun_us;
            if (code == SES_OK && item->is_wide)
                keep_seen(at, item);
            if (changed || concerns_callers || (at->state.written && at->state.due_us <= begun_us))
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
    bool has_room = true;
    size_t count;
    size_t names;

    collect(poll, &count, &names);
    while (has_room && poll->op.count < count) { /* nothing is allocated with the lock held */
        ses__buffer_cut(&poll->names, 0);
        has_room =
            ses__memory_grow(poll->allocator, &poll->items, &poll->capacity, count, sizeof(struct watched)) &&
            ses__buffer_reserve(&poll->names, names);
        if (has_room)
            collect(poll, &count, &names);
    }
    const bool found =
        has_room &&
        notify_found(poll, ses__door_watch(poll->followers->store->storage, &poll->op, NULL), begun_us);
    const int64_t rest = (ses__clock_thread_us() - begin) * SHARE;

    poll->interval_us = found ? SHORTEST_US : poll->interval_us + poll->interval_us / 8;
    if (poll->interval_us > LONGEST_US)
        poll->interval_us = LONGEST_US;
    return rest > poll->interval_us ? rest : poll->interval_us;
}

/* ----------------------------------------------------------------------------------------- the thread */

static void *poll_loop(void *context)
{
    struct followers *followers = context;
    struct poll poll = {
        .followers = followers, .allocator = &followers->store->allocator, .interval_us = SHORTEST_US};

    ses__buffer_init(&poll.names, poll.allocator);
    (void)pthread_mutex_lock(&followers->lock);
    for (;;) {
        followers->sleeps = true;
        while (!followers->stops && followers->watched == 0)
            (void)ses__condition_wait(&followers->work, &followers->lock, INT64_MAX);
        followers->sleeps = false;
        if (followers->stops)
            break;
        (void)pthread_mutex_unlock(&followers->lock);
        const int64_t rest_us = look_once(&poll);
        const int64_t until_us = ses__clock_steady_us() + rest_us;
        (void)pthread_mutex_lock(&followers->lock);
        while (!followers->stops && ses__condition_wait(&followers->work, &followers->lock, until_us))
            ;
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
