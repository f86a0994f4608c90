/* Opens followers, and finds where they begin. */
#include <string.h>

#include "base/error.h"
#include "session/follow/follower.h"

/* A page is full with this many events, or this many bytes. */
enum { FOLLOWED_EVENTS = 64, FOLLOWED_BYTES = 256 * 1024 };

/* ----------------------------------------------------------------------------------------- arguments */

static int check_follow_options(const ses_key *key, const ses_follow_options *options, ses_error *error)
{
    const int places =
        ((options->flags & SES_FOLLOW_NEW) != 0) + (options->after_seq != 0) + (options->place != NULL);

    if (places > 1)
        return ses__error_set(error, SES_MISUSE,
                              "follow options: SES_FOLLOW_NEW, after_seq and place contradict each other");
    if (options->after_seq != 0 && !key->session)
        return ses__error_set(error, SES_MISUSE,
                              "follow options: after_seq is only for a follower of one session");
    if (options->after_seq < 0)
        return ses__error_set(error, SES_INVALID, "follow options: after_seq is negative");
    return SES_OK;
}

static int check_followed(const ses_key *key, ses_error *error)
{
    int code = ses__check_argument(key, "key", error);

    if (code == SES_OK)
        code = ses__check_id(key->user, "user", error);
    return code == SES_OK ? ses__check_owner(key->app, key->user, key->session, error) : code;
}

static int follower_new(ses_store *store, const ses_key *key, const ses_follow_options *options,
                        ses_follower **follower, ses_error *error)
{
    ses_follower *fresh = ses__memory_zeroed(&store->allocator, sizeof *fresh);

    if (!fresh)
        return ses__error_nomem(error);
    fresh->store = store;
    fresh->timeout_ms = options->timeout_ms;
    fresh->cancel = options->cancel;
    ses__store_retain(store);
    ses__arena_init(&fresh->names, &store->allocator);
    ses__arena_init(&fresh->arena, &store->allocator);
    *follower = fresh;
    if (!ses__key_copy(key, &fresh->names, &fresh->key))
        return ses__error_nomem(error);
    fresh->session = fresh->key.session;
    fresh->op = (struct follow_op){.key = &fresh->key,
                                   .max_events = FOLLOWED_EVENTS,
                                   .max_bytes = FOLLOWED_BYTES,
                                   .allocator = &store->allocator,
                                   .arena = &fresh->arena,
                                   .events = &fresh->events};
    fresh->listener.key = fresh->key;
    fresh->listener.notify = options->notify;
    fresh->listener.context = options->notify_context;
    return ses__listener_join(store, &fresh->listener, error);
}

/* Notes the place in the session, or in each of the user's sessions: the given one, or, if none are given,
 * the current end. For a user, sessions that the places do not name are new: all their events will be
 * given. */
static int know_items(ses_follower *follower, const struct follow_place *places, size_t count,
                      ses_error *error)
{
    const ses_allocator *allocator = &follower->store->allocator;
    size_t found = 0;

    for (size_t i = 0; i < follower->op.count; i++) {
        const struct followed *item = &follower->op.items[i];
        const struct follow_place *given = count > 0 ? ses__place_find(places, count, &item->place) : NULL;
        if (places && !given && !follower->key.session)
            continue;
        struct follow_place *place = ses__known_place(&follower->known, allocator, item->name);
        if (!place)
            return ses__error_nomem(error);
        *place = given ? *given : item->place;
        found += given != NULL;
    }
    follower->is_lost = found < count;
    return SES_OK;
}

static int begin_after_place(ses_follower *follower, const char *text, ses_error *error)
{
    struct follow_place *places = NULL;
    size_t count = 0;
    int code = ses__place_read(&follower->store->allocator, &follower->key, text, &places, &count, error);

    if (code == SES_OK)
        code = know_items(follower, places, count, error);
    if (code == SES_OK && follower->is_lost) {
        follower->place = ses__memory_copy(&follower->store->allocator, text, strlen(text));
        code = follower->place ? SES_OK : ses__error_nomem(error);
    }
    ses__memory_free(&follower->store->allocator, places);
    return code;
}

static int begin_after_seq(ses_follower *follower, int64_t seq, ses_error *error)
{
    int code = know_items(follower, NULL, 0, error);

    if (code != SES_OK)
        return code;
    struct follow_place *place = &follower->known.items[0].place;
    if (seq > place->seq)
        return ses__error_set(error, SES_INVALID,
                              "follow options: after_seq is %lld, but the last event has number %lld",
                              (long long)seq, (long long)place->seq);
    place->seq = seq;
    return SES_OK;
}

static int begin_following(ses_follower *follower, const ses_follow_options *options, ses_error *error)
{
    int code = SES_OK;

    if (!follower->key.session && !options->place && !(options->flags & SES_FOLLOW_NEW))
        return SES_OK; /* all of the user's sessions are new to it */
    follower->op.opens = true;
    code = ses__follower_read(follower, error);
    if (code == SES_OK && options->place)
        code = begin_after_place(follower, options->place, error);
    else if (code == SES_OK && (options->flags & SES_FOLLOW_NEW))
        code = know_items(follower, NULL, 0, error);
    else if (code == SES_OK)
        code = begin_after_seq(follower, options->after_seq, error);
    follower->op.opens = false;
    follower->op.count = 0;     /* nothing on the page will be given */
    follower->is_whole = false; /* events after a given place were not read */
    follower->after[0] = '\0';
    return code;
}

static int open_follower(ses_store *store, const ses_key *key, const ses_follow_options *given,
                         ses_follower **follower, ses_error *error)
{
    ses_follow_options options;
    ses_follower *fresh = NULL;
    int code = check_followed(key, error);
    if (code == SES_OK)
        code = ses__take_flagged(&options, sizeof options, given, SES_FOLLOW_NEW, "follow options", error);
    if (code == SES_OK)
        code = check_follow_options(key, &options, error);
    if (code == SES_OK)
        code = follower_new(store, key, &options, &fresh, error);
    if (code == SES_OK)
        code = begin_following(fresh, &options, error);
    if (code == SES_OK)
        *follower = fresh;
    else
        ses_follower_close(fresh);
    return code;
}

int ses_follower_open(ses_store *store, const ses_key *key, const ses_follow_options *options,
                      ses_follower **follower, ses_error *error)
{
    int code = ses__store_begin_giving(store, follower, "follower", error);
    return code == SES_OK ? ses__store_end(store, open_follower(store, key, options, follower, error)) : code;
}
