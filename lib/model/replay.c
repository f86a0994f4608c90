#include "model/replay.h"

#include "base/error.h"

int ses__replay_init(struct replay *replay, const ses_allocator *allocator, struct hash_seed seed,
                     bool shared, ses_error *error)
{
    *replay = (struct replay){.from = shared ? SCOPE_APP : SCOPE_SESSION};
    ses__arena_init(&replay->arena, allocator);
    ses__stored_event_init(&replay->event, &replay->arena);
    return ses__state_init(&replay->state, allocator, seed, error);
}

void ses__replay_free(struct replay *replay)
{
    ses__state_changes_free(&replay->state, &replay->changes);
    ses__state_changes_free(&replay->state, &replay->staged);
    ses__state_free(&replay->state);
    ses__stored_event_free(&replay->event);
    ses__arena_free(&replay->arena);
}

/* `checked`: the keys and values are known to be valid. */
static int apply(struct replay *replay, const struct delta *delta, int64_t seq, bool checked,
                 ses_error *error)
{
    struct state_changes *changes = &replay->changes;
    int code = ses__state_stage(&replay->state, delta, replay->from, SCOPE_SESSION, changes, error);

    for (size_t i = 0; i < changes->count; i++) {
        changes->entries[i]->seq = seq;
        changes->entries[i]->checked = checked;
    }
    if (code == SES_OK)
        code = ses__state_reserve(&replay->state, changes, error);
    if (code != SES_OK)
        return code;
    ses__state_apply_some(&replay->state, changes, 0, changes->count);
    changes->count = 0;
    return SES_OK;
}

int ses__replay_initial(struct replay *replay, struct span initial, ses_error *error)
{
    struct delta delta = {0};
    int code = SES_OK;

    if (!initial.ptr)
        return SES_OK;
    ses__arena_reset(&replay->arena);
    code = ses__delta_read_text(initial, 0, &replay->arena, &delta, error);
    if (code != SES_OK && code != SES_NOMEM)
        code = ses__error_set(error, SES_CORRUPT, "the stored initial state cannot be read");
    if (code == SES_OK)
        code = apply(replay, &delta, 0, true, error);
    ses__delta_free(&delta, replay->arena.allocator);
    return code;
}

int ses__replay_put(struct replay *replay, struct span name, struct span value, int64_t seq, ses_error *error)
{
    struct delta_op op = ses__delta_op(name, value);
    const struct delta delta = {&op, 1, 1};
    return apply(replay, &delta, seq, false, error);
}

bool ses__replay_has(const struct replay *replay, struct span name, struct span value)
{
    const struct state_entry *entry = ses__state_find(&replay->state, name);
    const struct span own = entry ? ses__state_entry_value(entry) : (struct span){NULL, 0};
    return own.ptr && ses__span_is(own, value);
}

int ses__replay_delta(struct replay *replay, const struct delta *delta, int64_t seq, ses_error *error)
{
    return delta->count > 0 ? apply(replay, delta, seq, true, error) : SES_OK;
}

int ses__replay_event(struct replay *replay, const struct event_row *row, ses_error *error)
{
    ses__arena_reset(&replay->arena);
    int code = ses__stored_event_read(&replay->event, row, STORED_DELTA, error);
    return code == SES_OK && replay->event.delta.count > 0
               ? apply(replay, &replay->event.delta, row->seq, true, error)
               : code;
}

int ses__replay_stage(struct replay *replay, const struct delta *delta, int64_t seq, ses_error *error)
{
    struct state_changes *staged = &replay->staged;
    size_t before = staged->count;
    int code = ses__state_stage(&replay->state, delta, replay->from, SCOPE_SESSION, staged, error);

    for (size_t i = before; i < staged->count; i++)
        staged->entries[i]->seq = seq;
    return code;
}

int ses__replay_apply_staged(struct replay *replay, int64_t seq, ses_error *error)
{
    struct state_changes *staged = &replay->staged;
    size_t end = 0;
    int code = ses__state_reserve(&replay->state, staged, error);

    while (end < staged->count && staged->entries[end]->seq <= seq)
        end++;
    if (code == SES_OK)
        ses__state_apply_some(&replay->state, staged, 0, end);
    return code;
}
