/* Takes back the events after a point of a log, and takes such a rewind back. */
#include <string.h>

#include "base/error.h"
#include "model/event/event.h"
#include "session/session.h"
#include "session/followers.h"
#include "session/temp.h"

/* The prefix is the ADK's, as is the form of the event. */
static const char INVOCATION_PREFIX[] = "e-";

struct rewind_call {
    struct session_call *at;
    char event_id[SES_ID_MAX + 1];
    char invocation_id[sizeof INVOCATION_PREFIX + SES_ID_MAX];
    struct rewind_op op;
};

/* How deep `actions.artifactDelta` is nested in an event. */
enum { ARTIFACTS_DEPTH = 2 };

static int take_artifacts(struct rewind_call *call, const ses_rewind_options *options, ses_error *error)
{
    struct span *artifacts = &call->op.artifact_delta;
    struct json_reader reader;
    int code = ses__check_text(call->at->store, options->artifact_delta, options->artifact_delta_len,
                               "artifact_delta", artifacts, error);

    if (code == SES_OK)
        code = ses__json_start_object(&reader, *artifacts, "it", error);
    if (code == SES_OK)
        code = ses__json_check_within(artifacts->ptr, artifacts->len, ARTIFACTS_DEPTH, NULL, error);
    if (code != SES_OK && error) {
        ses__error_prefix(error, "rewind options: `artifact_delta`: ");
        error->offset = -1; /* it would be taken for an offset in the event */
    }
    return code;
}

static int take_rewind_options(struct rewind_call *call, const ses_rewind_options *given, ses_error *error)
{
    struct append_op *append = &call->op.append;
    ses_rewind_options options;
    int code = ses__take_flagged(&options, sizeof options, given, SES_ANYWAY | SES_AT_VERSION,
                                 "rewind options", error);
    if (code == SES_OK)
        code = ses__call_take_version(call->at, options.flags, options.version, "rewind options", error);
    if (code != SES_OK)
        return code;
    append->limits = LIMITS_OF(call->at->store, options);
    append->anyway = call->at->anyway;
    append->checks_version = call->at->checks_version;
    append->version = call->at->version;
    return options.artifact_delta ? take_artifacts(call, &options, error) : SES_OK;
}

/* Prepares everything that the new event needs from above the door. */
static int prepare_event(struct rewind_call *call, ses_error *error)
{
    const size_t prefix_len = sizeof INVOCATION_PREFIX - 1;
    ses_store *store = call->at->store;
    int code = ses__store_make_id(store, call->event_id, error);

    memcpy(call->invocation_id, INVOCATION_PREFIX, sizeof INVOCATION_PREFIX);
    if (code == SES_OK)
        code = ses__store_make_id(store, call->invocation_id + prefix_len, error);
    call->op.event_id = call->event_id;
    call->op.invocation_id = call->invocation_id;
    return code;
}

/* The caller gets the id even if it is not known whether the event is stored. */
static void fill_result(struct rewind_call *call, int code)
{
    const size_t len = strlen(call->event_id);
    ses_appended *result = &call->op.result;

    if (code == SES_UNKNOWN)
        *result = (ses_appended){.status = SES_UNKNOWN};
    if (result->status != SES_UNCHANGED && len < sizeof result->made_id)
        memcpy(result->made_id, call->event_id, len + 1);
    if (code == SES_OK) {
        result->version = call->op.append.row.version;
        result->updated_us = call->op.append.row.updated_us;
    }
}

/* The event begins another invocation, so the temp: values of the last one end. */
static int store_rewind(struct rewind_call *call, ses_error *error)
{
    struct rewind_op *op = &call->op;
    struct event_draft draft;
    struct temp_update temp;

    ses__event_draft_init(&draft, &call->at->store->allocator);
    draft.row.invocation_id = (struct span){call->invocation_id, strlen(call->invocation_id)};
    int code = ses__temp_stage(&temp, call->at->session, &draft, 1, error);
    if (code == SES_OK) {
        code = ses__door_rewind(call->at->store->storage, op, error);
        ses__followers_notify(call->at->store, code, &call->at->key);
        if (code == SES_OK && call->at->session) {
            ses__advance_apply(&op->append.advance);
            if (op->result.status == SES_OK)
                ses__temp_apply(&temp, 0);
        }
        ses__advance_free(&op->append.advance);
    }
    ses__temp_free(&temp);
    ses__event_draft_free(&draft);
    return code;
}

static int rewind_or_redo(struct session_call *at, const ses_point *point, bool redoes,
                          const ses_rewind_options *options, ses_appended *appended, ses_error *error)
{
    const int64_t now_us = ses__store_now(at->store);
    struct rewind_call call = {.at = at,
                               .op = {.redoes = redoes,
                                      .time_us = now_us,
                                      .seed = at->store->seed,
                                      .append = {.max_events = at->store->max_session_events,
                                                 .now_us = now_us,
                                                 .session = at->ref,
                                                 .snapshot = at->snapshot}}};
    int code = redoes ? SES_OK : ses__point_take(point, &call.op.point, error);

    if (code == SES_OK)
        code = take_rewind_options(&call, options, error);
    if (code == SES_OK)
        code = prepare_event(&call, error);
    if (code == SES_OK)
        code = store_rewind(&call, error);
    if (code != SES_OK && code != SES_UNKNOWN)
        return code;
    fill_result(&call, code);
    if (appended)
        *appended = call.op.result;
    return code == SES_OK ? call.op.result.status : code;
}

/* -------------------------------------------------------------------------------------------- the calls */

static int rewind_log(const struct target *target, const ses_point *point, bool redoes,
                      const ses_rewind_options *options, ses_appended *appended, ses_error *error)
{
    struct session_call call;
    const int code = ses__call_begin(&call, target, error);

    return code == SES_OK
               ? ses__call_end(&call, rewind_or_redo(&call, point, redoes, options, appended, error))
               : code;
}

int ses_rewind(ses_session *session, const ses_point *point, const ses_rewind_options *options,
               ses_appended *appended, ses_error *error)
{
    return rewind_log(ON(session), point, false, options, appended, error);
}

int ses_rewind_by_key(ses_store *store, const ses_key *key, const ses_point *point,
                      const ses_rewind_options *options, ses_appended *appended, ses_error *error)
{
    return rewind_log(AT(store, key), point, false, options, appended, error);
}

int ses_redo(ses_session *session, const ses_rewind_options *options, ses_appended *appended,
             ses_error *error)
{
    return rewind_log(ON(session), NULL, true, options, appended, error);
}

int ses_redo_by_key(ses_store *store, const ses_key *key, const ses_rewind_options *options,
                    ses_appended *appended, ses_error *error)
{
    return rewind_log(AT(store, key), NULL, true, options, appended, error);
}
