/* The space that a store takes on a server. */
#include "storage/postgres/parts.h"
#include "storage/sql/session/jobs.h"

/* The server reuses free space by itself. */
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
