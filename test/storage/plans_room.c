/*
 * Work that the schema's indexes make cheap, whichever statement does it. A page of 50 out of 100,000
 * sessions by label, whether the label is on every second session or on every ten-thousandth; what expired;
 * the marks of a long log.
 */
#include "open.h"

static sqlite3 *open_schema(void)
{
    char *script = support_schema();
    sqlite3 *db = raw_open(":memory:");
    raw_run(db, script);
    free(script);
    assert_int_equal(sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL), SQLITE_OK);
    return db;
}

static int setup(void **state)
{
    sqlite3 *db = open_schema();
    raw_run(db, "INSERT INTO apps VALUES (1, 'app'), (2, 'other');"
                "INSERT INTO users VALUES (1, 1, 'user'), (2, 2, 'user');"
                "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)"
                " INSERT INTO sessions SELECT i, 1, 1, 's' || i, i * 60000000, i * 60000000, i * 2, 1, 0, 0,"
                " iif(i % 1000 = 0, i, NULL), 0, 0, i * 60000000, iif(i % 1000 = 0, i, NULL) FROM n;"
                "INSERT INTO session_labels SELECT id, 'half', 'yes', 1 FROM sessions WHERE id % 2 = 0;"
                "INSERT INTO session_labels SELECT id, 'kind', iif(id % 10000 = 0, 'rare', 'common'), 1"
                " FROM sessions;"
                "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
                " INSERT INTO event_marks SELECT i, 1, 1, 0 FROM n;");
    *state = db;
    return 0;
}

static int teardown(void **state)
{
    return sqlite3_close(*state) == SQLITE_OK ? 0 : -1;
}

/* Runs a query that searches, without a scan, and comes to its end within so many steps of SQLite's
 * machine. */
static void assert_cheap(sqlite3 *db, const char *sql, int rows, int steps)
{
    struct text plan = {NULL, 0};
    char explain[2048];
    sqlite3_stmt *statement = NULL;
    int met = 0;

    snprintf(explain, sizeof explain, "EXPLAIN QUERY PLAN %s", sql);
    raw_query(db, explain, &plan);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    while (sqlite3_step(statement) == SQLITE_ROW)
        met++;
    int taken = sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 0);
    if (met != rows || taken > steps || strstr(plan.data, "SCAN")) {
        print_error("%s\n%srows %d of %d, steps %d of %d\n", sql, plan.data, met, rows, taken, steps);
        fail();
    }
    sqlite3_finalize(statement);
    free(plan.data);
}

/* Most sessions have the label: the list goes by its own order, and looks at each session's labels. */
#define PAGE_OF_MANY(name, value)                                                           \
    "SELECT s.id FROM sessions AS s INDEXED BY sessions_by_activity"                        \
    " JOIN session_labels AS l ON l.session_id = s.id AND l.name = '" name "'"              \
    " WHERE s.app_id = 1 AND s.active_30s <= 9223372036854775807 AND l.value = '" value "'" \
    " ORDER BY s.active_30s DESC, s.updated_us DESC, s.name, s.user_id LIMIT 50"
/* Few have it: the index finds them all. */
#define PAGE_OF_FEW(name, value)                                                           \
    "SELECT s.id FROM session_labels AS l CROSS JOIN sessions AS s ON s.id = l.session_id" \
    " WHERE l.app_id = 1 AND l.name = '" name "' AND l.value = '" value "'"                \
    " ORDER BY s.updated_us DESC, s.name, s.user_id LIMIT 50"
/* Which of the two it is. */
#define FEW_OR_MANY(name, value) \
    "SELECT 1 FROM session_labels WHERE app_id = 1 AND name = '" name "' AND value = '" value "' LIMIT 1000"

#define SQLITE3_TEST(name) GROUP_TEST(sqlite3 *db, name)

SQLITE3_TEST(a_page_by_label)
{
    assert_cheap(db, FEW_OR_MANY("half", "yes"), 1000, 6000);
    assert_cheap(db, PAGE_OF_MANY("half", "yes"), 50, 10000);
    assert_cheap(db, FEW_OR_MANY("kind", "rare"), 10, 100);
    assert_cheap(db, PAGE_OF_FEW("kind", "rare"), 10, 1000);
    /* A page in order of creation comes out of the index as it is. */
    assert_cheap(db,
                 "SELECT session_id FROM session_labels WHERE app_id = 1 AND name = 'half' AND value = 'yes'"
                 " AND session_id > 50000 ORDER BY session_id LIMIT 50",
                 50, 500);
}

SQLITE3_TEST(sessions_that_expired)
{
    assert_cheap(
        db, "SELECT id FROM sessions WHERE app_id = 1 AND expires_us <= 5000 ORDER BY expires_us LIMIT 10", 5,
        100);
}

/* An append writes the session's row and not what expires. */
SQLITE3_TEST(an_append_does_not_write_the_expiry)
{
    struct text rows = {NULL, 0};
    raw_query(db,
              "EXPLAIN UPDATE sessions SET version = 2, last_seq = 1, event_count = 1, updated_us = 5"
              " WHERE id = 1",
              &rows);
    assert_null(strstr(rows.data, "IdxInsert"));
    assert_null(strstr(rows.data, "IdxDelete"));
    free(rows.data);
}

SQLITE3_TEST(marks_of_one_session)
{
    assert_cheap(db, "SELECT seq, kind, target_seq FROM event_marks WHERE session_id = 7 ORDER BY seq DESC",
                 1, 50);
}

TEST_GROUP(setup, teardown)
