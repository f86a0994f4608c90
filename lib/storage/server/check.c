/* The first part of the check of a server, before the rows. Pages are the server's concern. */
#include "storage/sql/upkeep/check.h"

#include "storage/server/operations.h"
#include "storage/server/remote.h"
#include "storage/sql/query.h"

/* Reports what a statement finds, up to a limit. The transaction keeps a failure. */
static void report_all(struct check *check, const struct statement *statement, int kind)
{
    struct query query;

    ses__query_open(&query, check->db, statement, &check->error, VALUES(INT(check->op->limit)));
    while (!check->ended && ses__query_row(&query)) {
        const struct span text = ses__query_text(&query, 0);
        ses__check_found(check, kind, 0, "%.*s", (int)text.len, text.ptr);
    }
    (void)ses__query_end(&query);
}

static void check_floors(struct check *check)
{
    const struct server_statements *statements = ses__remote_of(check->db)->driver->statements;
    struct query query;

    ses__query_open(&query, check->db, statements->check_floors, &check->error,
                    VALUES(INT(check->op->limit)));
    while (!check->ended && ses__query_row(&query)) {
        const int64_t floor = ses__query_int(&query, 0);
        if (floor < 0 || floor > MAX_VERSION)
            ses__check_found(check, SES_PROBLEM_COUNTER, 0,
                             "version_floor holds %lld, where no session can begin", (long long)floor);
        ses__check_version(check, statements->floor_of, floor);
    }
    (void)ses__query_end(&query);
}

/* Has no time limit; ses_store_interrupt ends it. If a column is missing, further statements would fail, so
 * the check ends there. */
static int run_server_check(struct db *db, void *context, ses_error *error)
{
    struct check *check = context;
    const struct server_statements *statements = ses__remote_of(db)->driver->statements;
    const int level = check->op->level;
    (void)error; /* the check has its own */

    check->db = db;
    db->deadline_us = ses__limits_until(db->limits, INT64_MAX);
    report_all(check, statements->check_columns, SES_PROBLEM_PAGE);
    const bool usable = check->op->problems == 0;
    report_all(check, statements->check_indexes, SES_PROBLEM_INDEX);
    if (!usable)
        return SES_OK;
    const int code = ses__features_check(db, SES_OK, &check->error);
    if (code != SES_OK)
        return code;
    if (level >= SES_CHECK_FULL)
        report_all(check, statements->check_orphans, SES_PROBLEM_REFERENCE);
    if (level >= SES_CHECK_FULL && statements->check_shards)
        report_all(check, statements->check_shards, SES_PROBLEM_INDEX);
    if (level >= SES_CHECK_LOG) {
        (void)ses__query_number(db, statements->check_count, &check->total, &check->error, NULL);
        check_floors(check);
    }
    return check->rows(check);
}

int ses__server_check(struct storage *storage, struct check *check)
{
    const struct manner alone = {.alone = true, .limits = &check->op->limits};

    check->last_session = INT64_MAX;
    check->trusts_indexes = true;
    return ses__check_settle(check,
                             storage->engine->run(storage, &alone, run_server_check, check, &check->error),
                             SES_PROBLEM_PAGE);
}
