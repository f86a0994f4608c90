/* How much of a file is in use. */
#include "storage/sqlite/parts.h"

static int run_space(struct db *base, void *context, ses_error *error)
{
    struct connection *db = ses__connection_of(base);
    struct space_op *op = context;
    int64_t page_bytes = 0;
    int64_t pages = 0;
    int64_t free_pages = 0;
    int code = ses__connection_read_int(db, "PRAGMA page_size", &page_bytes, error);

    if (code == SES_OK)
        code = ses__connection_read_int(db, "PRAGMA page_count", &pages, error);
    if (code == SES_OK)
        code = ses__connection_read_int(db, "PRAGMA freelist_count", &free_pages, error);
    op->bytes = pages * page_bytes;
    op->free_bytes = free_pages * page_bytes;
    return code;
}

int ses__sqlite_space(struct storage *storage, struct space_op *op, ses_error *error)
{
    return ses__run_read(storage, run_space, op, error);
}
