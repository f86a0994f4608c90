/* A check of all that is stored, as of one moment. Nothing is changed. */
#include "storage/sql/upkeep/check.h"

#include <stdio.h>
#include <string.h>

#include "storage/sqlite/parts.h"
#include "storage/sql/rows/parts.h"
#include "storage/sqlite/connection/schema.h"

/* ------------------------------------------------------------------------------------- what SQLite checks */

/* The rows of a statement are problems of that kind. */
struct finding {
    struct check *check;
    int kind;
};

/* SQLite words what it finds in pages and indexes itself, and says so if it finds nothing. */
static int visit_finding(void *context, sqlite3_stmt *row, ses_error *error)
{
    const struct finding *finding = context;
    const char *text = (const char *)sqlite3_column_text(row, 0);
    const bool in_index = finding->kind == SES_PROBLEM_PAGE && text && strstr(text, "index");
    (void)error;

    if (!text || strcmp(text, "ok") != 0)
        ses__check_found(finding->check, in_index ? SES_PROBLEM_INDEX : finding->kind, 0, "%s",
                         text ? text : "?");
    return finding->check->ended;
}

/* A statement that SQLite refuses is a problem too: something in the schema is in its way. */
static int report_rows(struct check *check, int kind, const char *sql)
{
    struct finding finding = {check, kind};
    const int code =
        ses__connection_visit(ses__connection_of(check->db), sql, visit_finding, &finding, &check->error);
    return ses__check_settle(check, code, SES_PROBLEM_PAGE);
}

static int check_references(struct check *check)
{
    const int code = report_rows(
        check, SES_PROBLEM_REFERENCE,
        "SELECT iif(\"rowid\" IS NULL, 'a row', 'row ' || \"rowid\") || ' of ' || \"table\" ||"
        " ' belongs to a row of ' || parent || ' that does not exist' FROM temp.pragma_foreign_key_check");

    /* The position of a chunk contains the number of its content, to which a foreign key cannot refer. */
    return code == SES_OK
               ? report_rows(
                     check, SES_PROBLEM_REFERENCE,
                     "SELECT count(*) || ' rows of artifact_chunks belong to row ' || (k.position >> 20) ||"
                     " ' of artifact_contents, which does not exist' FROM artifact_chunks AS k"
                     " WHERE NOT EXISTS (SELECT 1 FROM artifact_contents AS c WHERE c.id = k.position >> 20)"
                     " GROUP BY k.position >> 20")
               : code;
}

/* Numbers of sessions and contents, and tokens of leases, are never given twice: SQLite's counters must not
 * be below any of them. */
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
        code = report_rows(
            check, SES_PROBLEM_COUNTER,
            "WITH given (name, most) AS (SELECT 'sessions', max(id) FROM sessions UNION ALL"
            " SELECT 'session_leases', max(token) FROM session_leases UNION ALL"
            " SELECT 'artifact_contents', max(id) FROM artifact_contents)"
            " SELECT 'sqlite_sequence does not hold the highest number of ' || g.name || ' that was ever given'"
            " FROM given AS g WHERE g.most IS NOT NULL AND NOT (SELECT count(*) = 1 AND min(s.seq) >= g.most AND"
            " min(typeof(s.seq)) = 'integer' FROM sqlite_sequence AS s WHERE s.name = g.name)");
    return code;
}

/* -------------------------------------------------------------------------------------------- the check */

static int run_check(struct db *base, void *context, ses_error *error)
{
    struct connection *db = ses__connection_of(base);
    struct check *check = context;
    const struct check_op *op = check->op;
    char sql[64];
    int64_t pages = 0;
    (void)error; /* the check has its own */

    check->db = base;
    int code = ses__check_settle(check, ses__schema_check(db, &check->error), SES_PROBLEM_PAGE);
    if (code == SES_OK)
        code = ses__check_settle(check, ses__pages_count(db, &pages, &check->error), SES_PROBLEM_PAGE);
    (void)snprintf(sql, sizeof sql, "PRAGMA main.%s(%lld)",
                   op->level == SES_CHECK_QUICK ? "quick_check" : "integrity_check",
                   (long long)(op->limit < INT32_MAX ? op->limit : INT32_MAX));
    if (code == SES_OK)
        code = report_rows(check, SES_PROBLEM_PAGE, sql);
    if (code == SES_OK && op->level >= SES_CHECK_FULL)
        code = check_references(check);
    if (code == SES_OK && op->level >= SES_CHECK_LOG)
        code = check_counters(check);
    return code == SES_OK ? check->rows(check) : code;
}

int ses__sqlite_check(struct storage *storage, struct check *check)
{
    const int code =
        ses__private_connection_run(storage, &check->op->limits, run_check, check, &check->error);
    return ses__check_settle(check, code, SES_PROBLEM_PAGE);
}
