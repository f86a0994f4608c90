/* Pages of sessions, with their state. */
#include <string.h>

#include "base/error.h"
#include "storage/sqlite/operations.h"
#include "storage/sqlite/rows.h"
#include "storage/sqlite/run.h"

/* The session of the page that shows the same user's state already; NULL: none yet. */
static const struct snapshot *find_shown(const struct list_op *op, int64_t user_id)
{
    for (size_t i = op->count; i > 0; i--) {
        if (op->items[i - 1].snapshot.row.user_id == user_id)
            return &op->items[i - 1].snapshot;
    }
    return NULL;
}

/* App and user state are read once a page and shared. */
static int load_state(const struct list_op *op, struct db *db, struct snapshot *snapshot, ses_error *error)
{
    const struct session_row *row = &snapshot->row;
    const struct snapshot *same_user = find_shown(op, row->user_id);
    int code = SES_OK;

    if (op->count > 0)
        ses__state_share(&snapshot->state, &op->items[0].snapshot.state, SCOPE_APP);
    else
        code = ses__load_scope(db, &snapshot->state, SCOPE_APP, row, error);
    if (code == SES_OK && same_user)
        ses__state_share(&snapshot->state, &same_user->state, SCOPE_USER);
    else if (code == SES_OK)
        code = ses__load_scope(db, &snapshot->state, SCOPE_USER, row, error);
    return code == SES_OK ? ses__load_scope(db, &snapshot->state, SCOPE_SESSION, row, error) : code;
}

static int fill_listed(const struct list_op *op, struct db *db, struct listed *listed, struct span name,
                       struct span user, ses_error *error)
{
    listed->name = ses__arena_text(op->arena, name.ptr, name.len);
    listed->user = ses__arena_text(op->arena, user.ptr, user.len);
    if (!listed->name || !listed->user)
        return ses__error_nomem(error);
    return load_state(op, db, &listed->snapshot, error);
}

static int add_listed(struct list_op *op, struct db *db, const struct session_row *row, struct span name,
                      struct span user, ses_error *error)
{
    const ses_allocator *allocator = op->arena->allocator;
    void *items = op->items;
    bool grown = ses__memory_grow(allocator, &items, &op->capacity, op->count + 1, sizeof *op->items);

    op->items = items;
    if (!grown)
        return ses__error_nomem(error);
    struct listed *listed = &op->items[op->count];
    int code = ses__snapshot_init(&listed->snapshot, allocator, op->seed, error);
    listed->snapshot.row = *row;
    if (code == SES_OK)
        code = fill_listed(op, db, listed, name, user, error);
    if (code == SES_OK)
        op->count++;
    else
        ses__snapshot_free(&listed->snapshot);
    return code;
}

static int read_list(struct list_op *op, struct db *db, const struct list_query *query, ses_error *error)
{
    struct list_rows rows;
    struct session_row row;
    struct span name;
    struct span user;
    int code = SES_OK;

    ses__list_rows_open(&rows, db, query, error);
    while (code == SES_OK && !op->more && ses__list_rows_next(&rows, &row, &name, &user)) {
        op->more = op->count == op->limit;
        if (!op->more)
            code = add_listed(op, db, &row, name, user, error);
    }
    int closed = ses__list_rows_close(&rows);
    return code != SES_OK ? code : closed;
}

static int run_list(struct db *db, void *context, ses_error *error)
{
    struct list_op *op = context;
    struct list_query query = {.whole_app = op->user == NULL,
                               .order = op->order,
                               .limit = (int64_t)op->limit + 1,
                               .from_start = op->from_start,
                               .after = op->after};
    struct user_row user = {0, 0};
    int code;

    ses__list_op_free(op, op->arena->allocator); /* of an earlier run */
    op->more = false;
    if (op->user) {
        code = ses__user_find(db, op->app, op->user, &user, error);
        query.user_id = user.id;
        query.app_id = user.app_id;
    } else {
        code = ses__app_find(db, op->app, &query.app_id, error);
    }
    if (code == SES_NOTFOUND)
        return SES_OK;
    return code == SES_OK ? read_list(op, db, &query, error) : code;
}

int ses__sqlite_list(struct storage *storage, struct list_op *op, ses_error *error)
{
    op->items = NULL;
    op->count = 0;
    op->capacity = 0;
    return ses__run_read(storage, run_list, op, error);
}
