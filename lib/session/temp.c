#include "session/temp.h"

#include <string.h>

#include "base/error.h"

static bool is_invocation(const char *current, struct span id)
{
    return current && strlen(current) == id.len && memcmp(current, id.ptr, id.len) == 0;
}

static int stage_one(struct temp_update *update, struct temp_step *step, bool moves, ses_error *error)
{
    ses_session *session = update->session;
    const struct span id = step->draft->row.invocation_id;

    if (moves) {
        step->invocation = ses__memory_copy(&session->store->allocator, id.ptr, id.len);
        if (!step->invocation)
            return ses__error_nomem(error);
    }
    step->first = update->changes.count;
    int code = ses__state_stage(&session->snapshot.state, &step->draft->delta, SCOPE_TEMP, SCOPE_TEMP,
                                &update->changes, error);
    step->end = update->changes.count;
    return code;
}

static int make_steps(struct temp_update *update, size_t count, ses_error *error)
{
    update->steps = &update->one;
    if (count > 1)
        update->steps = ses__memory_zeroed(&update->session->store->allocator, count * sizeof *update->steps);
    if (!update->steps)
        return ses__error_nomem(error);
    update->count = count;
    return SES_OK;
}

int ses__temp_stage(struct temp_update *update, ses_session *session, const struct event_draft *drafts,
                    size_t count, ses_error *error)
{
    bool moves = false;

    *update = (struct temp_update){.session = session};
    if (!session || count == 0)
        return SES_OK;
    int code = make_steps(update, count, error);
    for (size_t i = 0; i < count && code == SES_OK; i++) {
        struct temp_step *step = &update->steps[i];
        step->draft = &drafts[i];
        if (!drafts[i].partial) {
            /* From the first event of another invocation on, the handle may move to any of the events. */
            moves = moves || !is_invocation(session->invocation, drafts[i].row.invocation_id);
            code = stage_one(update, step, moves, error);
        }
    }
    return code == SES_OK ? ses__state_reserve(&session->snapshot.state, &update->changes, error) : code;
}

void ses__temp_apply(struct temp_update *update, size_t index)
{
    struct temp_step *step = &update->steps[index];
    ses_session *session = update->session;
    struct state *state = &session->snapshot.state;

    if (step->invocation && !is_invocation(session->invocation, step->draft->row.invocation_id)) {
        ses__state_clear(state, SCOPE_TEMP);
        ses__memory_free(&session->store->allocator, session->invocation);
        session->invocation = step->invocation;
        step->invocation = NULL;
    }
    ses__state_apply_some(state, &update->changes, step->first, step->end);
}

void ses__temp_free(struct temp_update *update)
{
    if (update->session) {
        const ses_allocator *allocator = &update->session->store->allocator;
        ses__state_changes_free(&update->session->snapshot.state, &update->changes);
        for (size_t i = 0; i < update->count; i++)
            ses__memory_free(allocator, update->steps[i].invocation);
        if (update->steps != &update->one)
            ses__memory_free(allocator, update->steps);
    }
}
