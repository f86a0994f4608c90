#include "session/session.h"

#include <string.h>

#include "base/error.h"
#include "model/event/timestamp.h"
#include "session/handle.h"

/* -------------------------------------------------------------------------------------- life of a handle */

int ses__session_adopt(ses_store *store, const ses_key *key, struct snapshot *snapshot, ses_session **session,
                       ses_error *error)
{
    ses_session *fresh = ses__memory_zeroed(&store->allocator, sizeof *fresh);

    if (!fresh)
        return ses__error_nomem(error);
    fresh->store = store;
    ses__store_retain(store);
    fresh->references = 1;
    fresh->snapshot = *snapshot;
    *snapshot = (struct snapshot){.allocator = NULL};
    if (!ses__key_copy(key, &fresh->snapshot.arena, &fresh->key)) {
        ses_session_close(fresh);
        return ses__error_nomem(error);
    }
    *session = fresh;
    return SES_OK;
}

int ses__session_new(ses_store *store, const ses_key *key, ses_session **session, ses_error *error)
{
    struct snapshot snapshot;
    int code = ses__snapshot_init(&snapshot, &store->allocator, store->seed, error);

    if (code == SES_OK)
        code = ses__session_adopt(store, key, &snapshot, session, error);
    ses__snapshot_free(&snapshot); /* unless the handle has it */
    return code;
}

int ses__session_check(const ses_session *session, ses_error *error)
{
    int code = ses__check_argument(session, "session", error);
    if (code == SES_OK && session->closed)
        code = ses__error_set(error, SES_MISUSE, "the session handle is closed");
    if (code == SES_OK)
        ses__error_clear(error);
    return code;
}

void ses_session_close(ses_session *session)
{
    if (session && !session->closed) {
        session->closed = true;
        ses__session_release(session);
    }
}

void ses__session_retain(ses_session *session)
{
    if (session)
        session->references++;
}

void ses__session_release(ses_session *session)
{
    if (session && --session->references == 0) {
        ses_store *store = session->store;
        ses__memory_free(&store->allocator, session->invocation);
        ses__memory_free(&store->allocator, session->place);
        ses__snapshot_free(&session->snapshot);
        ses__memory_free(&store->allocator, session);
        ses__store_release(store);
    }
}

/* ---------------------------------------------------------------------------------- calls in two forms */

int ses__call_begin(struct session_call *call, const struct target *target, ses_error *error)
{
    ses_session *session = target->session;
    int code = target->by_key ? SES_OK : ses__session_check(session, error);

    if (code != SES_OK)
        return code;
    ses_store *store = target->by_key ? target->store : session->store;
    code = ses__store_begin_as(store, target->call, error);
    if (code != SES_OK)
        return code;
    if (target->by_key) {
        code = ses__check_key(target->key, error);
        if (code != SES_OK)
            return ses__store_end(store, code);
        *call = (struct session_call){.store = store, .key = *target->key};
        call->ref = (struct session_ref){&call->key, NULL};
    } else {
        *call = (struct session_call){
            .store = store, .session = session, .snapshot = &session->snapshot, .key = session->key};
        call->ref = (struct session_ref){&call->key, &session->snapshot.row};
    }
    return SES_OK;
}

int ses__call_take_version(struct session_call *call, unsigned flags, int64_t version, const char *what,
                           ses_error *error)
{
    const bool given = (flags & SES_AT_VERSION) != 0;

    call->anyway = (flags & SES_ANYWAY) != 0;
    call->checks_version = given || call->session;
    call->version = call->session ? call->snapshot->row.version : version;
    if (given && call->session)
        return ses__error_set(error, SES_MISUSE,
                              "%s: a version is only for calls by key; a handle has its own", what);
    if (given && call->anyway)
        return ses__error_set(error, SES_MISUSE,
                              "%s: the flags for a version and for any version contradict each other", what);
    return SES_OK;
}

/* ------------------------------------------------------------------------------------------ accessors */

ses_store *ses__session_store(const ses_session *session)
{
    return session->store;
}

const char *ses_session_app(const ses_session *session)
{
    return session->key.app;
}

const char *ses_session_user(const ses_session *session)
{
    return session->key.user;
}

const char *ses_session_id(const ses_session *session)
{
    return session->key.session;
}

int64_t ses_session_version(const ses_session *session)
{
    return session->snapshot.row.version;
}

int64_t ses_session_last_seq(const ses_session *session)
{
    return session->snapshot.row.last_seq;
}

int64_t ses_session_stored(const ses_session *session)
{
    return session->snapshot.row.event_count;
}

int ses__take_expiry(const int64_t *given, int64_t now_us, int64_t *expires_us, ses_error *error)
{
    if (!given)
        return SES_OK;
    if (*given <= now_us)
        return ses__error_set(
            error, SES_INVALID,
            "the time of expiry is not later than the store's clock: the session would expire at once");
    if (!ses__timestamp_holds_expiry(*given))
        return ses__error_set(error, SES_INVALID, "the time of expiry is outside the years 0 to 9999");
    *expires_us = *given;
    return SES_OK;
}

int64_t ses_session_created_us(const ses_session *session)
{
    return session->snapshot.row.created_us;
}

int64_t ses_session_updated_us(const ses_session *session)
{
    return session->snapshot.row.updated_us;
}

int64_t ses_session_expires_us(const ses_session *session)
{
    return session->snapshot.row.expires_us;
}

int64_t ses_session_base_seq(const ses_session *session)
{
    return session->snapshot.row.base_seq;
}

int ses_session_kind(const ses_session *session)
{
    return (int)ses__kind_of(session->snapshot.row.details);
}

const ses_key *ses_session_child_of(const ses_session *session)
{
    return session->snapshot.child_of;
}

const ses_key *ses_session_parent(const ses_session *session, int64_t *seq)
{
    if (seq && session->snapshot.parent)
        *seq = session->snapshot.parent_seq;
    return session->snapshot.parent;
}

size_t ses_session_event_count(const ses_session *session)
{
    return session->snapshot.events.count;
}

const ses_event *ses_session_event(const ses_session *session, size_t index)
{
    return index < session->snapshot.events.count ? session->snapshot.events.items[index] : NULL;
}

const ses_event *ses_session_newest_event(const ses_session *session)
{
    const size_t count = ses_session_event_count(session);
    return count > 0 ? ses_session_event(session, count - 1) : NULL;
}

const ses_event *ses_session_event_by_id(const ses_session *session, const char *id)
{
    const struct event_list *events = &session->snapshot.events;
    size_t at = events->count;

    while (at > 0 && strcmp(events->items[at - 1]->id, id) != 0)
        at--;
    return at > 0 ? events->items[at - 1] : NULL;
}
