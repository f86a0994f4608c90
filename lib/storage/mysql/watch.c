/*
 * Looks for changes that followers wait for. A server has no cheap counter of commits, so all watched
 * sessions and users are looked at, in one round trip, and then each watched app.
 */
#include "base/error.h"
#include "base/memory.h"
#include "storage/mysql/parts.h"
#include "storage/sql/rows/session.h"

static int run_watch(struct db *db, void *context, ses_error *error)
{
    const struct watch_op *op = context;
    struct query *queries = ses__memory_new(db->allocator, (op->count + 1) * sizeof *queries);
    int code = queries ? SES_OK : ses__error_nomem(error);

    for (size_t i = 0; i < op->count && code == SES_OK; i++) {
        const struct watched *item = &op->items[i];
        if (item->app && !item->is_wide)
            ses__query_open(&queries[i], db, STATEMENT_USER_VERSIONS, error,
                            VALUES(STRING(item->app), STRING(item->user)));
        else
            ses__query_open(&queries[i], db, STATEMENT_SESSION_VERSION, error,
                            VALUES(INT(item->is_wide ? 0 : item->session_id)));
    }
    ses__db_ask_last(db);
    for (size_t i = 0; i < op->count && code == SES_OK; i++) {
        /* A session that is gone has no row. A user without sessions has NULLs, which are read as 0. */
        struct watched *item = &op->items[i];
        const bool found = ses__query_row(&queries[i]);
        if (found && item->app)
            item->changed = ses__query_int(&queries[i], 0) != item->session_id ||
                            ses__query_int(&queries[i], 1) != item->count ||
                            ses__query_int(&queries[i], 2) != item->versions;
        else
            item->changed = !found || ses__query_int(&queries[i], 0) != item->versions;
        code = ses__query_end(&queries[i]);
    }
    ses__memory_free(db->allocator, queries);
    return code == SES_OK ? ses__watch_wide(db, op, error) : code;
}

int ses__mysql_watch(struct storage *storage, struct watch_op *op, ses_error *error)
{
    return ses__run(storage, TO_READ_BEFORE_WRITING, run_watch, op, error);
}
