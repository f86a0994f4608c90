#include "session/session.h"

#include <string.h>

#include "base/error.h"

/* --------------------------------------------------------------------------------------------- events */

static char *put_text(char **to, struct span text)
{
    char *start = *to;
    if (text.len)
        memcpy(start, text.ptr, text.len);
    start[text.len] = '\0';
    *to = start + text.len + 1;
    return start;
}

ses_event *ses__event_copy(struct arena *arena, const struct event_row *row)
{
    size_t bytes =
        row->id.len + row->invocation_id.len + row->author.len + row->branch.len + row->body.len + 5;
    ses_event *event = ses__arena_new(arena, sizeof *event + bytes);

    if (event) {
        char *to = (char *)(event + 1);
        event->seq = row->seq;
        event->time_us = row->time_us;
        event->id = put_text(&to, row->id);
        event->invocation_id = put_text(&to, row->invocation_id);
        event->author = put_text(&to, row->author);
        event->branch = row->branch.ptr ? put_text(&to, row->branch) : NULL;
        event->json = put_text(&to, row->body);
        event->json_len = row->body.len;
    }
    return event;
}

bool ses__event_list_add(struct event_list *list, const ses_allocator *allocator, ses_event *event)
{
    void *items = list->items;
    bool ok = event != NULL &&
              ses__memory_grow(allocator, &items, &list->capacity, list->count + 1, sizeof(ses_event *));
    if (ok) {
        list->items = items;
        list->items[list->count++] = event;
    }
    return ok;
}

/* -------------------------------------------------------------------------------------- life of a handle */

static char *copy_id(ses_session *session, const char *id)
{
    return ses__arena_text(&session->arena, id, strlen(id));
}

int ses__session_new(ses_store *store, const ses_key *key, ses_session **session, ses_error *error)
{
    ses_session *fresh = ses__memory_zeroed(&store->allocator, sizeof *fresh);
    int code = fresh ? SES_OK : ses__error_nomem(error);

    if (code == SES_OK) {
        fresh->store = store;
        fresh->references = 1;
        ses__store_retain(store);
        ses__arena_init(&fresh->arena, &store->allocator);
        fresh->app = copy_id(fresh, key->app);
        fresh->user = copy_id(fresh, key->user);
        fresh->id = copy_id(fresh, key->session);
        code = ses__state_init(&fresh->state, &store->allocator, store->seed, error);
        if (code == SES_OK && (!fresh->app || !fresh->user || !fresh->id))
            code = ses__error_nomem(error);
        if (code == SES_OK)
            *session = fresh;
        else
            ses_session_close(fresh);
    }
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

int ses__session_enter(const ses_session *session, ses_error *error)
{
    int code = ses__session_check(session, error);
    return code == SES_OK ? ses__store_enter(session->store, error) : code;
}

void ses_session_close(ses_session *session)
{
    if (session && !session->closed) {
        session->closed = true;
        ses_session_release(session);
    }
}

void ses_session_retain(ses_session *session)
{
    if (session)
        session->references++;
}

void ses_session_release(ses_session *session)
{
    if (session && --session->references == 0) {
        ses_store *store = session->store;
        ses__state_free(&session->state);
        ses__memory_free(&store->allocator, session->invocation);
        ses__memory_free(&store->allocator, session->events.items);
        ses__arena_free(&session->arena);
        ses__memory_free(&store->allocator, session);
        ses__store_release(store);
    }
}

static int load_event(void *context, const struct event_row *row, ses_error *error)
{
    ses_session *session = context;
    if (row->seq > session->row.last_seq)
        return ses__error_set(error, SES_CORRUPT, "event %lld of session %.100s lies behind its last, %lld",
                              (long long)row->seq, session->id, (long long)session->row.last_seq);
    bool ok = ses__event_list_add(&session->events, &session->store->allocator,
                                  ses__event_copy(&session->arena, row));
    return ok ? SES_OK : ses__error_nomem(error);
}

int ses__session_load(ses_session *session, struct db *db, const struct session_row *row,
                      const struct range *range, ses_error *error)
{
    struct event_list *events = &session->events;

    session->row = *row;
    session->keeps_events = !range->none;
    events->count = 0; /* of an earlier run of the job */
    int code = ses__state_load(&session->state, db, SCOPE_APP, row->app_id, error);
    if (code == SES_OK)
        code = ses__state_load(&session->state, db, SCOPE_USER, row->user_id, error);
    if (code == SES_OK)
        code = ses__state_load(&session->state, db, SCOPE_SESSION, row->id, error);
    if (code == SES_OK)
        code = ses__range_walk(db, row->id, range, WALK_BACKWARD, load_event, session, error);
    for (size_t i = 0, j = events->count; i + 1 < j; i++) { /* they came newest first */
        ses_event *event = events->items[i];
        events->items[i] = events->items[--j];
        events->items[j] = event;
    }
    return code;
}

int ses__session_reload(const ses_session *session, struct db *db, struct session_row *row, ses_error *error)
{
    const struct session_row *own = &session->row;
    int code = ses__session_by_id(db, own->id, row, error);

    /* A log that has become shorter, or is another user's, is not the one the handle was read from. */
    if (code == SES_OK &&
        (row->user_id != own->user_id || row->app_id != own->app_id || row->last_seq < own->last_seq))
        code = ses__error_set(error, SES_CORRUPT, "the row of session number %lld has become another's",
                              (long long)own->id);
    return code;
}

/* ------------------------------------------------------------------------------------------ accessors */

int ses_session_is_open(const ses_session *session)
{
    return session && !session->closed;
}

ses_store *ses_session_store(const ses_session *session)
{
    return session->store;
}

const char *ses_session_app(const ses_session *session)
{
    return session->app;
}

const char *ses_session_user(const ses_session *session)
{
    return session->user;
}

const char *ses_session_id(const ses_session *session)
{
    return session->id;
}

int64_t ses_session_version(const ses_session *session)
{
    return session->row.version;
}

int64_t ses_session_last_seq(const ses_session *session)
{
    return session->row.last_seq;
}

int64_t ses_session_stored(const ses_session *session)
{
    return session->row.event_count;
}

int64_t ses_session_create_time(const ses_session *session)
{
    return session->row.created_us;
}

int64_t ses_session_update_time(const ses_session *session)
{
    return session->row.updated_us;
}

size_t ses_session_event_count(const ses_session *session)
{
    return session->events.count;
}

const ses_event *ses_session_event(const ses_session *session, size_t index)
{
    return index < session->events.count ? session->events.items[index] : NULL;
}
