/* A check of all that is stored, as of one moment. Nothing is changed. */
#include "storage/sql/upkeep/check.h"

#include <stdio.h>
#include <string.h>

#include "storage/sqlite/parts.h"
#include "storage/sql/rows/parts.h"
#include "storage/sqlite/connection/schema.h"

/* ------------------------------------------------------------------------------------- what SQLite checks */

/* A statement that SQLite refuses is a problem too: something in the schema is in its way. */
static int visit_rows_of(struct check *check, const char *sql, connection_visit *visit_one)
{
    const int code =
        ses__connection_visit(ses__connection_of(check->db), sql, visit_one, check, &check->error);
    return ses__check_settle(check, code, SES_PROBLEM_PAGE);
}

static const char *visited_text(sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    return text ? text : "?";
}

static int visit_verdict(void *context, sqlite3_stmt *row, ses_error *error)
{
    struct check *check = context;
    (void)error;
    const char *text = visited_text(row, 0);

    if (strcmp(text, "ok") != 0)
        ses__check_found(check, strstr(text, "index") ? SES_PROBLEM_INDEX : SES_PROBLEM_PAGE, 0, "%s", text);
    return check->ended;
}

static int check_pages(struct check *check)
{
    char sql[64];
    int64_t pages = 0;
    int code = ses__check_settle(
        check, ses__pages_count(ses__connection_of(check->db), &pages, &check->error), SES_PROBLEM_PAGE);

    (void)snprintf(sql, sizeof sql, "PRAGMA main.%s(%lld)",
                   check->op->level == SES_CHECK_QUICK ? "quick_check" : "integrity_check",
                   (long long)(check->op->limit < INT32_MAX ? check->op->limit : INT32_MAX));
    return code == SES_OK ? visit_rows_of(check, sql, visit_verdict) : code;
}

static int visit_orphan(void *context, sqlite3_stmt *row, ses_error *error)
{
    struct check *check = context;
    (void)error;
    const char *table = visited_text(row, 0);

    if (sqlite3_column_type(row, 1) == SQLITE_NULL)
        ses__check_found(check, SES_PROBLEM_REFERENCE, 0,
                         "a row of %s belongs to a row of %s that does not exist", table,
                         visited_text(row, 2));
    else
        ses__check_found(check, SES_PROBLEM_REFERENCE, 0,
                         "row %lld of %s belongs to a row of %s that does not exist",
                         (long long)sqlite3_column_int64(row, 1), table, visited_text(row, 2));
    return check->ended;
}

/* --------------------------------------------------------------------------------------------- counters */

/* Numbers of sessions and tokens of leases are never given twice: what SQLite counts them by must not be below any. */
static int visit_counter(void *context, sqlite3_stmt *row, ses_error *error)
{
    struct check *check = context;
    (void)error;
    if (sqlite3_column_int(row, 1) == 0)
        ses__check_found(check, SES_PROBLEM_COUNTER, 0,
                         "sqlite_sequence does not hold the highest number of %s that was ever given",
                         visited_text(row, 0));
    return check->ended;
}

static int check_counters(struct check *check)
{
    int64_t floor = 0;
    int code = ses__connection_read_int(ses__connection_of(check->db),
                                        "SELECT max(seq) FROM sqlite_sequence WHERE name = 'sessions'",
                                        &check->last_session, &check->error);

    code = ses__check_settle(check, code, SES_PROBLEM_COUNTER);
    if (code == SES_OK)
        code = ses__check_settle(check, ses__version_first(check->db, 1, &floor, &check->error),
                                 SES_PROBLEM_COUNTER);
    if (code == SES_OK)
        ses__check_version(check, "new sessions begin", floor);
    if (code == SES_OK)
        code = visit_rows_of(
            check,
            "WITH given (name, most) AS (SELECT 'sessions', max(id) FROM sessions UNION ALL"
            " SELECT 'session_leases', max(token) FROM session_leases)"
            " SELECT g.name, g.most IS NULL OR (SELECT count(*) = 1 AND min(s.seq) >= g.most AND"
            " min(typeof(s.seq)) = 'integer' FROM sqlite_sequence AS s WHERE s.name = g.name)"
            " FROM given AS g",
            visit_counter);
    return code;
}

/* --------------------------------------------------------------------------------------------- all of it */

static int run_check(struct db *base, void *context, ses_error *error)
{
    struct connection *db = ses__connection_of(base);
    struct check *check = context;
    (void)error; /* the check's */

    check->db = base;
    int code = ses__check_settle(check, ses__schema_check(db, &check->error), SES_PROBLEM_PAGE);
    if (code == SES_OK)
        code = check_pages(check);
    if (code == SES_OK && check->op->level >= SES_CHECK_FULL)
        code = visit_rows_of(check, "PRAGMA main.foreign_key_check", visit_orphan);
    if (code == SES_OK && check->op->level >= SES_CHECK_LOG)
        code = check_counters(check);
    return code == SES_OK ? check->rows(check) : code;
}

int ses__sqlite_check(struct storage *storage, struct check *check)
{
    const int code = ses__private_connection_run(storage, run_check, check, &check->error);
    return ses__check_settle(check, code, SES_PROBLEM_PAGE);
}
