/* Follows the events of a session, or of the sessions of a user, an app or a store, as they are appended. */
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "model/event/timestamp.h"
#include "session/follow/follower.h"

/* A page is full with this many events, or this many bytes. */
enum { FOLLOWED_EVENTS = 64, FOLLOWED_BYTES = 256 * 1024 };

/* -------------------------------------------------------------------------------------------- reading */

/* It follows an app or the store. */
static bool is_wide(const ses_follower *follower)
{
    return !follower->key.user;
}

/* Reads the first page, or the next; with `op.told`, only these sessions. A round over a user's sessions
 * takes one or more pages. Only a round of one page cannot have missed anything. */
static int read_followed(ses_follower *follower, ses_error *error)
{
    struct follow_op *op = &follower->op;
    const bool begins = follower->after[0] == '\0' && op->after_id == 0;

    follower->is_whole = false; /* after a failure */
    op->known = follower->known.items;
    op->known_count = follower->known.count;
    op->after = follower->after;
    follower->item = 0;
    follower->event = 0;
    follower->event_of_item = 0;
    op->limits = LIMITS_OF(follower->store, *follower);
    int code = ses__door_follow(follower->store->storage, op, error);
    if (code != SES_OK) {
        op->count = 0;
        return code;
    }
    follower->at_end = begins && !op->more;
    follower->is_whole = follower->at_end;
    follower->after[0] = '\0';
    op->after_id = 0;
    if (op->more && op->count > 0 && is_wide(follower))
        op->after_id = op->told ? 0 : op->items[op->count - 1].place.session_id;
    else if (op->more && op->count > 0 && !follower->key.session)
        memcpy(follower->after, op->items[op->count - 1].name, strlen(op->items[op->count - 1].name) + 1);
    return SES_OK;
}

/* ------------------------------------------------------------------------------------------ opening */

static int check_follow_options(const ses_key *key, const ses_follow_options *options, ses_error *error)
{
    const int places =
        ((options->flags & SES_FOLLOW_NEW) != 0) + (options->after_seq != 0) + (options->place != NULL);

    if (places > 1)
        return ses__error_set(error, SES_MISUSE,
                              "follow options: SES_FOLLOW_NEW, after_seq and place contradict each other");
    if (!key->user && !(options->flags & SES_FOLLOW_NEW))
        return ses__error_set(error, SES_MISUSE,
                              "follow options: a follower of an app or the store has only new events, so it "
                              "needs SES_FOLLOW_NEW, and takes no place");
    if (options->after_seq != 0 && !key->session)
        return ses__error_set(error, SES_MISUSE,
                              "follow options: after_seq is only for a follower of one session");
    if (options->after_seq < 0)
        return ses__error_set(error, SES_INVALID, "follow options: after_seq is negative");
    return SES_OK;
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
    fresh->current = fresh->key;
    fresh->op = (struct follow_op){.key = &fresh->key,
                                   .max_events = FOLLOWED_EVENTS,
                                   .max_bytes = FOLLOWED_BYTES,
                                   .newest_us = TIMESTAMP_MIN,
                                   .allocator = &store->allocator,
                                   .arena = &fresh->arena,
                                   .events = &fresh->events};
    fresh->listener.key = fresh->key;
    fresh->listener.notify = options->notify;
    fresh->listener.context = options->notify_context;
    return ses__listener_join(store, &fresh->listener, error);
}

/* Records the place in the session, or in each of the user's sessions: the given one, or, if none are given,
 * the current end. A user's sessions that are not among the given places are new: all their events follow. */
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
        struct follow_place *place =
            ses__known_place(&follower->known, allocator, item->name, item->place.session_id);
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

static int begin_following(ses_follower *follower, const ses_follow_options *options, ses_error *error)
{
    if (!follower->key.session && !options->place && !(options->flags & SES_FOLLOW_NEW))
        return SES_OK; /* all of the user's sessions are new to it */
    follower->op.opens = true;
    int code = read_followed(follower, error);
    if (code == SES_OK && options->place)
        code = begin_after_place(follower, options->place, error);
    else if (code == SES_OK)
        code = know_items(follower, NULL, 0, error);
    if (code == SES_OK && !options->place && !(options->flags & SES_FOLLOW_NEW)) {
        struct follow_place *place = &follower->known.items[0].place;
        if (options->after_seq > place->seq)
            code = ses__error_set(error, SES_INVALID,
                                  "follow options: after_seq is %lld, but the last event has number %lld",
                                  (long long)options->after_seq, (long long)place->seq);
        else
            place->seq = options->after_seq;
    }
    follower->op.opens = false;
    follower->op.count = 0; /* nothing on the page, which may be large, will be given */
    follower->op.capacity = 0;
    ses__memory_free(&follower->store->allocator, follower->op.items);
    follower->op.items = NULL;
    follower->is_whole = false; /* events after a given place were not read */
    follower->after[0] = '\0';
    return code;
}

static int open_follower(ses_store *store, const ses_key *key, const ses_follow_options *given,
                         ses_follower **follower, ses_error *error)
{
    ses_follow_options options;
    ses_follower *fresh = NULL;
    int code = ses__check_argument(key, "key", error);

    if (code == SES_OK && key->session)
        code = ses__check_id(key->user, "user", error);
    if (code == SES_OK && (key->app || key->user))
        code = ses__check_owner(key->app, key->user, key->session, error);
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

/* ------------------------------------------------------------------------------------------- looking */

/* With fewer sessions, a look at all of them costs little. */
enum { MANY_SESSIONS = 32 };
/* Other processes do not announce their writes. Unless the poller reports that nothing else has changed, all
 * of a user's sessions are read again after this time. */
enum { BLIND_US = 250000 };

/* A look at all sessions of an app or the store is made again only after a rest of this many times as long.
 * Meanwhile only sessions are read that were updated lately: after the newest known event, and in some time
 * before it, since events may come with an older time. */
enum { REST = 50 };
static const int64_t RECENT_US = INT64_C(120000000);

/* Reads the sessions of an app or the store that may have changed: those that the listener was notified of,
 * where that is enough; otherwise those that are recent, or all if it is time. */
static int look_widely(ses_follower *follower, bool is_enough, ses_error *error)
{
    struct follow_op *op = &follower->op;
    const int64_t begun_us = ses__clock_steady_us();
    const int64_t now_us = ses__store_now(follower->store);
    const bool may_all =
        begun_us >= follower->due_us || !follower->store->is_shared || follower->known.count < MANY_SESSIONS;

    follower->is_stale = follower->is_stale || !is_enough;
    if (op->after_id == 0) {
        const bool all = follower->is_stale && may_all;
        op->told = is_enough && !all ? follower->notifications.names : NULL;
        op->told_len = follower->notifications.len;
        op->is_recent = !is_enough && !all;
        op->since_us = (now_us < op->newest_us ? now_us : op->newest_us) - RECENT_US;
        follower->is_stale = follower->is_stale && !all;
        follower->is_unsettled = false;
    } else if (follower->notifications.len > 0) {
        follower->is_unsettled = true; /* it may be about sessions that this round has passed */
    }
    if (op->told && op->told_len == 0) {
        follower->at_end = true;
        return SES_OK;
    }
    const int code = read_followed(follower, error);
    const int64_t end_us = ses__clock_steady_us();
    if (code != SES_OK || op->leaves_old)
        follower->due_us = 0;
    else if (!op->told && !op->is_recent)
        follower->due_us = end_us + (end_us - begun_us) * REST;
    follower->is_unsettled = follower->is_unsettled || op->more || code != SES_OK;
    follower->is_stale = follower->is_stale || op->lacks_told || op->leaves_old || code != SES_OK;
    if (op->lacks_told && may_all)
        follower->at_end = false; /* it was deleted, so all are read next */
    return code;
}

/* Reads the sessions that may have changed: those that the listener was notified of, if that is enough. A
 * call that does not wait, and is not notified either, must see what other processes have written. */
static int look_for_news(ses_follower *follower, bool first, int64_t timeout_ms, ses_error *error)
{
    struct follow_op *op = &follower->op;
    const bool is_watched = timeout_ms != 0 || follower->listener.notify;

    if (first || (follower->after[0] == '\0' && op->after_id == 0)) {
        const int64_t unchanged_us =
            ses__listener_begin(&follower->listener, first, &follower->notifications);
        if (unchanged_us > follower->whole_us)
            follower->whole_us = unchanged_us;
    }
    const int64_t now_us = ses__clock_steady_us();
    const bool knows_all =
        !follower->notifications.all &&
        (!first || !follower->store->is_shared || (is_watched && now_us - follower->whole_us < BLIND_US));
    const bool is_enough = !follower->key.session && knows_all &&
                           (is_wide(follower) ? !follower->is_unsettled
                                              : follower->is_whole && follower->known.count >= MANY_SESSIONS);
    if (!is_enough)
        follower->whole_us = now_us;
    if (is_wide(follower))
        return look_widely(follower, is_enough, error);
    op->told = is_enough ? follower->notifications.names : NULL;
    op->told_len = follower->notifications.len;
    if (is_enough && op->told_len == 0)
        return SES_OK; /* `at_end` still holds, and the page has nothing more to give */
    return read_followed(follower, error);
}

/* --------------------------------------------------------------------------------------------- giving */

static bool next_is_gone(const ses_follower *follower)
{
    return follower->item < follower->op.count && follower->op.items[follower->item].news == FOLLOW_GONE;
}

/* Gives the next event of the page, or reports that a session is gone or was reset. Returns SES_ROW,
 * SES_RESET, or SES_OK if the page holds nothing more. */
static int give_next(ses_follower *follower, const ses_event **event, ses_error *error)
{
    const ses_allocator *allocator = &follower->store->allocator;

    if (follower->is_lost) {
        follower->is_lost = false;
        return SES_RESET;
    }
    while (follower->item < follower->op.count) {
        const struct followed *item = &follower->op.items[follower->item];
        const size_t events = item->news == FOLLOW_EVENTS ? item->events : 0;
        const char *name = is_wide(follower) ? NULL : item->name; /* by which it is known */
        struct follow_place *place = NULL;
        if (item->news == FOLLOW_GONE) {
            ses__known_remove(&follower->known, allocator, name, item->place.session_id);
        } else {
            place = ses__known_place(&follower->known, allocator, name, item->place.session_id);
            if (!place)
                return ses__error_nomem(error);
            *place = item->place;
        }
        if (follower->event_of_item < events) {
            *event = follower->events.items[follower->event++];
            if (++follower->event_of_item < events)
                place->seq = (*event)->seq;
        }
        if (follower->event_of_item == events) {
            follower->item++;
            follower->event_of_item = 0;
        }
        if (item->news == FOLLOW_EVENTS && events == 0)
            continue;
        if (is_wide(follower) && item->news == FOLLOW_GONE && next_is_gone(follower))
            continue; /* one result for all of them */
        if (!follower->key.session)
            follower->current.session = item->name;
        if (is_wide(follower)) {
            follower->current.app = item->app ? item->app : follower->key.app;
            follower->current.user = item->user;
        }
        return item->news == FOLLOW_EVENTS ? SES_ROW : SES_RESET;
    }
    return SES_OK;
}

/* ------------------------------------------------------------------------------------------- waiting */

static struct watched state_of(const ses_follower *follower)
{
    if (!is_wide(follower))
        return ses__known_state(&follower->known, &follower->key);
    return (struct watched){.is_wide = true,
                            .app = follower->key.app,
                            .since_us = follower->op.since_us,
                            .due_us = follower->due_us,
                            .written = follower->is_stale};
}

/* Reads pages until one holds something. If there is nothing, waits. */
static int next_news(ses_follower *follower, int64_t timeout_ms, const ses_event **event, ses_error *error)
{
    const struct limits limits = {.cancel = follower->cancel};
    const int64_t now_us = ses__clock_steady_us();
    const int64_t deadline_us = timeout_ms == 0 ? INT64_MIN
                                : timeout_ms < 0 || timeout_ms > (INT64_MAX - 1 - now_us) / 1000
                                    ? INT64_MAX
                                    : now_us + timeout_ms * 1000;
    enum listener_end end = LISTENER_NOTIFIED;
    int result = give_next(follower, event, error);
    bool first = true;

    while (result == SES_OK && end == LISTENER_NOTIFIED) {
        result = look_for_news(follower, first, timeout_ms, error);
        first = false;
        if (result == SES_OK)
            result = give_next(follower, event, error);
        if (result == SES_OK && follower->at_end) {
            const struct watched state = state_of(follower);
            end = ses__listener_wait(&follower->listener, &state, &limits, deadline_us);
        }
    }
    return end == LISTENER_INTERRUPTED
               ? ses__error_set(error, SES_INTERRUPTED, "%s: waiting for events was interrupted",
                                follower->store->path)
               : result;
}

int ses_follower_next(ses_follower *follower, int64_t timeout_ms, const ses_event **event, ses_error *error)
{
    int result = ses__check_output(event, "event", error);

    if (result == SES_OK)
        result = ses__check_argument(follower, "follower", error);
    if (result == SES_OK)
        result = ses__store_begin(follower->store, error);
    if (result != SES_OK)
        return result;
    if (follower->is_deleted)
        return ses__store_end(follower->store, ses__no_such_session(&follower->key, error));
    follower->current = follower->key;
    result = next_news(follower, timeout_ms, event, error);
    follower->is_deleted = result == SES_NOTFOUND;
    return ses__store_end(follower->store, result);
}

const char *ses_follower_session(const ses_follower *follower)
{
    return follower->current.session;
}

const ses_key *ses_follower_key(const ses_follower *follower)
{
    return &follower->current;
}

const char *ses_follower_place(ses_follower *follower)
{
    if (!follower->is_lost && !is_wide(follower)) {
        ses__memory_free(&follower->store->allocator, follower->place);
        follower->place = ses__place_write(&follower->store->allocator, &follower->key, follower->known.items,
                                           follower->known.count);
    }
    return follower->place;
}

void ses_follower_wake(ses_follower *follower)
{
    if (follower->store->process == getpid())
        ses__listener_wake(&follower->listener);
}

void ses_follower_close(ses_follower *follower)
{
    if (follower) {
        ses_store *store = follower->store;
        /* A forked child has copies of the parent's locks, and no threads to notify. */
        if (follower->listener.home && store->process == getpid())
            ses__listener_leave(&follower->listener);
        ses__known_free(&follower->known, &store->allocator);
        ses__arena_free(&follower->arena);
        ses__arena_free(&follower->names);
        ses__memory_free(&store->allocator, follower->events.items);
        ses__memory_free(&store->allocator, follower->op.items);
        ses__memory_free(&store->allocator, follower->place);
        ses__memory_free(&store->allocator, follower);
        ses__store_release(store);
    }
}
