/* Deletes sessions, users and apps. */
#include "base/error.h"
#include "session/followers.h"

static int take_delete_options(ses_store *store, const ses_delete_options *given, ses_delete_options *own,
                               struct erasure *erasure, ses_error *error)
{
    int code = ses__take_flagged(own, sizeof *own, given, SES_SECURE, "delete options", error);
    if (code == SES_OK && own->limit < 0)
        code = ses__error_set(error, SES_INVALID, "delete options: limit is negative");
    erasure->secure = (own->flags & SES_SECURE) != 0;
    erasure->limits = LIMITS_OF(store, *own);
    return code == SES_OK ? ses__receipt_begin(own->erased, erasure, error) : code;
}

/* Ends a call that has deleted sessions of the key, of whose names the last may be missing. */
static int end_deletion(ses_store *store, int code, const ses_key *key, bool more)
{
    if (code == SES_OK)
        ses__lease_queue_wake(&store->leases, key->session ? key : NULL);
    ses__followers_notify(store, code, key);
    return code == SES_OK && more ? SES_MORE : code;
}

static int delete_session(ses_store *store, const ses_key *key, const ses_delete_options *options,
                          int64_t *deleted, ses_error *error)
{
    struct delete_op op = {.key = key};
    ses_delete_options own;
    int code = ses__check_key(key, error);

    if (code == SES_OK)
        code = take_delete_options(store, options, &own, &op.erasure, error);
    if (code != SES_OK)
        return code;
    code = ses__door_delete_session(store->storage, &op, error);
    if (code == SES_OK && deleted)
        *deleted = op.deleted;
    if (code == SES_OK)
        ses__receipt_end(own.erased, &op.erasure);
    return end_deletion(store, code, key, op.erasure.unclean);
}

int ses_delete(ses_store *store, const ses_key *key, const ses_delete_options *options, int64_t *deleted,
               ses_error *error)
{
    int code = ses__store_begin(store, error);
    return code == SES_OK ? ses__store_end(store, delete_session(store, key, options, deleted, error)) : code;
}

static int delete_user(ses_store *store, struct delete_user_op *op, const ses_delete_options *options,
                       ses_error *error)
{
    ses_delete_options own;
    int code = ses__check_id(op->app, "app", error);

    if (code == SES_OK)
        code = ses__check_id(op->user, "user", error);
    if (code == SES_OK)
        code = take_delete_options(store, options, &own, &op->erasure, error);
    if (code != SES_OK)
        return code;
    const ses_key all = {op->app, op->user, NULL};
    code = ses__door_delete_user(store->storage, op, error);
    if (code == SES_OK)
        ses__receipt_end(own.erased, &op->erasure);
    return end_deletion(store, code, &all, op->erasure.unclean);
}

int ses_delete_user(ses_store *store, const char *app, const char *user, const ses_delete_options *options,
                    int64_t *sessions, int64_t *state_keys, ses_error *error)
{
    struct delete_user_op op = {.app = app, .user = user};
    int code = ses__store_begin(store, error);
    if (code == SES_OK)
        code = ses__store_end(store, delete_user(store, &op, options, error));
    if (code >= 0 && sessions)
        *sessions = op.sessions;
    if (code >= 0 && state_keys)
        *state_keys = op.state_keys;
    return code;
}

static int delete_app(ses_store *store, struct delete_app_op *op, const ses_delete_options *options,
                      ses_error *error)
{
    const int64_t default_limit = 100;
    ses_delete_options own;
    int code = ses__check_id(op->app, "app", error);

    if (code == SES_OK)
        code = take_delete_options(store, options, &own, &op->erasure, error);
    if (code != SES_OK)
        return code;
    op->limit = own.limit > 0 ? own.limit : default_limit;
    const ses_key all = {op->app, NULL, NULL};
    code = ses__door_delete_app(store->storage, op, error);
    if (code == SES_OK) /* no fork is in another app */
        ses__receipt_end(own.erased, &op->erasure);
    return end_deletion(store, code, &all, op->more || op->erasure.unclean);
}

int ses_delete_app(ses_store *store, const char *app, const ses_delete_options *options, int64_t *sessions,
                   ses_error *error)
{
    struct delete_app_op op = {.app = app};
    int code = ses__store_begin(store, error);
    if (code == SES_OK)
        code = ses__store_end(store, delete_app(store, &op, options, error));
    if (code >= 0 && sessions)
        *sessions = op.sessions;
    return code;
}
