/* Reading a session, catching up, and reading only the state. */
#include "base/error.h"
#include "session/session.h"

int ses__begun_get(ses_store *store, const ses_key *key, const ses_get_options *given, ses_session **session,
                   ses_error *error)
{
    ses_get_options options;
    struct get_op op = {.key = key};
    ses_session *fresh = NULL;
    int code = ses__check_key(key, error);
    if (code == SES_OK)
        code = ses__take_options(&options, sizeof options, given, "get options", error);
    if (code == SES_OK)
        code = ses__range_take(options.range, &op.range, error);
    if (code == SES_OK)
        code = ses__session_new(store, key, &fresh, error);
    if (code != SES_OK)
        return code;
    op.snapshot = &fresh->snapshot;
    op.limits = LIMITS_OF(store, options);
    code = ses__door_get(store->storage, &op, error);
    if (code == SES_OK)
        *session = fresh;
    else
        ses_session_close(fresh);
    return code;
}

int ses_get(ses_store *store, const ses_key *key, const ses_get_options *options, ses_session **session,
            ses_error *error)
{
    int code = ses__store_begin_giving(store, session, "session", error);
    return code == SES_OK ? ses__store_end(store, ses__begun_get(store, key, options, session, error)) : code;
}

int ses_refresh(ses_session *session, const ses_call_options *options, ses_error *error)
{
    struct session_call call;
    int code = ses__call_begin(&call, ON(session), error);

    if (code != SES_OK)
        return code;
    struct refresh_op op = {.session = call.ref, .snapshot = call.snapshot};
    code = ses__take_call_options(call.store, options, &op.limits, error);
    if (code == SES_OK) {
        code = ses__door_refresh(call.store->storage, &op, error);
        if (code == SES_OK)
            ses__advance_apply(&op.advance);
        ses__advance_free(&op.advance);
    }
    return ses__call_end(&call, code);
}

/* -------------------------------------------------------------------------------------- only the state */

/* Reads the whole state, as a text for the caller. */
static int read_state(ses_store *store, const ses_key *key, const ses_call_options *options, char **json,
                      size_t *len, ses_error *error)
{
    struct snapshot snapshot;
    struct get_op op = {.key = key, .range = {.none = true}, .snapshot = &snapshot};
    struct span text = {NULL, 0};
    int code = ses__take_call_options(store, options, &op.limits, error);
    if (code == SES_OK)
        code = ses__check_key(key, error);
    if (code != SES_OK)
        return code;
    code = ses__snapshot_init(&snapshot, &store->allocator, store->seed, error);
    if (code == SES_OK)
        code = ses__door_get(store->storage, &op, error);
    if (code == SES_OK)
        code = ses__state_to_json(&snapshot.state, &text, error);
    char *copy = code == SES_OK ? ses__memory_text_of(&store->allocator, text) : NULL;
    if (code == SES_OK && !copy)
        code = ses__error_nomem(error);
    ses__snapshot_free(&snapshot);
    return ses__give_json(code, copy, text.len, json, len);
}

int ses_state_json_by_key(ses_store *store, const ses_key *key, const ses_call_options *options, char **json,
                          size_t *len, ses_error *error)
{
    int code = ses__store_begin_giving(store, json, "json", error);
    return code == SES_OK ? ses__store_end(store, read_state(store, key, options, json, len, error)) : code;
}
