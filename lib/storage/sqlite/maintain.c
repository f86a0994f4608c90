/* Upkeep on request: free pages, statistics, the log; and how much of a file is in use. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "storage/sqlite/parts.h"

/* `*more`: free pages are left. Those of a file that does not keep account of its pages (one that another
 * program made anew) cannot be given back, and what is damaged may not become less. */
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

static int add_statements(void *context, sqlite3_stmt *row, ses_error *error)
{
    struct buffer *statements = context;
    bool is_whole = true;

    for (int i = 0; i < sqlite3_column_count(row) && is_whole; i++) {
        const char *sql = (const char *)sqlite3_column_text(row, i);
        is_whole = sql != NULL;
        if (sql)
            ses__buffer_add(statements, sql, strlen(sql) + 1);
    }
    return is_whole && !statements->failed ? SES_OK : ses__error_nomem(error);
}

static int nothing_to_visit(void *context, sqlite3_stmt *row, ses_error *error)
{
    (void)context;
    (void)row;
    (void)error;
    return SES_OK;
}

/* Debian's 3.46.1 does so without the option. An SQLite without a list of its options has none of those that
 * are looked for, either. */
static int counts_indexes(struct connection *db, bool *counts, ses_error *error)
{
    enum { COUNTS_ALWAYS = 3046000 };
    int64_t is_used = 0;
    int code = SES_OK;

    if (sqlite3_libversion_number() < COUNTS_ALWAYS)
        code = ses__connection_read_int(
            db, "SELECT count(*) FROM temp.pragma_compile_options WHERE compile_options = 'ENABLE_STAT4'",
            &is_used, error);
    if (code == SES_CORRUPT) { /* there is no such list */
        ses__error_clear(error);
        code = SES_OK;
    }
    *counts = sqlite3_libversion_number() >= COUNTS_ALWAYS || is_used > 0;
    return code;
}

/*
 * ANALYZE reads at most 400 rows of each index. But it counts every row of a table that has no index of all
 * its rows, and with SQLITE_ENABLE_STAT4 every row of each index; and SQLite looks at no limit while it
 * counts. A damaged tree may lead in circles. So such tables, whose statistics are not kept, are left out,
 * and an index that will be counted is first walked along, which has a limit. (That would need the condition
 * of an index that has one, which is left out then.)
 */
static int analyze(struct connection *db, struct buffer *statements, ses_error *error)
{
    static const char tables[] =
        "SELECT printf('ANALYZE main.\"%w\"', t.name) FROM main.sqlite_schema AS t WHERE t.type = 'table' AND"
        " EXISTS (SELECT 1 FROM temp.pragma_index_list(t.name, 'main') AS i WHERE i.partial = 0)";
    static const char indexes[] =
        "SELECT printf('SELECT 1 FROM main.\"%w\" INDEXED BY \"%w\"', t.name, i.name),"
        " printf('ANALYZE main.\"%w\"', i.name)"
        " FROM main.sqlite_schema AS t, temp.pragma_index_list(t.name, 'main') AS i"
        " WHERE t.type = 'table' AND i.partial = 0";
    bool counts = false;
    int code = counts_indexes(db, &counts, error);

    if (code == SES_OK)
        code = ses__connection_visit(db, counts ? indexes : tables, add_statements, statements, error);

    for (size_t at = 0; at < statements->len && code == SES_OK; at += strlen(statements->data + at) + 1)
        code = ses__connection_visit(db, statements->data + at, nothing_to_visit, NULL, error);
    return code;
}

/*
 * Statistics of small tables are removed, because a table may grow, and with them SQLite would scan it
 * instead of searching it. SQLite would keep the old statistics of a table without an index in memory, so
 * those (another program has made them) are first set to a large number.
 */
static int refresh_statistics(struct connection *db, ses_error *error)
{
    struct buffer statements;
    int code = ses__connection_execute(db, "PRAGMA analysis_limit = 400", "bounding the analysis", error);

    ses__buffer_init(&statements, db->base.allocator);
    if (code == SES_OK)
        code = analyze(db, &statements, error);
    ses__buffer_free(&statements);
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
