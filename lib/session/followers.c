#include "session/followers.h"

#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

struct listener **ses__followers_bucket(struct followers *followers, const ses_key *key)
{
    const uint32_t hash = ses__hash32_key(key);
    return &followers->buckets[(hash ^ hash >> 16) % FOLLOWER_BUCKETS];
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
    listener->state.fresh = true;
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

void ses__listener_signal(struct listener *listener, const char *session)
{
    struct notifications *notifications = &listener->notifications;
    const size_t size = session ? strlen(session) + 1 : 0;
    size_t at = 0;

    listener->notified = true;
    while (session && !notifications->all && at < notifications->len &&
           strcmp(notifications->names + at, session) != 0)
        at += strlen(notifications->names + at) + 1;
    if (!notifications->all && (!session || at == notifications->len)) {
        notifications->all = !session || size > sizeof notifications->names - notifications->len;
        if (!notifications->all) {
            memcpy(notifications->names + notifications->len, session, size);
            notifications->len += size;
        }
    }
    (void)pthread_cond_signal(&listener->wake);
    ses__listener_notify(listener);
}

/* --------------------------------------------------------------------------------------- all of them */

static bool is_same(const char *left, const char *right)
{
    return left && right ? strcmp(left, right) == 0 : left == right;
}

/* Notifies those that follow the key of a write to the session. */
static void notify_bucket(struct followers *followers, const ses_key *key, const char *session)
{
    for (struct listener *at = *ses__followers_bucket(followers, key); at; at = at->next) {
        if (is_same(at->key.session, key->session) && is_same(at->key.user, key->user) &&
            is_same(at->key.app, key->app))
            ses__listener_signal(at, session);
    }
}

void ses__followers_signal(struct followers *followers, const ses_key *key)
{
    const ses_key user = {key->app, key->user, NULL};

    (void)pthread_mutex_lock(&followers->lock);
    if (key->session) {
        notify_bucket(followers, key, key->session);
        notify_bucket(followers, &user, key->session);
    } else {
        for (size_t i = 0; i < FOLLOWER_BUCKETS; i++) {
            for (struct listener *at = followers->buckets[i]; at; at = at->next) {
                if ((!key->app || is_same(at->key.app, key->app)) &&
                    (!key->user || is_same(at->key.user, key->user)))
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
