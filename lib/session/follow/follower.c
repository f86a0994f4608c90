/* Follows the events of a session, or of a user's sessions, as they are appended. */
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "session/follow/follower.h"

/* -------------------------------------------------------------------------------------------- reading */

/* A round over a user's sessions takes one or more pages. Only a round of one page cannot have missed
 * anything. */
int ses__follower_read(ses_follower *follower, ses_error *error)
{
    struct follow_op *op = &follower->op;
    const bool begins = follower->after[0] == '\0';

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
    if (op->more && op->count > 0 && !follower->key.session)
        memcpy(follower->after, op->items[op->count - 1].name, strlen(op->items[op->count - 1].name) + 1);
    return SES_OK;
}

/* With fewer sessions, a look at all of them costs little. A user's sessions are all read again after that
 * time without the poller's word that nothing else has changed, because other processes do not tell what they
 * write. */
enum { MANY_SESSIONS = 32, BLIND_US = 250000 };

/* True if it is enough to look at the sessions that the listener was told of. A call that does not wait, and
 * that nobody calls when there is something, must see what other processes have written. */
static bool knows_where(const ses_follower *follower, bool first, int64_t timeout_ms)
{
    const bool is_watched = timeout_ms != 0 || follower->listener.notify;

    if (follower->key.session || !follower->is_whole || follower->told.all ||
        follower->known.count < MANY_SESSIONS)
        return false;
    return !first || !follower->store->is_shared ||
           (is_watched && ses__clock_steady_us() - follower->whole_us < BLIND_US);
}

static int look_for_news(ses_follower *follower, bool first, int64_t timeout_ms, ses_error *error)
{
    struct follow_op *op = &follower->op;

    if (first || follower->after[0] == '\0') {
        const int64_t unchanged_us = ses__listener_begin(&follower->listener, first, &follower->told);
        if (unchanged_us > follower->whole_us)
            follower->whole_us = unchanged_us;
    }
    op->told = knows_where(follower, first, timeout_ms) ? follower->told.names : NULL;
    op->told_len = follower->told.len;
    if (!op->told)
        follower->whole_us = ses__clock_steady_us();
    if (op->told && op->told_len == 0)
        return SES_OK; /* `at_end` still holds, and the page has nothing more to give */
    return ses__follower_read(follower, error);
}

/* --------------------------------------------------------------------------------------------- giving */

static void end_item(ses_follower *follower)
{
    follower->item++;
    follower->event_of_item = 0;
}

/* Gives the next event of the item; SES_OK: there is none. */
static int give_event(ses_follower *follower, struct follow_place *place, const ses_event **event)
{
    const struct followed *item = &follower->op.items[follower->item];

    *place = item->place;
    if (item->events == 0) {
        end_item(follower);
        return SES_OK;
    }
    *event = follower->events.items[follower->event++];
    if (++follower->event_of_item == item->events)
        end_item(follower);
    else
        place->seq = (*event)->seq;
    return SES_ROW;
}

static int give_item(ses_follower *follower, const ses_event **event, ses_error *error)
{
    const struct followed *item = &follower->op.items[follower->item];
    struct follow_place *place;

    if (item->news == FOLLOW_GONE) {
        ses__known_remove(&follower->known, &follower->store->allocator, item->name);
        end_item(follower);
        return SES_RESET;
    }
    place = ses__known_place(&follower->known, &follower->store->allocator, item->name);
    if (!place)
        return ses__error_nomem(error);
    if (item->news == FOLLOW_EVENTS)
        return give_event(follower, place, event);
    *place = item->place;
    end_item(follower);
    return SES_RESET;
}

/* Returns SES_ROW, SES_RESET, or SES_OK if the page holds nothing more. */
static int give_next(ses_follower *follower, const ses_event **event, ses_error *error)
{
    int result = SES_OK;

    if (follower->is_lost) {
        follower->is_lost = false;
        return SES_RESET;
    }
    while (result == SES_OK && follower->item < follower->op.count) {
        const char *name = follower->op.items[follower->item].name;
        result = give_item(follower, event, error);
        if (result > 0 && !follower->key.session)
            follower->session = name;
    }
    return result;
}

/* ------------------------------------------------------------------------------------------- waiting */

static int64_t deadline_after(int64_t timeout_ms)
{
    const int64_t now = ses__clock_steady_us();

    if (timeout_ms == 0)
        return INT64_MIN;
    if (timeout_ms < 0 || timeout_ms > (INT64_MAX - 1 - now) / 1000)
        return INT64_MAX;
    return now + timeout_ms * 1000;
}

/* Reads pages until one holds something. If there is nothing, waits. */
static int next_news(ses_follower *follower, int64_t timeout_ms, const ses_event **event, ses_error *error)
{
    const struct limits limits = {.cancel = follower->cancel};
    const int64_t deadline = deadline_after(timeout_ms);
    enum listener_end end = LISTENER_NOTIFIED;
    int result = give_next(follower, event, error);
    bool first = true;

    while (result == SES_OK && end == LISTENER_NOTIFIED) {
        result = look_for_news(follower, first, timeout_ms, error);
        first = false;
        if (result == SES_OK)
            result = give_next(follower, event, error);
        if (result == SES_OK && follower->at_end) {
            const struct watched state = ses__known_state(&follower->known, &follower->key);
            end = ses__listener_wait(&follower->listener, &state, &limits, deadline);
        }
    }
    return end == LISTENER_INTERRUPTED
               ? ses__error_set(error, SES_INTERRUPTED, "%s: waiting for events was interrupted",
                                follower->store->path)
               : result;
}

static int next_begun(ses_follower *follower, int64_t timeout_ms, const ses_event **event, ses_error *error)
{
    if (follower->is_deleted)
        return ses__no_such_session(&follower->key, error);
    if (!follower->key.session)
        follower->session = NULL;
    int result = next_news(follower, timeout_ms, event, error);
    follower->is_deleted = result == SES_NOTFOUND;
    return result;
}

int ses_follower_next(ses_follower *follower, int64_t timeout_ms, const ses_event **event, ses_error *error)
{
    int result = ses__check_output(event, "event", error);

    if (result == SES_OK)
        result = ses__check_argument(follower, "follower", error);
    if (result == SES_OK)
        result = ses__store_begin(follower->store, error);
    return result == SES_OK ? ses__store_end(follower->store, next_begun(follower, timeout_ms, event, error))
                            : result;
}

const char *ses_follower_session(const ses_follower *follower)
{
    return follower->session;
}

const char *ses_follower_place(ses_follower *follower)
{
    if (!follower->is_lost) {
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
