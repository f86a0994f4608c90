/* Upkeep on request: free pages, statistics, the log; and how much of a file is in use. */
#include <stdio.h>

#include "base/error.h"
#include "storage/sqlite/parts.h"

/* `*more`: free pages are left. Those of a file that does not keep account of its pages (one that another program made
 * anew) cannot be given back, and what is damaged may not become less. */
static int give_back_pages(struct connection *db, int64_t limit, bool *more, ses_error *error)
{
    char sql[64];
    int64_t before = 0;
    int64_t after = 0;
    int code = ses__connection_read_int(db, "PRAGMA freelist_count", &before, error);

    (void)snprintf(sql, sizeof sql, "PRAGMA incremental_vacuum(%lld)", (long long)limit);
    if (code == SES_OK && before > 0)
        code = ses__connection_execute(db, sql, "giving free pages back", error);
    if (code == SES_OK && before > 0)
        code = ses__connection_read_int(db, "PRAGMA freelist_count", &after, error);
    *more = after > 0 && after < before;
    return code;
}

/*
 * ANALYZE reads at most 400 rows of each index. Statistics of small tables are removed, because a table may
 * grow, and with them SQLite would scan it instead of searching it. SQLite would keep the old statistics of a
 * table without an index in memory, so those are first set to a large number.
 */
static int refresh_statistics(struct connection *db, ses_error *error)
{
    int code = ses__connection_execute(db, "PRAGMA analysis_limit = 400", "bounding the analysis", error);

    if (code == SES_OK)
        code = ses__query_do(&db->base, STATEMENT_ANALYZE, error, NULL);
    return code == SES_OK
               ? ses__connection_execute(db,
                                         "UPDATE main.sqlite_stat1 SET stat = '1000' WHERE idx IS NULL;"
                                         "DELETE FROM main.sqlite_stat1 WHERE CAST(stat AS INTEGER) < 1000;"
                                         "ANALYZE sqlite_schema;"
                                         "DELETE FROM main.sqlite_stat1 WHERE idx IS NULL",
                                         "keeping the statistics", error)
               : code;
}

static int run_maintain(struct db *base, void *context, ses_error *error)
{
    struct connection *db = ses__connection_of(base);
    struct maintain_op *op = context;
    int code = give_back_pages(db, op->limit, &op->more, error);

    return code == SES_OK ? refresh_statistics(db, error) : code;
}

int ses__sqlite_maintain(struct storage *storage, struct maintain_op *op, ses_error *error)
{
    struct sqlite *own = (struct sqlite *)storage;
    int code = ses__run_within(storage, &op->limits, TO_WRITE(0), run_maintain, op, error);

    if (code != SES_OK || own->config.checkpoint == SES_CHECKPOINT_EXTERNAL)
        return code;
    /* The file becomes shorter when the log is copied into it. */
    code = ses__wal_empty(own, &op->limits, error);
    if (code < 0 && ses__limits_passed(&op->limits)) { /* the rest of the work is done */
        ses__error_clear(error);
        code = SES_MORE;
    }
    op->more = op->more || code == SES_MORE;
    return code == SES_MORE ? SES_OK : code;
}

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
    return ses__run_within(storage, &op->limits, TO_READ, run_space, op, error);
}
