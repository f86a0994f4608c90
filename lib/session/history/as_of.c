/* Reads the past state of a session: at a point of its log, or when it was created. */
#include "base/error.h"
#include "session/session.h"

static int read_state_of(struct session_call *call, struct as_of_op *op, char **json, size_t *len,
                         ses_error *error)
{
    const ses_store *store = call->store;

    op->session = call->ref;
    op->seed = store->seed;
    op->allocator = &store->allocator;
    const int code = ses__door_as_of(store->storage, op, error);
    return ses__give_json(code, op->json, op->len, json, len);
}

static int read_as_of(struct session_call *call, const ses_point *point, const ses_as_of_options *given,
                      char **json, size_t *len, ses_error *error)
{
    struct as_of_op op = {.initial = false};
    ses_as_of_options options;
    int code = ses__take_flagged(&options, sizeof options, given, SES_AS_OF_SHARED, "as-of options", error);
    if (code == SES_OK)
        code = ses__point_take(point, &op.point, error);
    op.shared = (options.flags & SES_AS_OF_SHARED) != 0;
    op.limits = LIMITS_OF(call->store, options);
    return code == SES_OK ? read_state_of(call, &op, json, len, error) : code;
}

int ses_state_json_as_of(ses_session *session, const ses_point *point, const ses_as_of_options *options,
                         char **json, size_t *len, ses_error *error)
{
    struct session_call call;
    int code = ses__check_output(json, "json", error);
    if (code == SES_OK)
        code = ses__call_begin(&call, ON(session), error);
    return code == SES_OK ? ses__call_end(&call, read_as_of(&call, point, options, json, len, error)) : code;
}

int ses_state_json_as_of_by_key(ses_store *store, const ses_key *key, const ses_point *point,
                                const ses_as_of_options *options, char **json, size_t *len, ses_error *error)
{
    struct session_call call;
    int code = ses__check_output(json, "json", error);
    if (code == SES_OK)
        code = ses__call_begin(&call, AT(store, key), error);
    return code == SES_OK ? ses__call_end(&call, read_as_of(&call, point, options, json, len, error)) : code;
}

static int read_initial_state(struct session_call *call, const ses_call_options *options, char **json,
                              size_t *len, ses_error *error)
{
    struct as_of_op op = {.initial = true};
    int code = ses__take_call_options(call->store, options, &op.limits, error);

    return code == SES_OK ? read_state_of(call, &op, json, len, error) : code;
}

int ses_state_json_initial(ses_session *session, const ses_call_options *options, char **json, size_t *len,
                           ses_error *error)
{
    struct session_call call;
    int code = ses__check_output(json, "json", error);
    if (code == SES_OK)
        code = ses__call_begin(&call, ON(session), error);
    return code == SES_OK ? ses__call_end(&call, read_initial_state(&call, options, json, len, error)) : code;
}

int ses_state_json_initial_by_key(ses_store *store, const ses_key *key, const ses_call_options *options,
                                  char **json, size_t *len, ses_error *error)
{
    struct session_call call;
    int code = ses__check_output(json, "json", error);
    if (code == SES_OK)
        code = ses__call_begin(&call, AT(store, key), error);
    return code == SES_OK ? ses__call_end(&call, read_initial_state(&call, options, json, len, error)) : code;
}
