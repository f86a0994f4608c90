/* Moving a handle forward: first made ready, then applied. */
#include <string.h>

#include "base/error.h"
#include "session/session.h"

int ses__update_init(struct session_update *update, ses_session *session, ses_error *error)
{
    const ses_allocator *allocator = &session->store->allocator;
    *update = (struct session_update){.session = session, .row = session->row};
    ses__arena_init(&update->arena, allocator);
    return ses__state_init(&update->shared, allocator, session->store->seed, error);
}

void ses__update_free(struct session_update *update)
{
    if (update->session) {
        const ses_allocator *allocator = &update->session->store->allocator;
        ses__state_changes_free(&update->session->state, &update->changes);
        ses__state_changes_free(&update->session->state, &update->temp);
        ses__state_free(&update->shared);
        ses__memory_free(allocator, update->events.items);
        ses__memory_free(allocator, update->invocation);
        ses__arena_free(&update->arena);
        update->session = NULL;
    }
}

static int add_event(struct session_update *update, const struct event_row *row, ses_error *error)
{
    bool ok = !update->session->keeps_events ||
              ses__event_list_add(&update->events, &update->session->store->allocator,
                                  ses__event_copy(&update->arena, row));
    return ok ? SES_OK : ses__error_nomem(error);
}

/* An event that another writer stored. Its app and user changes may have been overwritten since. */
static int read_event(void *context, const struct event_row *row, ses_error *error)
{
    struct session_update *update = context;
    struct event_draft draft;
    int code = add_event(update, row, error);

    ses__event_draft_init(&draft, &update->session->store->allocator);
    if (code == SES_OK) {
        code = ses__event_read(&draft, row->body, error);
        if (code != SES_OK && code != SES_NOMEM)
            code =
                ses__error_set(error, SES_CORRUPT, "the stored event %lld of session %.100s cannot be read",
                               (long long)row->seq, update->session->id);
    }
    if (code == SES_OK)
        code = ses__state_stage(&update->session->state, &draft.delta, SCOPE_SESSION, SCOPE_SESSION,
                                &update->changes, error);
    ses__event_draft_free(&draft);
    return code;
}

int ses__update_read_events(struct session_update *update, struct db *db, int64_t last_seq, ses_error *error)
{
    const struct session_row *row = &update->session->row;
    return ses__events_walk(db, row->id, row->last_seq + 1, last_seq, WALK_FORWARD, read_event, update,
                            error);
}

int ses__update_read_shared(struct session_update *update, struct db *db, ses_error *error)
{
    const struct session_row *row = &update->session->row;
    int code = ses__state_load(&update->shared, db, SCOPE_APP, row->app_id, error);
    if (code == SES_OK)
        code = ses__state_load(&update->shared, db, SCOPE_USER, row->user_id, error);
    update->reloads_shared = code == SES_OK;
    return code;
}

int ses__update_add_temp(struct session_update *update, const struct event_draft *draft, ses_error *error)
{
    ses_session *session = update->session;
    const ses_allocator *allocator = &session->store->allocator;
    struct span next = draft->row.invocation_id;
    const char *current = update->invocation ? update->invocation : session->invocation;
    int code = SES_OK;

    if (!current || strlen(current) != next.len || memcmp(current, next.ptr, next.len) != 0) {
        char *copy = ses__memory_new(allocator, next.len + 1);
        if (copy) {
            memcpy(copy, next.ptr, next.len);
            copy[next.len] = '\0';
            ses__memory_free(allocator, update->invocation);
            update->invocation = copy;
            update->clears_temp = true;
            ses__state_changes_free(&session->state, &update->temp);
        } else {
            code = ses__error_nomem(error);
        }
    }
    if (code == SES_OK)
        code = ses__state_stage(&session->state, &draft->delta, SCOPE_TEMP, SCOPE_TEMP, &update->temp, error);
    return code;
}

int ses__update_add_event(struct session_update *update, const struct event_draft *draft, enum scope from,
                          ses_error *error)
{
    int code = add_event(update, &draft->row, error);
    if (code == SES_OK)
        code = ses__state_stage(&update->session->state, &draft->delta, from, SCOPE_SESSION, &update->changes,
                                error);
    if (code == SES_OK)
        code = ses__update_add_temp(update, draft, error);
    return code;
}

int ses__update_prepare(struct session_update *update, const struct session_row *row, ses_error *error)
{
    ses_session *session = update->session;
    void *items = session->events.items;
    bool ok = ses__memory_grow(&session->store->allocator, &items, &session->events.capacity,
                               session->events.count + update->events.count, sizeof(ses_event *));

    session->events.items = items;
    update->row = *row;
    int code = ok ? SES_OK : ses__error_nomem(error);
    if (code == SES_OK)
        code = ses__state_reserve(&session->state, &update->changes, error);
    if (code == SES_OK)
        code = ses__state_reserve(&session->state, &update->temp, error);
    return code;
}

void ses__update_apply(struct session_update *update)
{
    ses_session *session = update->session;

    session->row = update->row;
    for (size_t i = 0; i < update->events.count; i++)
        session->events.items[session->events.count++] = update->events.items[i];
    ses__arena_join(&session->arena, &update->arena);
    if (update->reloads_shared) {
        ses__state_share(&session->state, &update->shared, SCOPE_APP);
        ses__state_share(&session->state, &update->shared, SCOPE_USER);
    }
    if (update->clears_temp)
        ses__state_clear(&session->state, SCOPE_TEMP);
    ses__state_apply(&session->state, &update->changes);
    ses__state_apply(&session->state, &update->temp);
    if (update->invocation) {
        ses__memory_free(&session->store->allocator, session->invocation);
        session->invocation = update->invocation;
        update->invocation = NULL;
    }
}
