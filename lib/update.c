/* Moving a handle forward: first made ready, then applied. */
#include <string.h>

#include "error.h"
#include "session.h"

int update_init(struct session_update *update, ses_session *session, ses_error *error)
{
    const ses_allocator *allocator = &session->store->allocator;
    *update = (struct session_update){.session = session, .row = session->row};
    arena_init(&update->arena, allocator);
    return state_init(&update->shared, allocator, session->store->seed, error);
}

void update_free(struct session_update *update)
{
    if (update->session) {
        const ses_allocator *allocator = &update->session->store->allocator;
        state_changes_free(&update->session->state, &update->changes);
        state_changes_free(&update->session->state, &update->temp);
        state_free(&update->shared);
        memory_free(allocator, update->events.items);
        memory_free(allocator, update->invocation);
        arena_free(&update->arena);
        update->session = NULL;
    }
}

static int add_event(struct session_update *update, const struct event_row *row, ses_error *error)
{
    bool ok =
        !update->session->keeps_events ||
        event_list_add(&update->events, &update->session->store->allocator, event_copy(&update->arena, row));
    return ok ? SES_OK : error_nomem(error);
}

/* An event that another writer stored. Its app and user changes may have been overwritten since. */
static int read_event(void *context, const struct event_row *row, ses_error *error)
{
    struct session_update *update = context;
    struct event_draft draft;
    int code = add_event(update, row, error);

    event_draft_init(&draft, &update->session->store->allocator);
    if (code == SES_OK) {
        code = event_read(&draft, row->body, error);
        if (code != SES_OK && code != SES_NOMEM)
            code = error_set(error, SES_CORRUPT, "the stored event %lld of session %.100s cannot be read",
                             (long long)row->seq, update->session->id);
    }
    if (code == SES_OK)
        code = state_stage(&update->session->state, &draft.delta, SCOPE_SESSION, SCOPE_SESSION,
                           &update->changes, error);
    event_draft_free(&draft);
    return code;
}

int update_read_events(struct session_update *update, struct db *db, int64_t last_seq, ses_error *error)
{
    const struct session_row *row = &update->session->row;
    return events_walk(db, row->id, row->last_seq + 1, last_seq, WALK_FORWARD, read_event, update, error);
}

int update_read_shared(struct session_update *update, struct db *db, ses_error *error)
{
    const struct session_row *row = &update->session->row;
    int code = state_load(&update->shared, db, SCOPE_APP, row->app_id, error);
    if (code == SES_OK)
        code = state_load(&update->shared, db, SCOPE_USER, row->user_id, error);
    update->reloads_shared = code == SES_OK;
    return code;
}

int update_add_temp(struct session_update *update, const struct event_draft *draft, ses_error *error)
{
    ses_session *session = update->session;
    const ses_allocator *allocator = &session->store->allocator;
    struct span next = draft->row.invocation_id;
    const char *current = update->invocation ? update->invocation : session->invocation;
    int code = SES_OK;

    if (!current || strlen(current) != next.len || memcmp(current, next.ptr, next.len) != 0) {
        char *copy = memory_new(allocator, next.len + 1);
        if (copy) {
            memcpy(copy, next.ptr, next.len);
            copy[next.len] = '\0';
            memory_free(allocator, update->invocation);
            update->invocation = copy;
            update->clears_temp = true;
            state_changes_free(&session->state, &update->temp);
        } else {
            code = error_nomem(error);
        }
    }
    if (code == SES_OK)
        code = state_stage(&session->state, &draft->delta, SCOPE_TEMP, SCOPE_TEMP, &update->temp, error);
    return code;
}

int update_add_event(struct session_update *update, const struct event_draft *draft, enum scope from,
                     ses_error *error)
{
    int code = add_event(update, &draft->row, error);
    if (code == SES_OK)
        code =
            state_stage(&update->session->state, &draft->delta, from, SCOPE_SESSION, &update->changes, error);
    if (code == SES_OK)
        code = update_add_temp(update, draft, error);
    return code;
}

int update_prepare(struct session_update *update, const struct session_row *row, ses_error *error)
{
    ses_session *session = update->session;
    void *items = session->events.items;
    bool ok = memory_grow(&session->store->allocator, &items, &session->events.capacity,
                          session->events.count + update->events.count, sizeof(ses_event *));

    session->events.items = items;
    update->row = *row;
    int code = ok ? SES_OK : error_nomem(error);
    if (code == SES_OK)
        code = state_reserve(&session->state, &update->changes, error);
    if (code == SES_OK)
        code = state_reserve(&session->state, &update->temp, error);
    return code;
}

void update_apply(struct session_update *update)
{
    ses_session *session = update->session;

    session->row = update->row;
    for (size_t i = 0; i < update->events.count; i++)
        session->events.items[session->events.count++] = update->events.items[i];
    arena_join(&session->arena, &update->arena);
    if (update->reloads_shared) {
        state_share(&session->state, &update->shared, SCOPE_APP);
        state_share(&session->state, &update->shared, SCOPE_USER);
    }
    if (update->clears_temp)
        state_clear(&session->state, SCOPE_TEMP);
    state_apply(&session->state, &update->changes);
    state_apply(&session->state, &update->temp);
    if (update->invocation) {
        memory_free(&session->store->allocator, session->invocation);
        session->invocation = update->invocation;
        update->invocation = NULL;
    }
}
