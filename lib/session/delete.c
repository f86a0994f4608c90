/* Deleting sessions, and users. */
#include "session/store.h"

static int delete_session(ses_store *store, const ses_key *key, const ses_call_options *options,
                          int64_t *deleted, ses_error *error)
{
    struct delete_op op = {.key = key};
    int code = ses__check_key(key, error);

    if (code == SES_OK)
        code = ses__check_call_options(options, error);
    if (code == SES_OK)
        code = store->storage->engine->delete_session(store->storage, &op, error);
    if (code == SES_OK && deleted)
        *deleted = op.deleted;
    return code;
}

int ses_delete(ses_store *store, const ses_key *key, const ses_call_options *options, int64_t *deleted,
               ses_error *error)
{
    int code = ses__store_begin(store, error);
    if (code != SES_OK)
        return code;
    code = delete_session(store, key, options, deleted, error);
    ses__store_end(store);
    return code;
}

static int delete_user(ses_store *store, struct delete_user_op *op, const ses_call_options *options,
                       ses_error *error)
{
    int code = ses__check_id(op->app, "app", error);
    if (code == SES_OK)
        code = ses__check_call_options(options, error);
    if (code == SES_OK)
        code = ses__check_id(op->user, "user", error);
    return code == SES_OK ? store->storage->engine->delete_user(store->storage, op, error) : code;
}

int ses_delete_user(ses_store *store, const char *app, const char *user, const ses_call_options *options,
                    int64_t *sessions, int64_t *state_keys, ses_error *error)
{
    struct delete_user_op op = {.app = app, .user = user};
    int code = ses__store_begin(store, error);
    if (code != SES_OK)
        return code;
    code = delete_user(store, &op, options, error);
    ses__store_end(store);
    if (code == SES_OK && sessions)
        *sessions = op.sessions;
    if (code == SES_OK && state_keys)
        *state_keys = op.state_keys;
    return code;
}
