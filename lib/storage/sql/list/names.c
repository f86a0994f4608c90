/* Pages of the names of apps and users. */
#include "base/error.h"
#include "storage/sql/rows/session.h"

static int add_listed_name(struct names_op *op, const struct name_rows *rows, ses_error *error)
{
    const char *name =
        LIST_GROW(op->allocator, op) ? ses__arena_text(op->arena, rows->last, rows->last_len) : NULL;

    if (!name)
        return ses__error_nomem(error);
    op->items[op->count++] = name;
    return SES_OK;
}

static int run_names(struct db *db, void *context, ses_error *error)
{
    struct names_op *op = context;
    struct name_rows rows;
    struct user_row app = {0, 0};
    int64_t id = 0;

    ses__arena_reset(op->arena);
    op->count = 0;
    op->more = false;
    int code = op->app ? ses__owner_find(db, op->app, NULL, &app, error) : SES_OK;
    if (code != SES_OK)
        return code == SES_NOTFOUND ? SES_OK : code;
    ses__name_rows_open(&rows, db, app.app_id, ses__span_of(op->after), ses__span_of(op->prefix),
                        (int64_t)op->limit + 1, error);
    while (!op->more && ses__name_rows_next(&rows, &id)) {
        op->more = op->count == op->limit;
        if (!op->more)
            ses__query_keep(&rows.query, add_listed_name(op, &rows, error));
    }
    return ses__query_end(&rows.query);
}

int ses__door_list_names(struct storage *storage, struct names_op *op, ses_error *error)
{
    return ses__run_within(storage, &op->limits, TO_READ_BEHIND, run_names, op, error);
}
