/* What followers wait for, and how much is stored: as a server has it. */
#include "storage/postgres/parts.h"
#include "storage/postgres/operations.h"
#include "storage/sql/operations.h"

/* A server keeps no number that rises with each commit and costs nothing to read: all are looked at. */
static int run_watch(struct db *db, void *context, ses_error *error)
{
    const struct watch_op *op = context;
    int code = SES_OK;

    for (size_t i = 0; i < op->count && code == SES_OK; i++) {
        op->items[i].changed = false;
        code = ses__watched_look(db, &op->items[i], error);
    }
    return code;
}

int ses__postgres_watch(struct storage *storage, struct watch_op *op, ses_error *error)
{
    return ses__run_read_to_write(storage, run_watch, op, error);
}

/* What is free is the server's to use again. */
static int run_space(struct db *db, void *context, ses_error *error)
{
    struct space_op *op = context;
    struct query query;

    op->free_bytes = 0;
    ses__query_start(&query, db, STATEMENT_SPACE, error);
    op->bytes = ses__query_row(&query) ? ses__query_int(&query, 0) : 0;
    return ses__query_end(&query);
}

int ses__postgres_space(struct storage *storage, struct space_op *op, ses_error *error)
{
    return ses__run_read(storage, run_space, op, error);
}
