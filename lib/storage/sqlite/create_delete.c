/* The beginning and the end of sessions. */
#include "base/error.h"
#include "storage/sqlite/operations.h"
#include "storage/sqlite/rows.h"
#include "storage/sqlite/run.h"

/* ------------------------------------------------------------------------------------------- creating */

int ses__refuse_existing(const ses_key *key, ses_error *error)
{
    return ses__error_set(error, SES_EXISTS,
                          "the session %.100s/%.100s/%.100s (app/user/session) already exists", key->app,
                          key->user, key->session);
}

static int run_create(struct db *db, void *context, ses_error *error)
{
    const struct create_op *op = context;
    struct session_row row;
    int code = ses__session_find(db, op->key, &row, error);
    bool exists = code == SES_OK;

    if (exists && !op->get_existing)
        return ses__refuse_existing(op->key, error);
    if (code == SES_NOTFOUND) {
        code = ses__session_add(db, op->key, op->created_us, op->expires_us, &row, error);
        if (code == SES_OK && op->initial.ptr)
            code = ses__details_add(db, row.id, op->initial, error);
        if (code == SES_OK)
            code = ses__delta_store(db, op->delta, &row, 0, error);
    }
    if (code == SES_OK && op->snapshot)
        code = ses__load_snapshot(db, op->snapshot, op->key, &row, &op->range, error);
    return code == SES_OK && exists ? SES_EXISTING : code;
}

/* Most calls that may create find the session there: they need not wait for the writer. */
static int run_find_existing(struct db *db, void *context, ses_error *error)
{
    const struct create_op *op = context;
    struct session_row row;
    int code = ses__session_find(db, op->key, &row, error);

    if (code == SES_OK && op->snapshot)
        code = ses__load_snapshot(db, op->snapshot, op->key, &row, &op->range, error);
    return code == SES_OK ? SES_EXISTING : code;
}

int ses__sqlite_create(struct storage *storage, struct create_op *op, ses_error *error)
{
    int result = SES_NOTFOUND;

    if (op->get_existing)
        result = ses__run_read_to_write(storage, run_find_existing, op, error);
    if (result == SES_NOTFOUND)
        result = ses__run_write(storage, run_create, op, op->initial.len, error);
    return result;
}

/* ------------------------------------------------------------------------------------------- deleting */

static int run_delete(struct db *db, void *context, ses_error *error)
{
    struct delete_op *op = context;
    struct session_row row;

    op->deleted = 0;
    int code = ses__session_find(db, op->key, &row, error);
    if (code == SES_NOTFOUND)
        return SES_OK;
    if (code == SES_OK)
        code = ses__session_check_key(db, row.id, op->key, error);
    if (code == SES_OK)
        code = ses__session_remove(db, row.id, error);
    op->deleted = 1;
    return code;
}

int ses__sqlite_delete(struct storage *storage, struct delete_op *op, ses_error *error)
{
    return ses__run_delete(storage, run_delete, op, 0, &op->erasure, error);
}

static int run_delete_user(struct db *db, void *context, ses_error *error)
{
    struct delete_user_op *op = context;
    struct user_row user;

    op->sessions = 0;
    op->state_keys = 0;
    int code = ses__user_find(db, op->app, op->user, &user, error);
    if (code == SES_NOTFOUND)
        return SES_OK;
    return code == SES_OK ? ses__user_remove(db, &user, &op->sessions, &op->state_keys, error) : code;
}

int ses__sqlite_delete_user(struct storage *storage, struct delete_user_op *op, ses_error *error)
{
    return ses__run_delete(storage, run_delete_user, op, 0, &op->erasure, error);
}
