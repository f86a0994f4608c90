/* Shared state without a session: its rows name session 0 as the one that set them. */
#include "base/error.h"
#include "json/writer.h"
#include "storage/sql/session/jobs.h"
#include "storage/sql/rows/parts.h"

/* The app, and the user if one is given, as the owners of a session's state; makes them if `makes`.
 * SES_NOTFOUND (without a message). */
static int find_owner(struct db *db, const char *app, const char *user, bool makes, struct session_row *owner,
                      ses_error *error)
{
    struct user_row row;
    const int code =
        makes ? ses__owner_ensure(db, app, user, &row, error) : ses__owner_find(db, app, user, &row, error);

    *owner = (struct session_row){.app_id = row.app_id, .user_id = row.id};
    return code;
}

/* -------------------------------------------------------------------------------------------- reading */

/* All keys of the owner as an object; of an owner that is not there, an empty one. */
static int read_all_keys(struct shared_get_op *op, struct db *db, const struct session_row *owner, bool found,
                         ses_error *error)
{
    const enum scope scope = ses__scope_shared_by(op->user);
    struct key_order order = {.begun = false};
    struct query rows;
    struct buffer json;
    struct span key;
    struct span value;
    int code = SES_OK;

    ses__buffer_init_text(&json, op->allocator);
    ses__buffer_add_word(&json, "{");
    const size_t start = json.len;
    if (found) {
        ses__state_rows_open(&rows, db, scope, ses__scope_owner(scope, owner), error);
        while (ses__shared_rows_next(&rows, &order, &key, &value))
            ses__json_add_member(&json, start, key, value);
        code = ses__query_end(&rows);
    }
    ses__buffer_add_word(&json, "}");
    return ses__buffer_give(&json, code, &op->json, &op->len, error);
}

static int read_one_key(struct shared_get_op *op, struct db *db, const struct session_row *owner,
                        ses_error *error)
{
    const enum scope scope = ses__scope_shared_by(op->user);
    struct query rows;
    struct span key;
    struct span value;

    ses__state_row_open(&rows, db, scope, ses__scope_owner(scope, owner), ses__span_of(op->name), error);
    if (ses__state_rows_next(&rows, &key, &value)) {
        ses__query_keep(&rows, ses__state_check_value(op->name, value, error));
        if (rows.code == SES_OK && !(op->json = ses__memory_text_of(op->allocator, value)))
            rows.code = ses__error_nomem(error);
        op->len = value.len;
    }
    return ses__query_end(&rows);
}

static int run_get_shared(struct db *db, void *context, ses_error *error)
{
    struct shared_get_op *op = context;
    struct session_row owner;

    ses_free(op->json); /* of an earlier run */
    op->json = NULL;
    int code = find_owner(db, op->app, op->user, false, &owner, error);
    bool found = code == SES_OK;
    if (code != SES_OK && code != SES_NOTFOUND)
        return code;
    if (op->name)
        return found ? read_one_key(op, db, &owner, error) : SES_OK;
    return read_all_keys(op, db, &owner, found, error);
}

int ses__door_get_shared(struct storage *storage, struct shared_get_op *op, ses_error *error)
{
    op->json = NULL;
    op->len = 0;
    return ses__run_within(storage, &op->limits, TO_READ, run_get_shared, op, error);
}

/* ------------------------------------------------------------------------------------------- changing */

static int run_set_shared(struct db *db, void *context, ses_error *error)
{
    const struct shared_set_op *op = context;
    struct session_row owner;
    const char *changed = NULL;
    bool needs_owner = op->makes_owner;
    int code = find_owner(db, op->app, op->user, false, &owner, error);
    bool found = code == SES_OK;

    if (code != SES_OK && code != SES_NOTFOUND)
        return code;
    /* An owner that is not there has no rows. */
    code = ses__state_find_changed(db, op->expected, &owner, &changed, error);
    if (code == SES_OK && changed)
        code = ses__error_set(
            error, SES_STALE,
            "the shared key \"%.200s\" has changed since the caller read it: read it again and compute the value again",
            changed);
    for (size_t i = 0; i < op->delta->count; i++)
        needs_owner = needs_owner || !op->delta->ops[i].removes;
    if (code != SES_OK || (!found && !needs_owner))
        return code;
    if (!found)
        code = find_owner(db, op->app, op->user, true, &owner, error);
    return code == SES_OK ? ses__delta_store(db, op->delta, &owner, 0, error) : code;
}

int ses__door_set_shared(struct storage *storage, struct shared_set_op *op, ses_error *error)
{
    return ses__run_within(storage, &op->limits, TO_WRITE(op->bytes), run_set_shared, op, error);
}
