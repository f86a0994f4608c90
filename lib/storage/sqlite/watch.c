/* Whether the state that followers wait for has changed. */
#include "storage/sql/rows/session.h"
#include "storage/sqlite/parts.h"

/* The version of the data differs between connections, since each counts for itself. A connection that was
 * not used for this for some time may lead to a look too many, never to one too few. */
static int run_watch(struct db *base, void *context, ses_error *error)
{
    struct connection *db = ses__connection_of(base);
    const struct watch_op *op = context;
    int64_t version = 0;
    int code = ses__query_number(base, STATEMENT_DATA_VERSION, &version, error, NULL);
    const bool written = version != db->watched;

    db->watched = 0; /* unless all of it was looked at */
    for (size_t i = 0; i < op->count && code == SES_OK; i++) {
        struct watched *item = &op->items[i];
        struct query query;
        item->changed = false;
        item->written = false;
        if (!written && !item->fresh)
            continue;
        if (item->is_wide) {
            code = ses__watch_recent(base, item, error);
            continue;
        }
        if (item->app) {
            ses__query_open(&query, base, STATEMENT_USER_VERSIONS, error,
                            VALUES(STRING(item->app), STRING(item->user)));
            /* Without sessions there are NULLs, which are 0. */
            item->changed = !ses__query_row(&query) || ses__query_int(&query, 0) != item->session_id ||
                            ses__query_int(&query, 1) != item->count ||
                            ses__query_int(&query, 2) != item->versions;
        } else {
            ses__query_open(&query, base, STATEMENT_SESSION_VERSION, error, VALUES(INT(item->session_id)));
            item->changed = !ses__query_row(&query) || ses__query_int(&query, 0) != item->versions;
        }
        code = ses__query_end(&query);
    }
    if (code == SES_OK)
        db->watched = version;
    return code;
}

int ses__sqlite_watch(struct storage *storage, struct watch_op *op, ses_error *error)
{
    return ses__sqlite_run_watch(storage, run_watch, op, error);
}
