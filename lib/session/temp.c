/* The current invocation of a handle, and the temp: values that it shows. */
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

int ses__temp_stage(struct temp_update *update, ses_session *session, const struct event_draft *drafts,
                    size_t count, ses_error *error)
{
    bool moves = false;
    int code = SES_OK;

    *update = (struct temp_update){.session = session};
    if (!session || count == 0)
        return SES_OK;
    update->steps = count == 1
                        ? &update->one
                        : ses__memory_zeroed(&session->store->allocator, count * sizeof *update->steps);
    if (!update->steps)
        return ses__error_nomem(error);
    update->count = count;
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

/* ------------------------------------------------------------------------------------------- the calls */

/* The ids of the ADK: "e-" and a UUID. */
#define MADE_PREFIX "e-"
enum { MADE_PREFIX_LEN = sizeof MADE_PREFIX - 1 };

static int begin_invocation(ses_session *session, const char *id, ses_error *error)
{
    const ses_allocator *allocator = &session->store->allocator;
    char made[MADE_PREFIX_LEN + SES_ID_MAX + 1] = MADE_PREFIX;
    int code = id ? SES_OK : ses__store_make_id(session->store, made + MADE_PREFIX_LEN, error);

    if (code == SES_OK)
        code = ses__check_id(id ? id : made, id ? "invocation" : "made", error);
    if (code != SES_OK || (id && session->invocation && strcmp(session->invocation, id) == 0))
        return code;
    char *copy = ses__memory_copy(allocator, id ? id : made, strlen(id ? id : made));
    if (!copy)
        return ses__error_nomem(error);
    ses__memory_free(allocator, session->invocation);
    session->invocation = copy;
    ses__state_clear(&session->snapshot.state, SCOPE_TEMP);
    return SES_OK;
}

int ses_invocation_begin(ses_session *session, const char *id, ses_error *error)
{
    struct session_call call;
    int code =
        ses__call_begin(&call, ON(session), error); /* closing waits for the callbacks that make the id */
    return code == SES_OK ? ses__call_end(&call, begin_invocation(session, id, error)) : code;
}

const char *ses_invocation_id(const ses_session *session)
{
    const char *id = session->invocation;
    return id && id[0] ? id : NULL; /* the events without an id share the empty one */
}

int ses_invocation_end(ses_session *session, ses_error *error)
{
    struct session_call call;
    int code = ses__call_begin(&call, ON(session), error);

    if (code != SES_OK)
        return code;
    ses__state_clear(&session->snapshot.state, SCOPE_TEMP);
    ses__memory_free(&session->store->allocator, session->invocation);
    session->invocation = NULL;
    return ses__call_end(&call, SES_OK);
}
