#include "session/followers.h"

#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

struct listener **ses__followers_bucket(struct followers *followers, const ses_key *key)
{
    if (!key->user)
        return &followers->buckets[FOLLOWER_BUCKETS - 1];
    const uint32_t hash = ses__hash32_key(key);
    return &followers->buckets[(hash ^ hash >> 16) % (FOLLOWER_BUCKETS - 1)];
}

/* --------------------------------------------------------------------------------------- one of them */

void ses__listener_set_watched(struct listener *listener, bool watched)
{
    struct followers *home = listener->home;

    if (listener->watched && !watched)
        home->watched--;
    else if (!listener->watched && watched)
        home->watched++;
    listener->watched = watched;
    listener->state.fresh = listener->state.fresh || !listener->state.is_wide;
    listener->watch_at = 0;
    if (watched && home->sleeps)
        (void)pthread_cond_signal(&home->work);
}

void ses__listener_notify(struct listener *listener)
{
    if (listener->armed) {
        listener->armed = false;
        ses__listener_set_watched(listener, false);
        listener->notify(listener->context);
    }
}

/* Adds the names of a session, unless they are there. */
static void add_names(struct notifications *notifications, const char *const *names, int count)
{
    size_t size = 0;
    bool found = false;

    for (size_t at = 0; at < notifications->len && !found;) {
        found = true;
        for (int i = 0; i < count; i++) {
            found = found && strcmp(notifications->names + at, names[i]) == 0;
            at += strlen(notifications->names + at) + 1;
        }
    }
    for (int i = 0; i < count; i++)
        size += strlen(names[i]) + 1;
    notifications->all = !found && size > sizeof notifications->names - notifications->len;
    for (int i = 0; i < count && !found && !notifications->all; i++) {
        size = strlen(names[i]) + 1;
        memcpy(notifications->names + notifications->len, names[i], size);
        notifications->len += size;
    }
}

void ses__listener_signal(struct listener *listener, const ses_key *written)
{
    const bool is_wide = !listener->key.user;

    listener->notified = true;
    if (!written)
        listener->notifications.all = true;
    else if (!listener->notifications.all)
        add_names(&listener->notifications,
                  is_wide ? (const char *[]){written->app, written->user, written->session}
                          : (const char *[]){written->session},
                  is_wide ? 3 : 1);
    (void)pthread_cond_signal(&listener->wake);
    ses__listener_notify(listener);
}

/* --------------------------------------------------------------------------------------- all of them */

static bool is_same(const char *left, const char *right)
{
    return left && right ? strcmp(left, right) == 0 : left == right;
}

/* Notifies those that follow the key of a write to the session. */
static void notify_bucket(struct followers *followers, const ses_key *key, const ses_key *written)
{
    for (struct listener *at = *ses__followers_bucket(followers, key); at; at = at->next) {
        if (is_same(at->key.session, key->session) && is_same(at->key.user, key->user) &&
            (!at->key.app || is_same(at->key.app, key->app)))
            ses__listener_signal(at, written);
    }
}

void ses__followers_signal(struct followers *followers, const ses_key *key)
{
    const ses_key user = {key->app, key->user, NULL};
    const ses_key app = {key->app, NULL, NULL};

    (void)pthread_mutex_lock(&followers->lock);
    if (key->session) {
        notify_bucket(followers, key, key);
        notify_bucket(followers, &user, key);
        notify_bucket(followers, &app, key);
    } else {
        for (size_t i = 0; i < FOLLOWER_BUCKETS; i++) {
            for (struct listener *at = followers->buckets[i]; at; at = at->next) {
                if ((!key->app || !at->key.app || is_same(at->key.app, key->app)) &&
                    (!key->user || !at->key.user || is_same(at->key.user, key->user)))
                    ses__listener_signal(at, NULL);
            }
        }
    }
    (void)pthread_mutex_unlock(&followers->lock);
}

void ses__followers_interrupt(struct followers *followers, bool closes)
{
    (void)pthread_mutex_lock(&followers->lock);
    followers->closed = followers->closed || closes;
    for (size_t i = 0; i < FOLLOWER_BUCKETS; i++) {
        for (struct listener *at = followers->buckets[i]; at; at = at->next) {
            at->interrupted = true;
            (void)pthread_cond_signal(&at->wake);
            ses__listener_notify(at);
        }
    }
    (void)pthread_mutex_unlock(&followers->lock);
}

void ses__followers_stop(struct followers *followers)
{
    (void)pthread_mutex_lock(&followers->lock);
    followers->stops = true;
    (void)pthread_cond_signal(&followers->work);
    (void)pthread_mutex_unlock(&followers->lock);
    if (followers->started)
        (void)pthread_join(followers->thread, NULL);
    followers->started = false;
}

void ses__followers_free(struct followers *followers)
{
    const ses_allocator *allocator = &followers->store->allocator;

    (void)pthread_cond_destroy(&followers->work);
    (void)pthread_mutex_destroy(&followers->lock);
    ses__memory_free(allocator, followers);
}
