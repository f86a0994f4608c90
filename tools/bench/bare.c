/* The bare SQLite program. */
#include "bench.h"

#include <sqlite3.h>
#include <string.h>

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    CHECK(file);
    CHECK(fseek(file, 0, SEEK_END) == 0);
    long size = ftell(file);
    CHECK(size >= 0);
    rewind(file);
    char *text = malloc((size_t)size + 1);
    CHECK(text && fread(text, 1, (size_t)size, file) == (size_t)size);
    text[size] = '\0';
    fclose(file);
    return text;
}

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

static const char *const bare_names[BARE_COUNT] = {
    "begin_write",    "begin_read",        "commit",          "session_by_id", "session_find",
    "event_add",      "session_state_set", "user_state_set",  "session_touch", "app_state_all",
    "user_state_all", "session_state_all", "events_backward",
};

struct bare {
    sqlite3 *db;
    sqlite3_stmt *statements[BARE_COUNT];
    int64_t number;
};

static void bare_prepare(struct bare *bare)
{
    char *text = read_file("sql/sqlite/statements.sql");
    for (int i = 0; i < BARE_COUNT; i++) {
        char heading[64];
        snprintf(heading, sizeof heading, "-- name: %s\n", bare_names[i]);
        const char *at = strstr(text, heading);
        CHECK(at);
        CHECK(sqlite3_prepare_v3(bare->db, at + strlen(heading), -1, SQLITE_PREPARE_PERSISTENT,
                                 &bare->statements[i], NULL) == SQLITE_OK);
    }
    free(text);
}

static void bare_exec(struct bare *bare, const char *sql)
{
    CHECK(sqlite3_exec(bare->db, sql, NULL, NULL, NULL) == SQLITE_OK);
}

/* The file of a store, opened with the settings the library gives its connections. */
struct bare *bare_open(const char *path, bool full)
{
    struct bare *bare = calloc(1, sizeof *bare);
    CHECK(bare);
    CHECK(sqlite3_open_v2(path, &bare->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK);
    bare_exec(bare, "PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;"
                    "PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = 16777216");
    bare_exec(bare, full ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
    CHECK(sqlite3_db_config(bare->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL) == SQLITE_OK);
    bare_prepare(bare);
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
    bare_int(set, 1, 1);
    bare_text(set, 2, key, strlen(key));
    bare_text(set, 3, value, strlen(value));
    bare_int(set, 5, seq);
    bare_run(set);
}

void bare_append(void *context, int count)
{
    struct bare *bare = context;
    sqlite3_stmt **statements = bare->statements;

    for (int i = 0; i < count; i++) {
        int64_t number = ++bare->number;
        char event[EVENT_BYTES + 1];
        char counter[24];
        size_t len = make_event(event, number);
        snprintf(counter, sizeof counter, "%" PRId64, number);

        bare_run(statements[BARE_BEGIN_WRITE]);
        bare_int(statements[BARE_SESSION_BY_ID], 1, 1);
        bare_run(statements[BARE_SESSION_BY_ID]);
        sqlite3_stmt *add = statements[BARE_EVENT_ADD];
        bare_int(add, 1, INT64_C(1) << 32 | number);
        bare_int(add, 2, 1);
        bare_int(add, 3, number * INT64_C(2654435761) % (INT64_C(1) << 32) - (INT64_C(1) << 31));
        bare_int(add, 5, 7);
        bare_int(add, 6, 100);
        bare_text(add, 7, "agent", 5);
        bare_int(add, 9, INT64_C(1700000000250000) + number);
        bare_text(add, 11, event, len);
        bare_run(add);
        bare_state(statements[BARE_SESSION_STATE_SET], "counter", counter, number);
        bare_state(statements[BARE_SESSION_STATE_SET], "topic", "\"orders\"", number);
        bare_int(statements[BARE_USER_STATE_SET], 4, 1);
        bare_state(statements[BARE_USER_STATE_SET], "last_seen", "\"2024-01-15\"", number);
        sqlite3_stmt *touch = statements[BARE_SESSION_TOUCH];
        bare_int(touch, 1, 1);
        bare_int(touch, 2, number);
        bare_int(touch, 3, number);
        bare_int(touch, 4, number);
        bare_int(touch, 5, INT64_C(1700000000250000) + number);
        bare_run(touch);
        bare_run(statements[BARE_COMMIT]);
    }
}

static size_t bare_rows(sqlite3_stmt *statement, int columns, int limit)
{
    size_t bytes = 0;
    for (int i = 0; i < limit && sqlite3_step(statement) == SQLITE_ROW; i++) {
        for (int column = 0; column < columns; column++) {
            if (sqlite3_column_type(statement, column) == SQLITE_INTEGER)
                bytes += (size_t)sqlite3_column_int64(statement, column) & 1;
            else if (sqlite3_column_text(statement, column))
                bytes += (size_t)sqlite3_column_bytes(statement, column);
        }
    }
    sqlite3_reset(statement);
    return bytes;
}

/* Reads a session as the library does, and forgets what it read. */
static void bare_get(struct bare *bare, int events)
{
    sqlite3_stmt **statements = bare->statements;
    sqlite3_stmt *find = statements[BARE_SESSION_FIND];
    sqlite3_stmt *backward = statements[BARE_EVENTS_BACKWARD];
    size_t bytes = 0;

    bare_run(statements[BARE_BEGIN_READ]);
    bare_text(find, 1, "app", 3);
    bare_text(find, 2, "user", 4);
    bare_text(find, 3, "session-1", 9);
    bytes += bare_rows(find, 8, 1);
    bare_int(statements[BARE_APP_STATE_ALL], 1, 1);
    bare_int(statements[BARE_USER_STATE_ALL], 1, 1);
    bare_int(statements[BARE_SESSION_STATE_ALL], 1, 1);
    bytes += bare_rows(statements[BARE_APP_STATE_ALL], 2, 1000000);
    bytes += bare_rows(statements[BARE_USER_STATE_ALL], 2, 1000000);
    bytes += bare_rows(statements[BARE_SESSION_STATE_ALL], 2, 1000000);
    bare_int(backward, 1, INT64_C(1) << 32);
    bare_int(backward, 2, INT64_C(1) << 32 | 0xFFFFFFFF);
    bytes += bare_rows(backward, 8, events);
    bare_run(statements[BARE_COMMIT]);
    CHECK(bytes > 0);
}

void bare_get_20(void *context, int count)
{
    for (int i = 0; i < count; i++)
        bare_get(context, 20);
}

void bare_get_1000(void *context, int count)
{
    for (int i = 0; i < count; i++)
        bare_get(context, 1000);
}
