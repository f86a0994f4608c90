/* Ways to damage what a store's rows say, and its schema: with SQLite, past everything that guards them. */
#ifndef SESLITE_TEST_DAMAGE_ROWS_H
#define SESLITE_TEST_DAMAGE_ROWS_H

#include "storage/damage.h"

/* Changes that SQLite refuses are not damage. */
static inline void try_sql(sqlite3 *db, const char *sql)
{
    (void)sqlite3_exec(db, sql, NULL, NULL, NULL);
}

static inline sqlite3 *open_unguarded(const char *path)
{
    sqlite3 *db = raw_open(path);
    assert_int_equal(sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL), SQLITE_OK);
    raw_run(db, "PRAGMA synchronous = OFF; PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF");
    return db;
}

/* --------------------------------------------------------------------------------------------- rows */

/* Columns, and the rows of the session that is damaged: number 1, of user 1 in app 1. */
static const struct damaged_column {
    const char *table;
    const char *column;
    const char *rows;
} damaged_columns[] = {
    {"apps", "id", "id = 1"},
    {"apps", "name", "id = 1"},
    {"users", "id", "id = 1"},
    {"users", "app_id", "id = 1"},
    {"users", "name", "id = 1"},
    {"sessions", "id", "id = 1"},
    {"sessions", "app_id", "id = 1"},
    {"sessions", "user_id", "id = 1"},
    {"sessions", "name", "id = 1"},
    {"sessions", "created_us", "id = 1"},
    {"sessions", "updated_us", "id = 1"},
    {"sessions", "active_30s", "id = 1"},
    {"sessions", "changed_us", "id = 1"},
    {"sessions", "ahead_hour", "id = 1"},
    {"sessions", "version", "id = 1"},
    {"sessions", "last_seq", "id = 1"},
    {"sessions", "event_count", "id = 1"},
    {"sessions", "expires_us", "id = 1"},
    {"session_details", "session_id", "session_id = 1"},
    {"session_details", "initial_state", "session_id = 1"},
    {"sessions", "base_seq", "id = 1"},
    {"sessions", "details", "id = 1"},
    {"event_marks", "session_id", "session_id = 1"},
    {"event_marks", "seq", "session_id = 1"},
    {"event_marks", "kind", "session_id = 1"},
    {"event_marks", "target_seq", "session_id = 1"},
    {"session_leases", "token", "session_id = 1"},
    {"session_leases", "session_id", "session_id = 1"},
    {"session_leases", "owner", "session_id = 1"},
    {"session_leases", "taken_us", "session_id = 1"},
    {"session_leases", "until_us", "session_id = 1"},
    {"session_leases", "next_owner", "session_id = 1"},
    {"session_leases", "next_until_us", "session_id = 1"},
    {"session_drafts", "session_id", "session_id = 1"},
    {"session_drafts", "updated_us", "session_id = 1"},
    {"session_drafts", "body", "session_id = 1"},
    {"session_inbox", "id", "session_id = 1"},
    {"session_inbox", "session_id", "session_id = 1"},
    {"session_inbox", "app_id", "session_id = 1"},
    {"session_inbox", "request", "session_id = 1"},
    {"session_inbox", "added_us", "session_id = 1"},
    {"session_inbox", "body", "session_id = 1"},
    {"base_state", "session_id", "session_id = 1"},
    {"base_state", "key", "session_id = 1"},
    {"base_state", "value", "session_id = 1"},
    {"base_state", "seq", "session_id = 1"},
    {"app_state", "app_id", "app_id = 1"},
    {"app_state", "key", "app_id = 1"},
    {"app_state", "value", "app_id = 1"},
    {"app_state", "seq", "app_id = 1"},
    {"user_state", "user_id", "user_id = 1"},
    {"user_state", "key", "user_id = 1"},
    {"user_state", "value", "user_id = 1"},
    {"user_state", "session_id", "user_id = 1"},
    {"session_state", "session_id", "session_id = 1"},
    {"session_state", "key", "session_id = 1"},
    {"session_state", "value", "session_id = 1"},
    {"session_state", "seq", "session_id = 1"},
    {"events", "position", "session_id = 1"},
    {"events", "session_id", "session_id = 1"},
    {"events", "id_at", "session_id = 1"},
    {"events", "invocation_at", "session_id = 1"},
    {"events", "author", "session_id = 1"},
    {"events", "branch", "session_id = 1"},
    {"events", "time_us", "session_id = 1"},
    {"events", "high_us", "session_id = 1"},
    {"events", "body", "session_id = 1"},
    {"sqlite_sequence", "seq", "name = 'sessions'"},
};

/* `%1$s` is the column. */
static const char *const damaged_values[] = {
    "NULL",
    "0",
    "-1",
    "1",
    "2",
    "%1$s + 1",
    "%1$s - 1",
    "-%1$s",
    "%1$s + 4294967296",
    "%1$s * 4294967296",
    "%1$s + 4294967296 * 4294967295",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "4294967297",
    "9007199254740991",
    "9007199254740993",
    "9223372036854775807",
    "-9223372036854775807 - 1",
    "9223372032559808511", /* 2^31 - 1 and 2^32 - 1 together */
    "253402300800000000",
    "-62167219200000001",
    "1.5",
    "1e300",
    "-9e999",
    "''",
    "'x'",
    "'app:k'",
    "'user:k'",
    "'temp:k'",
    "'u0'",
    "'s0'",
    "%1$s || 'x'",
    "%1$s || char(0) || 'x'",
    "char(0)",
    "CAST(x'FF80' AS TEXT)",
    "CAST(x'22C328A022' AS TEXT)",
    "x'00FF'",
    "zeroblob(3)",
    "zeroblob(70000)",
    "printf('%%.*c', 513, 'k')",
    "printf('%%.*c', 70000, '[')",
    "'{\"a\":'",
    "'\"torn'",
    "'\"\\ud800\"'",
    "'\"\\u12'",
    "'[1,2'",
    "'tru'",
    "'1e400'",
    "'1,\"app:forged\":2'",
    "'{\"id\":7}'",
    "'{\"actions\":{\"stateDelta\":{\"k\":1,\"user:k\":2'",
    "'{\"actions\":{\"stateDelta\":[]}}'",
    "'[]'",
    "quote(%1$s)",
    "CAST(%1$s AS BLOB)",
    "CAST(%1$s AS TEXT)",
    "%1$s * 2654435761 %% 4294967296",
};

/* Rows that go, or come, or change together. */
static const char *const damaged_rows[] = {
    "DELETE FROM apps WHERE id = 1",
    "DELETE FROM users WHERE id = 1",
    "DELETE FROM sessions WHERE id = 1",
    "DELETE FROM session_state WHERE session_id = 1",
    "DELETE FROM event_marks WHERE session_id = 1",
    "INSERT INTO event_marks SELECT 1, position & 4294967295, 1, (position & 4294967295) - 1 FROM events "
    "WHERE session_id = 1",
    "UPDATE sessions SET base_seq = 2, event_count = event_count - 2 WHERE id = 1; DELETE FROM events WHERE "
    "session_id = 1 AND position & 4294967295 <= 2; INSERT INTO base_state SELECT 1, key, value, 1 FROM "
    "session_state WHERE session_id = 1",
    "UPDATE sessions SET base_seq = 2, event_count = event_count - 2 WHERE id = 1; INSERT INTO base_state "
    "VALUES (1, 'k', '{', 1), (1, 'app:k', '1', 2), (1, 'temp:k', '1', 0)",
    "DELETE FROM events WHERE session_id = 1",
    "DELETE FROM events WHERE session_id = 1 AND position & 4294967295 = 2",
    "DELETE FROM sqlite_sequence",
    "INSERT INTO sqlite_sequence VALUES ('sessions', 5), ('sessions', 'x')",
    "UPDATE sqlite_sequence SET seq = 1",
    "UPDATE sqlite_sequence SET seq = -9223372036854775807",
    "UPDATE sessions SET last_seq = 1 WHERE id = 1",
    "UPDATE sessions SET last_seq = 4294967295 WHERE id = 1",
    "UPDATE sessions SET last_seq = 4294967294, event_count = 4294967294 WHERE id = 1",
    "UPDATE sessions SET version = version + 3 WHERE id = 1",
    "UPDATE sessions SET app_id = 2, user_id = 2 WHERE id = 1",
    "UPDATE sessions SET updated_us = 9223372036854775807, active_30s = 307445734561 WHERE id = 1",
    "UPDATE sessions SET active_30s = -active_30s WHERE id = 1",
    "UPDATE events SET position = position + (1 << 32) WHERE session_id = 1",
    "UPDATE events SET position = position + (1 << 32), session_id = 2 WHERE session_id = 1",
    "UPDATE events SET session_id = 2 WHERE session_id = 1",
    "UPDATE events SET position = -position WHERE session_id = 1",
    "INSERT INTO events (position, session_id, id_key, id_at, invocation_at, author, time_us, body) "
    "SELECT (1 << 32) + last_seq + 1, 1, 'beyond', 'beyond', '', '', 0, '{}' FROM sessions WHERE id = 1",
    "INSERT INTO events (position, session_id, id_key, id_at, invocation_at, author, time_us, body) "
    "VALUES (1 << 32, 1, 'zero', 'zero', '', '', 0, '{}')",
    "INSERT INTO session_state (session_id, key, value, seq) VALUES (1, 'app:forged', '1', 0)",
    "INSERT INTO session_state (session_id, key, value, seq) VALUES (1, 'user:forged', '1', 0)",
    "INSERT INTO session_state (session_id, key, value, seq) VALUES (1, '', '', 0)",
};

/*
 * The schema's text says what a row may hold, and which indexes follow it: it is put aside for the change.
 * The changed rows then stand in the file as a damaged page would leave them.
 */
static const char *const without_types =
    "UPDATE main.sqlite_schema SET sql = replace(replace(replace(sql, 'STRICT, WITHOUT', 'WITHOUT'), ') "
    "STRICT', "
    "')'), ' NOT NULL', '') WHERE type = 'table' AND sql LIKE '%STRICT%'";
static const char *const without_indexes =
    "UPDATE main.sqlite_schema SET sql = replace(replace(replace(sql, ' UNIQUE', ''), ' (app_id, name)', ' "
    "CHECK (1)'), ' (user_id, name)', ' CHECK (1)') WHERE name IN ('apps', 'users', 'sessions');"
    "DELETE FROM main.sqlite_schema WHERE type = 'index' AND tbl_name IN ('apps', 'users', 'sessions', "
    "'events')";

static inline void put_schema_aside(sqlite3 *db, const char *change)
{
    raw_run(db, "CREATE TEMP TABLE kept AS SELECT rowid AS number, * FROM main.sqlite_schema;"
                "PRAGMA writable_schema = ON");
    raw_run(db, change);
    raw_run(db, "PRAGMA writable_schema = RESET");
}

static inline void put_schema_back(sqlite3 *db)
{
    raw_run(
        db,
        "PRAGMA writable_schema = ON;"
        "REPLACE INTO main.sqlite_schema (rowid, type, name, tbl_name, rootpage, sql) SELECT * FROM temp.kept;"
        "PRAGMA writable_schema = OFF; DROP TABLE temp.kept");
}

static inline void damage_value(sqlite3 *db, struct chance *chance)
{
    const struct damaged_column *column =
        &damaged_columns[chance_below(chance, sizeof damaged_columns / sizeof damaged_columns[0])];
    const char *value =
        damaged_values[chance_below(chance, sizeof damaged_values / sizeof damaged_values[0])];
    static const char *const which[] = {"", " LIMIT 1", " ORDER BY 1 DESC LIMIT 1"};
    bool by_row = strcmp(column->table, "app_state") && strcmp(column->table, "user_state") &&
                  strcmp(column->table, "session_state") && strcmp(column->table, "base_state") &&
                  strcmp(column->table, "event_marks");
    char expression[256];
    char sql[1024];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(expression, sizeof expression, value, column->column);
#pragma GCC diagnostic pop
    snprintf(sql, sizeof sql,
             "UPDATE OR IGNORE %s SET %s = %s WHERE %s AND %s IN (SELECT %s FROM %s WHERE %s%s)",
             column->table, column->column, expression, column->rows, by_row ? "rowid" : "key",
             by_row ? "rowid" : "key", column->table, column->rows, which[chance_below(chance, 3)]);
    try_sql(db, sql);
}

static inline void damage_rows(const char *path, struct chance *chance)
{
    sqlite3 *db = open_unguarded(path);
    size_t times = 1 + chance_below(chance, 3);
    size_t aside = chance_below(chance, 3);

    if (aside > 0)
        put_schema_aside(db, aside == 1 ? without_types : without_indexes);
    for (size_t i = 0; i < times; i++) {
        if (chance_below(chance, 4) == 0)
            try_sql(db, damaged_rows[chance_below(chance, sizeof damaged_rows / sizeof damaged_rows[0])]);
        else
            damage_value(db, chance);
    }
    if (aside > 0)
        put_schema_back(db);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* ------------------------------------------------------------------------------------------- schema */

#define ENDLESS " AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT "
#define NO_VIEWS "DROP VIEW merged_state; DROP VIEW transcript; DROP VIEW session_overview; "
#define EDIT(change, name) \
    "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = " change " WHERE name = '" name "'"

static const char *const damaged_schemas[] = {
    /* Views where tables were, some without an end. */
    NO_VIEWS "DROP TABLE session_state; CREATE VIEW session_state" ENDLESS
             "1 AS session_id, 'k' || n AS key, '1' AS value, 1 AS seq FROM r",
    NO_VIEWS "DROP TABLE app_state; CREATE VIEW app_state" ENDLESS
             "1 AS app_id, 'k' AS key, '1' AS value, 1 AS session_id, 1 AS seq FROM r",
    NO_VIEWS "DROP TABLE user_state; CREATE VIEW user_state" ENDLESS
             "2 AS user_id, 'k' AS key, '1' AS value, 1 AS session_id, 1 AS seq FROM r",
    NO_VIEWS
    "DROP TABLE events; CREATE VIEW events" ENDLESS
    "4294967296 + n AS position, 1 AS session_id, n AS seq, 'e' || n AS id, '' AS invocation_id, '' AS "
    "author, NULL AS branch, 0 AS time_us, NULL AS high_us, '{}' AS body FROM r",
    NO_VIEWS "ALTER TABLE sessions RENAME TO s2; CREATE VIEW sessions AS SELECT * FROM s2",
    NO_VIEWS "ALTER TABLE sessions RENAME TO s2; CREATE VIEW sessions" ENDLESS
             "n AS id, 1 AS app_id, 1 AS user_id, 's' || n AS name, 0 AS created_us, 0 AS updated_us, 0 AS "
             "active_30s, 0 AS version, 0 AS last_seq, 0 AS event_count, NULL AS expires_us, 0 AS "
             "changed_us, NULL AS ahead_hour FROM r",
    NO_VIEWS "ALTER TABLE apps RENAME TO a2; CREATE VIEW apps" ENDLESS "1 AS id, 'app' || n AS name FROM r",
    NO_VIEWS
    "ALTER TABLE users RENAME TO u2; CREATE VIEW users AS SELECT u2.* FROM u2, u2 AS b, u2 AS c, u2 AS d",
    NO_VIEWS
    "DROP TABLE session_details; CREATE VIEW session_details AS SELECT 1 AS session_id, 2 AS initial_state",
    NO_VIEWS "DROP TABLE session_state; CREATE TABLE session_state (session_id, key, value, seq)",
    /* Generated columns, defaults, collations, keys. */
    EDIT("replace(sql, 'version     INTEGER NOT NULL', 'version INTEGER AS (last_seq + 1)')", "sessions"),
    EDIT("replace(sql, 'author        TEXT NOT NULL', "
         "'author TEXT AS (printf(''%.*c'', 400000000, ''x'')) VIRTUAL')",
         "events"),
    EDIT("replace(sql, 'branch        TEXT', 'branch TEXT AS (hex(zeroblob(400000000)))')", "events"),
    EDIT("replace(sql, 'value      TEXT NOT NULL', 'value TEXT AS (''1'')')", "session_state"),
    EDIT("replace(sql, 'TEXT NOT NULL', 'TEXT NOT NULL COLLATE NOCASE')", "users"),
    EDIT("replace(sql, 'PRIMARY KEY AUTOINCREMENT', 'PRIMARY KEY')", "sessions"),
    EDIT("replace(sql, 'body          TEXT NOT NULL', 'body TEXT NOT NULL CHECK (length(body) < 3)')",
         "events"),
    EDIT("replace(sql, 'STRICT', '')", "sessions"),
    EDIT("'CREATE TABLE events (x'", "events"),
    EDIT("NULL", "sessions"),
    "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = 1 WHERE name = 'events'",
    "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = 0 WHERE name = 'sessions'",
    "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema "
    "WHERE name = 'users') WHERE name = 'sessions'",
    "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema "
    "WHERE name = 'sessions_by_app') WHERE name = 'sessions_by_activity'",
    "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET type = 'view' WHERE name = 'apps'",
    "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = 'users'",
    "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE type = 'index'",
    "PRAGMA writable_schema = ON; INSERT INTO sqlite_schema SELECT * FROM sqlite_schema WHERE name = "
    "'events'",
    /* Indexes that are not ours, or ours no more. */
    "CREATE INDEX theirs ON events (printf('%.*c', 1, author)); " EDIT("replace(sql, ' 1,', ' 100000000,')",
                                                                       "theirs"),
    "CREATE INDEX theirs ON session_state (hex(zeroblob(length(value) * 1))); " EDIT(
        "replace(sql, ' 1)', ' 100000000)')", "theirs"),
    "CREATE UNIQUE INDEX theirs ON events (session_id) WHERE position > 10",
    "CREATE UNIQUE INDEX theirs ON session_state (value)",
    "CREATE INDEX theirs ON sessions (version, last_seq) WHERE version % 2",
    "DROP INDEX sessions_by_activity",
    "DROP INDEX sessions_by_app",
    "DROP INDEX events_by_id",
    "DROP INDEX sessions_by_activity; CREATE INDEX sessions_by_activity ON sessions (app_id, -active_30s)",
    "DROP INDEX events_by_id; CREATE INDEX events_by_id ON events (id)",
    /* Guards. */
    "DROP TRIGGER guard_sessions_delete",
    "DROP TRIGGER guard_events_insert",
    "DROP TRIGGER guard_sessions_delete; CREATE TRIGGER guard_sessions_delete AFTER DELETE ON sessions BEGIN "
    "DELETE FROM events; END",
    "CREATE TRIGGER theirs AFTER INSERT ON events BEGIN DELETE FROM events; END",
    "CREATE TRIGGER theirs AFTER UPDATE ON sessions BEGIN UPDATE sessions SET version = version + 1; END",
    /* Changes that people may make. */
    "CREATE INDEX theirs ON events (author)",
    "CREATE TABLE theirs (x); CREATE VIEW their_view AS SELECT * FROM sessions",
    "ALTER TABLE sessions ADD COLUMN theirs TEXT",
    "ALTER TABLE events RENAME COLUMN high_us TO highest",
    "DROP TABLE apps",
};

static inline void damage_schema(const char *path, struct chance *chance)
{
    sqlite3 *db = open_unguarded(path);
    try_sql(db, damaged_schemas[chance_below(chance, sizeof damaged_schemas / sizeof damaged_schemas[0])]);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

#endif
