/* The space that a store takes on a server. */
#include "storage/postgres/parts.h"
#include "storage/sql/session/jobs.h"

/* The server reuses free space by itself. */
static int run_space(struct db *db, void *context, ses_error *error)
{
    struct space_op *op = context;

    op->free_bytes = 0;
    return ses__query_number(db, STATEMENT_SPACE, &op->bytes, error, NULL);
}

int ses__postgres_space(struct storage *storage, struct space_op *op, ses_error *error)
{
    return ses__run(storage, TO_READ, run_space, op, error);
}
