/* Foreign keys: the rows that refer to one that is deleted must be found by an index, which no query plan
 * shows. */
#include "open.h"

static sqlite3 *open_schema(void)
{
    char *script = support_schema();
    sqlite3 *db = raw_open(":memory:");
    raw_run(db, script);
    free(script);
    return db;
}

static void assert_rows(sqlite3 *db, const char *sql, const char *expected)
{
    struct text rows = {NULL, 0};
    raw_query(db, sql, &rows);
    assert_string_equal(rows.data, expected);
    free(rows.data);
}

PLAIN_TEST(every_reference_has_an_index)
{
    sqlite3 *db = open_schema();

    assert_rows(db,
                "SELECT count(*) FROM sqlite_schema AS t, pragma_foreign_key_list(t.name) AS f"
                " WHERE t.type = 'table'",
                "17\n");
    /* The column that refers is the first of an index, or the row id itself. */
    assert_rows(
        db,
        "SELECT t.name, f.\"from\" FROM sqlite_schema AS t, pragma_foreign_key_list(t.name) AS f"
        " WHERE t.type = 'table'"
        " AND NOT EXISTS (SELECT 1 FROM pragma_index_list(t.name) AS i, pragma_index_info(i.name) AS c"
        "                 WHERE c.seqno = 0 AND c.name = f.\"from\" AND i.partial = 0)"
        " AND NOT EXISTS (SELECT 1 FROM pragma_table_info(t.name) AS p"
        "                 WHERE p.name = f.\"from\" AND p.pk = 1 AND p.type = 'INTEGER')",
        "");
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* Each foreign key has one column, refers to the row id, and is checked on the library's connections. */
PLAIN_TEST(references_are_to_row_ids)
{
    sqlite3 *db = open_schema();

    assert_rows(db,
                "SELECT t.name, f.id, f.seq FROM sqlite_schema AS t, pragma_foreign_key_list(t.name) AS f"
                " WHERE t.type = 'table' AND (f.seq <> 0 OR f.\"to\" IS NOT NULL)",
                "");
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* Deletes a session with many rows beside one with few. Only its own rows are touched. */
PLAIN_TEST(deleting_visits_only_what_belongs)
{
    sqlite3 *db = open_schema();
    sqlite3_stmt *statement = NULL;

    raw_run(db,
            "INSERT INTO apps VALUES (1, 'a'); INSERT INTO users VALUES (1, 1, 'u');"
            "INSERT INTO sessions VALUES (1, 1, 1, 'large', 0, 0, 0, 0, 0, 0, NULL, 0, 0, 0, NULL),"
            " (2, 1, 1, 'small', 0, 0, 0, 0, 0, 0, NULL, 0, 0, 0, NULL);"
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
            " INSERT INTO events (position, session_id, id_key, id_at, invocation_at, author, time_us, body)"
            " SELECT 1 << 32 | i, 1, i, 'e' || i, '', '', 0, '{}' FROM n;"
            "PRAGMA foreign_keys = ON;");
    assert_int_equal(sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "DELETE FROM sessions WHERE id = 2", -1, &statement, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_DONE);
    /* Steps of SQLite's machine: some hundred when it searches, some ten thousand when it scans. */
    assert_in_range(sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 0), 1, 2000);
    sqlite3_finalize(statement);
    assert_rows(db, "SELECT count(*), (SELECT count(*) FROM events) FROM sessions", "1|20000\n");
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}
