/* Whether what followers wait for has happened. */
#include "storage/sql/rows/session.h"
#include "storage/sqlite/parts.h"

/* The version of the data is another on each connection, which remembers its own. A connection that was not used for this
 * for some time may lead to a look too many, never to one too few. */
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
        item->changed = false;
        if (written || item->fresh)
            code = ses__watched_look(base, item, error);
    }
    if (code == SES_OK)
        db->watched = version;
    return code;
}

int ses__sqlite_watch(struct storage *storage, struct watch_op *op, ses_error *error)
{
    return ses__sqlite_run_watch(storage, run_watch, op, error);
}
