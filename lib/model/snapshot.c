#include "model/snapshot.h"

#include "base/error.h"

int ses__snapshot_init(struct snapshot *snapshot, const ses_allocator *allocator, struct hash_seed seed,
                       ses_error *error)
{
    *snapshot = (struct snapshot){.allocator = allocator,
                                  .arena = {.allocator = allocator, .growth = ARENA_EXACT},
                                  .log = {.allocator = allocator, .growth = ARENA_PACKED}};
    ses__annotations_init(&snapshot->annotations, allocator);
    return ses__state_init(&snapshot->state, allocator, seed, error);
}

void ses__snapshot_free(struct snapshot *snapshot)
{
    ses__state_free(&snapshot->state);
    ses__memory_free(snapshot->allocator, snapshot->events.items);
    ses__annotations_free(&snapshot->annotations);
    ses__arena_free(&snapshot->log);
    ses__arena_free(&snapshot->arena);
}

void ses__snapshot_annotate(struct snapshot *snapshot, struct annotations *annotations)
{
    ses__annotations_free(&snapshot->annotations);
    snapshot->annotations = *annotations;
    ses__annotations_init(annotations, snapshot->allocator);
}

int ses__snapshot_begin_events(struct snapshot *snapshot, int64_t count, ses_error *error)
{
    enum { FEW = 4, MANY = 1024 }; /* a damaged row can promise any number */

    snapshot->events.count = 0; /* of an earlier run */
    ses__arena_free(&snapshot->log);
    snapshot->log.growth = count < FEW ? ARENA_EXACT : ARENA_PACKED;
    bool ok =
        ses__event_list_reserve(&snapshot->events, snapshot->allocator, count < MANY ? (size_t)count : MANY);
    return ok ? SES_OK : ses__error_nomem(error);
}

int ses__snapshot_add_event(struct snapshot *snapshot, const struct event_row *row, ses_error *error)
{
    if (row->seq > snapshot->row.last_seq)
        return ses__error_set(
            error, SES_CORRUPT, "event %lld of session number %lld comes after its last event, %lld",
            (long long)row->seq, (long long)snapshot->row.id, (long long)snapshot->row.last_seq);
    bool ok =
        ses__event_list_add(&snapshot->events, snapshot->allocator, ses__event_copy(&snapshot->log, row));
    return ok ? SES_OK : ses__error_nomem(error);
}

int ses__snapshot_end_events(struct snapshot *snapshot, ses_error *error)
{
    ses__event_list_reverse(&snapshot->events);
    return ses__event_list_trim(&snapshot->events, &snapshot->log) ? SES_OK : ses__error_nomem(error);
}

/* ------------------------------------------------------------------------------------------ advances */

int ses__advance_init(struct advance *advance, struct snapshot *snapshot, ses_error *error)
{
    *advance = (struct advance){.snapshot = snapshot,
                                .row = snapshot->row,
                                .arena = {.allocator = snapshot->allocator, .growth = ARENA_EXACT}};
    ses__annotations_init(&advance->annotations, snapshot->allocator);
    return ses__state_init(&advance->fresh, snapshot->allocator, snapshot->state.seed, error);
}

void ses__advance_free(struct advance *advance)
{
    struct snapshot *snapshot = advance->snapshot;

    if (snapshot) {
        ses__state_changes_free(&snapshot->state, &advance->changes);
        ses__state_free(&advance->fresh);
        ses__memory_free(snapshot->allocator, advance->events.items);
        ses__annotations_free(&advance->annotations);
        ses__arena_free(&advance->arena);
        advance->snapshot = NULL;
    }
}

static int add_event(struct advance *advance, const struct event_row *row, ses_error *error)
{
    const struct snapshot *snapshot = advance->snapshot;
    bool ok = !snapshot->keeps_events || ses__event_list_add(&advance->events, snapshot->allocator,
                                                             ses__event_copy(&advance->arena, row));
    return ok ? SES_OK : ses__error_nomem(error);
}

/* True if the snapshot knew of the event, but does not have it among its events. */
static bool was_left_out(const struct snapshot *snapshot, int64_t seq)
{
    const struct event_list *events = &snapshot->events;
    size_t low = 0;

    for (size_t high = events->count; low < high;) {
        const size_t middle = low + (high - low) / 2;
        if (events->items[middle]->seq < seq)
            low = middle + 1;
        else
            high = middle;
    }
    return seq <= snapshot->row.last_seq && (low == events->count || events->items[low]->seq != seq);
}

/* The event's app and user changes may have been overwritten since, so those scopes are read again. */
int ses__advance_read_event(struct advance *advance, const struct event_row *row, ses_error *error)
{
    struct snapshot *snapshot = advance->snapshot;
    struct event_draft draft;
    int code = SES_OK;

    if (!advance->restarts || !was_left_out(snapshot, row->seq))
        code = add_event(advance, row, error);
    if (code != SES_OK || advance->restarts) /* then all scopes are read again */
        return code;
    ses__event_draft_init(&draft, snapshot->allocator);
    code = ses__event_read(&draft, row->body, error);
    if (code != SES_OK && code != SES_NOMEM)
        code =
            ses__error_set(error, SES_CORRUPT, "the stored event %lld of session number %lld cannot be read",
                           (long long)row->seq, (long long)snapshot->row.id);
    if (code == SES_OK)
        code = ses__state_stage(&snapshot->state, &draft.delta, SCOPE_SESSION, SCOPE_SESSION,
                                &advance->changes, error);
    ses__event_draft_free(&draft);
    return code;
}

void ses__advance_restart(struct advance *advance, int64_t keep_seq)
{
    advance->restarts = true;
    advance->keep_seq = keep_seq;
}

int ses__advance_add_draft(struct advance *advance, const struct event_draft *draft, enum scope from,
                           ses_error *error)
{
    int code = add_event(advance, &draft->row, error);
    if (code != SES_OK || advance->restarts) /* then all scopes are read again */
        return code;
    return ses__state_stage(&advance->snapshot->state, &draft->delta, from, SCOPE_SESSION, &advance->changes,
                            error);
}

int ses__advance_prepare(struct advance *advance, const struct session_row *row, ses_error *error)
{
    struct snapshot *snapshot = advance->snapshot;
    struct event_list *events = &snapshot->events;
    bool ok = ses__memory_grow(snapshot->allocator, &events->items, &events->capacity,
                               events->count + advance->events.count, sizeof *events->items);

    advance->row = *row;
    return ok ? ses__state_reserve(&snapshot->state, &advance->changes, error) : ses__error_nomem(error);
}

static void drop_events(struct snapshot *snapshot, int64_t keep_seq)
{
    struct event_list *events = &snapshot->events;
    while (events->count > 0 && events->items[events->count - 1]->seq > keep_seq)
        events->count--;
}

void ses__advance_apply(struct advance *advance)
{
    struct snapshot *snapshot = advance->snapshot;

    snapshot->row = advance->row;
    if (advance->restarts)
        drop_events(snapshot, advance->keep_seq);
    for (size_t i = 0; i < advance->events.count; i++)
        snapshot->events.items[snapshot->events.count++] = advance->events.items[i];
    ses__arena_join(&snapshot->log, &advance->arena);
    if (advance->annotates)
        ses__snapshot_annotate(snapshot, &advance->annotations);
    for (enum scope scope = SCOPE_APP; scope < advance->loaded; scope++)
        ses__state_share(&snapshot->state, &advance->fresh, scope);
    ses__state_apply(&snapshot->state, &advance->changes);
}
