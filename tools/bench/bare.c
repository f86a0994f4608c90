/* The bare SQLite program. */
#include "bench.h"

#include <limits.h>
#include <sqlite3.h>
#include <string.h>

enum bare_statement {
    BARE_BEGIN_WRITE,
    BARE_BEGIN_READ,
    BARE_COMMIT,
    BARE_SESSION_BY_ID,
    BARE_SESSION_FIND,
    BARE_EVENT_ADD,
    BARE_SESSION_STATE_SET,
    BARE_USER_STATE_SET,
    BARE_SESSION_TOUCH,
    BARE_APP_STATE_ALL,
    BARE_USER_STATE_ALL,
    BARE_SESSION_STATE_ALL,
    BARE_EVENTS_BACKWARD,
    BARE_COUNT
};

/* Statements of its own on the library's schema. bare_compare_rows checks that they still write the same rows
 * as the library. */
static const char *const bare_sql[BARE_COUNT] = {
    [BARE_BEGIN_WRITE] = "BEGIN IMMEDIATE",
    [BARE_BEGIN_READ] = "BEGIN",
    [BARE_COMMIT] = "COMMIT",
    [BARE_SESSION_BY_ID] =
        "SELECT id, app_id, user_id, version, last_seq, event_count, created_us, updated_us,"
        " expires_us, base_seq, details FROM sessions WHERE id = ?1",
    [BARE_SESSION_FIND] =
        "SELECT s.id, s.app_id, s.user_id, s.version, s.last_seq, s.event_count, s.created_us, s.updated_us,"
        " s.expires_us, s.base_seq, s.details"
        " FROM apps AS a"
        " JOIN users AS u ON u.app_id = a.id AND u.name = ?2"
        " JOIN sessions AS s ON s.user_id = u.id AND s.name = ?3"
        " WHERE a.name = ?1",
    [BARE_EVENT_ADD] =
        "INSERT INTO events (position, session_id, id_key, id_at, invocation_at, author, time_us, body)"
        " VALUES ((?1 << 32) + ?2, ?1, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING",
    [BARE_SESSION_STATE_SET] =
        "INSERT INTO session_state (session_id, key, value, seq) VALUES (1, ?1, ?2, ?3)"
        " ON CONFLICT DO UPDATE SET value = excluded.value, seq = excluded.seq",
    [BARE_USER_STATE_SET] =
        "INSERT INTO user_state (user_id, session_id, key, value, seq) VALUES (1, 1, ?1, ?2, ?3)"
        " ON CONFLICT DO UPDATE SET value = excluded.value, session_id = excluded.session_id, seq = "
        "excluded.seq",
    [BARE_SESSION_TOUCH] =
        "UPDATE sessions SET version = ?2, last_seq = ?3, event_count = ?4, updated_us = ?5, changed_us = ?6"
        " WHERE id = ?1",
    [BARE_APP_STATE_ALL] = "SELECT key, value FROM app_state WHERE app_id = ?1 ORDER BY key",
    [BARE_USER_STATE_ALL] = "SELECT key, value FROM user_state WHERE user_id = ?1 ORDER BY key",
    [BARE_SESSION_STATE_ALL] = "SELECT key, value FROM session_state WHERE session_id = ?1 ORDER BY key",
    [BARE_EVENTS_BACKWARD] =
        "SELECT position, id_at, invocation_at, author, branch, time_us, high_us, body FROM events"
        " WHERE position BETWEEN (?1 << 32) + 1 AND (?1 << 32) + ?2 ORDER BY position DESC",
};

struct bare {
    sqlite3 *db;
    sqlite3_stmt *statements[BARE_COUNT];
    int64_t number;
};

static sqlite3_stmt *bare_prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement = NULL;

    if (sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) != SQLITE_OK)
        fprintf(stderr, "bench: %s: %s\n", sqlite3_errmsg(db), sql);
    CHECK(statement);
    return statement;
}

static void bare_exec(struct bare *bare, const char *sql)
{
    CHECK(sqlite3_exec(bare->db, sql, NULL, NULL, NULL) == SQLITE_OK);
}

/* Opens the file of a store with the settings of the library's connections. */
struct bare *bare_open(const char *path, bool full)
{
    struct bare *bare = calloc(1, sizeof *bare);
    CHECK(bare);
    CHECK(sqlite3_open_v2(path, &bare->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK);
    bare_exec(bare, "PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;"
                    "PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = 16777216");
    bare_exec(bare, full ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
    CHECK(sqlite3_db_config(bare->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL) == SQLITE_OK);
    for (int i = 0; i < BARE_COUNT; i++)
        bare->statements[i] = bare_prepare(bare->db, bare_sql[i]);
    return bare;
}

void bare_close(struct bare *bare)
{
    for (int i = 0; i < BARE_COUNT; i++)
        sqlite3_finalize(bare->statements[i]);
    CHECK(sqlite3_close(bare->db) == SQLITE_OK);
    free(bare);
}

static void bare_text(sqlite3_stmt *statement, int parameter, const char *text, size_t len)
{
    CHECK(sqlite3_bind_text64(statement, parameter, text, len, SQLITE_STATIC, SQLITE_UTF8) == SQLITE_OK);
}

static void bare_int(sqlite3_stmt *statement, int parameter, int64_t value)
{
    CHECK(sqlite3_bind_int64(statement, parameter, value) == SQLITE_OK);
}

static void bare_run(sqlite3_stmt *statement)
{
    int rc = sqlite3_step(statement);
    CHECK(rc == SQLITE_DONE || rc == SQLITE_ROW);
    sqlite3_reset(statement);
}

static void bare_state(sqlite3_stmt *set, const char *key, const char *value, int64_t seq)
{
    bare_text(set, 1, key, strlen(key));
    bare_text(set, 2, value, strlen(value));
    bare_int(set, 3, seq);
    bare_run(set);
}

/* FNV-1a, as a signed number. */
static int64_t bare_hash(const char *id, size_t len)
{
    uint32_t hash = UINT32_C(2166136261);

    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)id[i]) * UINT32_C(16777619);
    return (int64_t)hash - (INT64_C(1) << 31);
}

static void bare_event(struct bare *bare, const char *event, size_t len, int64_t time_us)
{
    static const char before_id[] = "{\"id\":\"";
    static const char before_invocation[] = "\"invocationId\":\"";
    sqlite3_stmt *add = bare->statements[BARE_EVENT_ADD];
    const char *id = event + sizeof before_id - 1;

    bare_int(add, 1, 1);
    bare_int(add, 2, bare->number);
    bare_int(add, 3, bare_hash(id, strcspn(id, "\"")));
    bare_int(add, 4, id - event);
    bare_int(add, 5, strstr(event, before_invocation) + sizeof before_invocation - 1 - event);
    bare_text(add, 6, "agent", 5);
    bare_int(add, 7, time_us);
    bare_text(add, 8, event, len);
    bare_run(add);
}

void bare_append(void *context, int count)
{
    struct bare *bare = context;
    sqlite3_stmt **statements = bare->statements;

    for (int i = 0; i < count; i++) {
        int64_t number = ++bare->number;
        const int64_t time_us = (INT64_C(1700000000) + number / 1000) * 1000000 + 250000;
        char event[EVENT_BYTES + 1];
        char counter[24];
        size_t len = make_event(event, number);
        snprintf(counter, sizeof counter, "%" PRId64, number);

        bare_run(statements[BARE_BEGIN_WRITE]);
        bare_int(statements[BARE_SESSION_BY_ID], 1, 1);
        bare_run(statements[BARE_SESSION_BY_ID]);
        bare_event(bare, event, len, time_us);
        bare_state(statements[BARE_SESSION_STATE_SET], "counter", counter, number);
        bare_state(statements[BARE_SESSION_STATE_SET], "topic", "\"orders\"", number);
        bare_state(statements[BARE_USER_STATE_SET], "last_seen", "\"2024-01-15\"", number);
        sqlite3_stmt *touch = statements[BARE_SESSION_TOUCH];
        bare_int(touch, 1, 1);
        bare_int(touch, 2, number);
        bare_int(touch, 3, number);
        bare_int(touch, 4, number);
        bare_int(touch, 5, time_us);
        bare_int(touch, 6, NOW_US);
        bare_run(touch);
        bare_run(statements[BARE_COMMIT]);
    }
}

/* Reads every column of at most `limit` rows, and returns the number of rows. */
static int bare_rows(sqlite3_stmt *statement, int limit)
{
    const int columns = sqlite3_column_count(statement);
    int count = 0;
    size_t bytes = 0;

    while (count < limit && sqlite3_step(statement) == SQLITE_ROW) {
        for (int column = 0; column < columns; column++) {
            if (sqlite3_column_type(statement, column) == SQLITE_INTEGER)
                bytes += (size_t)sqlite3_column_int64(statement, column) & 1;
            else if (sqlite3_column_text(statement, column))
                bytes += (size_t)sqlite3_column_bytes(statement, column);
        }
        count++;
    }
    sqlite3_reset(statement);
    CHECK(bytes > 0);
    return count;
}

static void bare_owner_rows(struct bare *bare, enum bare_statement all, int expected)
{
    bare_int(bare->statements[all], 1, 1);
    CHECK(bare_rows(bare->statements[all], INT_MAX) == expected);
}

/* Reads a session as the library does, and discards it. */
static void bare_get(struct bare *bare, int events)
{
    sqlite3_stmt **statements = bare->statements;
    sqlite3_stmt *find = statements[BARE_SESSION_FIND];
    sqlite3_stmt *backward = statements[BARE_EVENTS_BACKWARD];

    bare_run(statements[BARE_BEGIN_READ]);
    bare_text(find, 1, "app", 3);
    bare_text(find, 2, "user", 4);
    bare_text(find, 3, "session-1", 9);
    CHECK(bare_rows(find, 1) == 1);
    bare_owner_rows(bare, BARE_APP_STATE_ALL, 1);
    bare_owner_rows(bare, BARE_USER_STATE_ALL, 1);
    bare_owner_rows(bare, BARE_SESSION_STATE_ALL, 3);
    bare_int(backward, 1, 1);
    bare_int(backward, 2, 0xFFFFFFFF);
    CHECK(bare_rows(backward, events) == events);
    bare_run(statements[BARE_COMMIT]);
}

void bare_get_20(void *context, int count)
{
    for (int i = 0; i < count; i++)
        bare_get(context, 20);
}

void bare_get_1000(void *context, int count)
{
    for (int i = 0; i < count; i++)
        bare_get(context, scaled(1000));
}

/* ----------------------------------------------------------------------------------------- the same rows? */

static void compare_table(sqlite3 *db, const char *table)
{
    char sql[400];

    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM (SELECT * FROM main.%s EXCEPT SELECT * FROM library.%s"
             " UNION ALL SELECT * FROM (SELECT * FROM library.%s EXCEPT SELECT * FROM main.%s))",
             table, table, table, table);
    sqlite3_stmt *count = bare_prepare(db, sql);
    CHECK(sqlite3_step(count) == SQLITE_ROW);
    if (sqlite3_column_int64(count, 0) > 0)
        fprintf(stderr,
                "bench: the bare program and the library write different rows of %s; update "
                "tools/bench/bare.c\n",
                table);
    CHECK(sqlite3_column_int64(count, 0) == 0);
    sqlite3_finalize(count);
}

void bare_compare_rows(const struct bare *bare, const char *library_path)
{
    sqlite3_stmt *attach = bare_prepare(bare->db, "ATTACH ?1 AS library");
    sqlite3_stmt *tables = bare_prepare(bare->db, "SELECT name FROM main.sqlite_schema WHERE type = 'table'");
    int count = 0;

    bare_text(attach, 1, library_path, strlen(library_path));
    CHECK(sqlite3_step(attach) == SQLITE_DONE);
    sqlite3_finalize(attach);
    for (; sqlite3_step(tables) == SQLITE_ROW; count++)
        compare_table(bare->db, (const char *)sqlite3_column_text(tables, 0));
    CHECK(count > 5);
    sqlite3_finalize(tables);
    CHECK(sqlite3_exec(bare->db, "DETACH library", NULL, NULL, NULL) == SQLITE_OK);
}
