/* The state of a session as it was: at a point of its log, and when it was created. */
#include "base/error.h"
#include "session/session.h"

/* `op` says which state of which session. */
static int read_as_of(ses_store *store, struct as_of_op *op, char **json, size_t *len, ses_error *error)
{
    int code = ses__check_argument(json, "json", error);

    if (code != SES_OK)
        return code;
    op->seed = store->seed;
    op->allocator = &store->allocator;
    code = store->storage->engine->as_of(store->storage, op, error);
    if (code != SES_OK) {
        ses_free(op->json);
        return code;
    }
    *json = op->json;
    if (len)
        *len = op->len;
    return SES_OK;
}

static int take_as_of(struct as_of_op *op, const ses_point *point, const ses_as_of_options *given,
                      ses_error *error)
{
    ses_as_of_options options;
    int code = ses__take_options(&options, sizeof options, given, "as-of options", error);

    if (code == SES_OK)
        code = ses__check_flags(options.flags, SES_AS_OF_SHARED, "as-of options", error);
    op->shared = (options.flags & SES_AS_OF_SHARED) != 0;
    return code == SES_OK ? ses__point_take(point, &op->point, error) : code;
}

int ses_state_json_as_of(ses_session *session, const ses_point *point, const ses_as_of_options *options,
                         char **json, size_t *len, ses_error *error)
{
    if (json)
        *json = NULL;
    int code = ses__session_begin(session, error);
    if (code != SES_OK)
        return code;
    const ses_key key = ses__session_key(session);
    struct as_of_op op = {.session = {&key, &session->snapshot.row}};
    code = take_as_of(&op, point, options, error);
    if (code == SES_OK)
        code = read_as_of(session->store, &op, json, len, error);
    ses__store_end(session->store);
    return code;
}

int ses_state_json_as_of_by_key(ses_store *store, const ses_key *key, const ses_point *point,
                                const ses_as_of_options *options, char **json, size_t *len, ses_error *error)
{
    struct as_of_op op = {.session = {key, NULL}};

    if (json)
        *json = NULL;
    int code = ses__store_begin(store, error);
    if (code != SES_OK)
        return code;
    code = ses__check_key(key, error);
    if (code == SES_OK)
        code = take_as_of(&op, point, options, error);
    if (code == SES_OK)
        code = read_as_of(store, &op, json, len, error);
    ses__store_end(store);
    return code;
}

int ses_state_json_initial(ses_session *session, const ses_call_options *options, char **json, size_t *len,
                           ses_error *error)
{
    if (json)
        *json = NULL;
    int code = ses__session_begin(session, error);
    if (code != SES_OK)
        return code;
    const ses_key key = ses__session_key(session);
    struct as_of_op op = {.session = {&key, &session->snapshot.row}, .initial = true};
    code = ses__check_call_options(options, error);
    if (code == SES_OK)
        code = read_as_of(session->store, &op, json, len, error);
    ses__store_end(session->store);
    return code;
}

int ses_state_json_initial_by_key(ses_store *store, const ses_key *key, const ses_call_options *options,
                                  char **json, size_t *len, ses_error *error)
{
    struct as_of_op op = {.session = {key, NULL}, .initial = true};

    if (json)
        *json = NULL;
    int code = ses__store_begin(store, error);
    if (code != SES_OK)
        return code;
    code = ses__check_key(key, error);
    if (code == SES_OK)
        code = ses__check_call_options(options, error);
    if (code == SES_OK)
        code = read_as_of(store, &op, json, len, error);
    ses__store_end(store);
    return code;
}
