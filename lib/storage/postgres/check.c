/* A check of all rows, as of one moment. It changes nothing. Pages and indexes are the server's concern. */
#include "storage/sql/upkeep/check.h"

#include "base/error.h"
#include "base/memory.h"
#include "storage/postgres/parts.h"

typedef void visit_found(struct check *check, struct query *row);

/* Runs a statement that returns a row for each problem, up to a limit. */
static int visit_all(struct check *check, const struct statement *statement, visit_found *visit_one)
{
    struct query query;

    ses__query_open(&query, check->db, statement, &check->error, VALUES(INT(check->op->limit)));
    while (!check->ended && ses__query_row(&query))
        visit_one(check, &query);
    return ses__query_end(&query);
}

#define PUT_TEXT(row, column) (int)ses__query_text((row), (column)).len, ses__query_text((row), (column)).ptr

static void visit_column(struct check *check, struct query *row)
{
    ses__check_found(check, SES_PROBLEM_PAGE, 0,
                     "the table %.*s has no column %.*s of type %.*s with the right collation",
                     PUT_TEXT(row, 0), PUT_TEXT(row, 1), PUT_TEXT(row, 2));
}

static void visit_index(struct check *check, struct query *row)
{
    ses__check_found(check, SES_PROBLEM_INDEX, 0, "the index %.*s is missing, or not valid",
                     PUT_TEXT(row, 0));
}

static void visit_orphans(struct check *check, struct query *row)
{
    ses__check_found(
        check, SES_PROBLEM_REFERENCE, 0,
        "%lld rows of %.*s belong to row %lld of %.*s, which does not exist or is in another shard",
        (long long)ses__query_int(row, 3), PUT_TEXT(row, 0), (long long)ses__query_int(row, 2),
        PUT_TEXT(row, 1));
}

static void visit_shard(struct check *check, struct query *row)
{
    ses__check_found(check, SES_PROBLEM_INDEX, 0, "row %lld of %.*s is not in the shard of its name",
                     (long long)ses__query_int(row, 1), PUT_TEXT(row, 0));
}

static void visit_floor(struct check *check, struct query *row)
{
    const int64_t floor = ses__query_int(row, 0);

    if (floor < 0 || floor > MAX_VERSION)
        ses__check_found(check, SES_PROBLEM_COUNTER, 0,
                         "version_floor holds %lld, where no session can begin", (long long)floor);
    ses__check_version(check, "new sessions of a shard begin", floor);
}

/* If a column is missing, further statements would fail, so the check ends there. */
static int check_schema(struct check *check, bool *usable)
{
    const int64_t before = check->op->problems;
    int code = visit_all(check, STATEMENT_CHECK_COLUMNS, visit_column);

    *usable = check->op->problems == before;
    return code == SES_OK ? visit_all(check, STATEMENT_CHECK_INDEXES, visit_index) : code;
}

static int check_references(struct check *check)
{
    int code = visit_all(check, STATEMENT_CHECK_ORPHANS, visit_orphans);
    return code == SES_OK ? visit_all(check, STATEMENT_CHECK_SHARDS, visit_shard) : code;
}

static int count_sessions(struct check *check)
{
    const int code = ses__query_number(check->db, STATEMENT_CHECK_COUNT, &check->total, &check->error, NULL);
    return code == SES_NOTFOUND ? SES_OK : code;
}

static int check_counters(struct check *check)
{
    int code = count_sessions(check);
    return code == SES_OK ? visit_all(check, STATEMENT_CHECK_FLOORS, visit_floor) : code;
}

/* Has no time limit; ses_store_interrupt ends it. */
static int run_check(struct db *db, void *context, ses_error *error)
{
    struct check *check = context;
    bool usable = false;
    (void)error; /* the check has its own */

    check->db = db;
    db->deadline_us = INT64_MAX;
    int code = check_schema(check, &usable);
    if (code == SES_OK && usable && check->op->level >= SES_CHECK_FULL)
        code = check_references(check);
    if (code == SES_OK && usable && check->op->level >= SES_CHECK_LOG)
        code = check_counters(check);
    return code == SES_OK && usable ? check->rows(check) : code;
}

int ses__postgres_check(struct storage *storage, struct check *check)
{
    const struct manner alone = {.alone = true};

    check->last_session = INT64_MAX;
    check->trusts_indexes = true;
    return ses__check_settle(check, storage->engine->run(storage, &alone, run_check, check, &check->error),
                             SES_PROBLEM_PAGE);
}
