/*
 * The same data in a store of SQLite and in one on a PostgreSQL server, statements of both, and random
 * parameters for them. A number that a row has in the file is 4096 times that on the server, plus the shard.
 */
#ifndef SESLITE_TEST_POSTGRES_SAME_H
#define SESLITE_TEST_POSTGRES_SAME_H

#include <sqlite3.h>

#include "database.h"
#include "open.h"

/* Names in an order that only bytes give, times that are equal or before 1970, rows that lack what they may
 * lack. */
static const char filling[] =
    "PRAGMA foreign_keys = ON;"
    "CREATE TEMP TABLE names (n INTEGER PRIMARY KEY, name TEXT);"
    "INSERT INTO temp.names (name) VALUES ('a'), ('A'), ('a b'), ('ab'), ('ä'), ('Z'), ('a''\"%_\\'),"
    " (char(1114111)), ('a' || char(1114111)), ('a' || char(128512));"
    "INSERT INTO apps (name) SELECT name FROM temp.names WHERE n IN (1, 2, 5);"
    "INSERT INTO users (app_id, name) SELECT a.id, n.name FROM temp.names AS n, apps AS a WHERE n % 3 = a.id "
    "% 3;"
    "INSERT INTO sessions (app_id, user_id, name, created_us, updated_us, active_30s, version, last_seq,"
    " event_count, expires_us, details, changed_us, ahead_hour)"
    " SELECT u.app_id, u.id, n.name, -5, t.us, t.us / 30000000 - (t.us % 30000000 < 0), n.n, 9, 6,"
    " CASE n.n % 3 WHEN 0 THEN n.n % 2 END, CASE n.n % 2 WHEN 0 THEN 4 ELSE 0 END + CASE n.n % 4 WHEN 1 THEN "
    "2 ELSE 0 END, t.us, CASE n.n % 3 WHEN 0 THEN 0 END"
    " FROM users AS u CROSS JOIN temp.names AS n CROSS JOIN (SELECT n, (n - 3) * 1800000000 AS us FROM "
    "temp.names) AS t"
    " WHERE t.n = (u.id * 7 + n.n * 3) % 5 + 1 AND (u.id + n.n) % 5 > 0;"
    "INSERT INTO session_labels SELECT s.id, n.name, CASE s.id % 3 WHEN 0 THEN '' WHEN 1 THEN 'a' ELSE 'ä' "
    "END, s.app_id"
    " FROM sessions AS s, temp.names AS n WHERE s.details & 4 AND (s.id + n.n) % 3 > 0 AND n.n IN (1, 2, 8);"
    "INSERT INTO session_details SELECT id, CASE WHEN details & 2 THEN 'A title' END, 'u', 'p', 3, NULL,"
    " CASE id % 2 WHEN 0 THEN '{\"a\":1}' END, CASE id % 5 WHEN 0 THEN 1000 + id % 2 END,"
    " CASE id % 7 WHEN 0 THEN id END, CASE id % 5 WHEN 0 THEN 'u' END, CASE id % 5 WHEN 0 THEN 'c' END,"
    " CASE id % 6 WHEN 0 THEN id END FROM sessions WHERE details > 0 AND id % 3;"
    "UPDATE sessions SET details = details | 1 | 8 * (id % 7 = 0) | 16 * (id % 5 = 0) | 32 * (id % 5 = 1)"
    " | 64 * (id % 6 = 0)"
    " WHERE id IN (SELECT session_id FROM session_details) AND id % 4;"
    "INSERT INTO session_leases SELECT id / 3, id, 'owner', id, id + 1, CASE id % 2 WHEN 0 THEN 'next' END,"
    " CASE id % 2 WHEN 0 THEN id END FROM sessions WHERE id % 3 = 0;"
    "INSERT INTO session_drafts SELECT id, id, 'draft ' || id FROM sessions WHERE id % 4 = 0;"
    "INSERT INTO session_inbox SELECT NULL, s.id, s.app_id, n.name, n.n, '[' || n.n || ']'"
    " FROM sessions AS s, temp.names AS n WHERE s.id % 2 = 0 AND n.n < 6;"
    "INSERT INTO derived SELECT id, 'words', 1, 0 FROM sessions WHERE id % 3;"
    "INSERT INTO app_state SELECT a.id, n.name, '{\"a\": 1.10}', 0, 0 FROM apps AS a, temp.names AS n WHERE "
    "n.n < 9;"
    "INSERT INTO user_state SELECT u.id, n.name, '\"\\u0000\"', 1, n.n FROM users AS u, temp.names AS n "
    "WHERE (u.id + n.n) % 4;"
    "INSERT INTO session_state SELECT s.id, n.name, '9007199254740993', n.n FROM sessions AS s, temp.names "
    "AS n"
    " WHERE (s.id + n.n) % 4 = 0 AND s.id % 5;"
    "INSERT INTO base_state SELECT session_id, 'app:' || key, value, seq FROM session_state WHERE session_id "
    "% 2;"
    "INSERT INTO events SELECT (s.id << 32) + n.n, s.id, 'e' || n.n, CASE n.n % 2 WHEN 0 THEN 7 ELSE 'e' || "
    "n.n END,"
    " CASE n.n % 2 WHEN 0 THEN '' ELSE 'i' END, n.name, CASE n.n % 3 WHEN 0 THEN 'b' END, n.n, CASE n.n % 4 "
    "WHEN 0 THEN 99 END,"
    " '{\"id\":\"e' || n.n || '\",\"x\":\"\\ud800\\u0000' || CASE n.n WHEN 7 THEN s.id % 2 ELSE '' END || "
    "'\"}'"
    " FROM sessions AS s, temp.names AS n WHERE n.n NOT IN (3, 5) AND s.id % 6;"
    "INSERT INTO artifact_contents SELECT id, id, CASE WHEN id % 2 THEN 'a' END, id, id % 2, 0 FROM users;"
    "INSERT INTO artifact_chunks SELECT (id << 20) + n.n, x'00ff' FROM artifact_contents, temp.names AS n WHERE n.n < 5;"
    "INSERT INTO artifacts SELECT u.id, CASE s.n WHEN 2 THEN '' ELSE s.name END, n.name, v.n, 0, 0, n.name, NULL, NULL, u.id"
    " FROM users AS u, temp.names AS s, temp.names AS n, temp.names AS v"
    " WHERE s.n < 4 AND (u.id + n.n) % 3 > 0 AND v.n <> n.n;"
    "INSERT INTO event_marks SELECT id, 4, 1, 2 FROM sessions WHERE id % 2 UNION ALL SELECT id, 6, 2, NULL "
    "FROM sessions;";

enum { MOST_PARAMETERS = 24, MOST_OWNERS = 100, MOST_TEXT = 2000 };

struct same {
    struct database *database;
    sqlite3 *file;
    char *statements;               /* the book of SQLite */
    int shards[3][MOST_OWNERS + 1]; /* of apps, users and sessions, by their numbers in the file */
    int counts[3];
    unsigned seed;
};

enum { APPS, USERS, SESSIONS };

/* ---------------------------------------------------------------------------------------------- the data */

static inline long long moved(const struct same *same, int kind, long long id)
{
    const bool is_known = id >= 0 && id <= same->counts[kind];
    return is_known ? id * 4096 + same->shards[kind][id] : id * 4096;
}

static inline void shard_function(sqlite3_context *context, int count, sqlite3_value **values)
{
    const struct same *same = sqlite3_user_data(context);
    (void)count;
    sqlite3_result_int(context, same->shards[sqlite3_value_int(values[0])][sqlite3_value_int(values[1])]);
}

static inline void moved_function(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    sqlite3_result_int64(context, moved(sqlite3_user_data(context), sqlite3_value_int(values[0]),
                                        sqlite3_value_int64(values[1])));
}

static inline sqlite3_stmt *ask_file(const struct same *same, const char *sql)
{
    sqlite3_stmt *statement = NULL;

    if (sqlite3_prepare_v2(same->file, sql, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(same->file));
    return statement;
}

/* The server makes the shards of what the file holds, of names. */
static inline void read_shards(struct same *same)
{
    static const char *const owners[] = {
        "SELECT id, name, NULL FROM apps",
        "SELECT u.id, a.name, u.name FROM users AS u JOIN apps AS a ON a.id = u.app_id",
        ("SELECT s.id, a.name, u.name FROM sessions AS s JOIN users AS u ON u.id = s.user_id JOIN apps AS a "
         "ON a.id = u.app_id")};

    for (int kind = APPS; kind <= SESSIONS; kind++) {
        sqlite3_stmt *rows = ask_file(same, owners[kind]);
        while (sqlite3_step(rows) == SQLITE_ROW) {
            const int id = sqlite3_column_int(rows, 0);
            const char *names[] = {(const char *)sqlite3_column_text(rows, 1),
                                   (const char *)sqlite3_column_text(rows, 2)};
            assert_in_range(id, 1, MOST_OWNERS);
            PGresult *result =
                database_take(same->database->conn,
                              PQexecParams(same->database->conn,
                                           "SELECT ('x' || left(encode(sha256(convert_to($1::text || "
                                           "coalesce(E'\\x01' || $2::text, ''),"
                                           " 'UTF8')), 'hex'), 3))::bit(12)::int",
                                           2, NULL, names, NULL, NULL, 0),
                              "a shard");
            same->shards[kind][id] = atoi(PQgetvalue(result, 0, 0));
            PQclear(result);
            if (same->counts[kind] < id)
                same->counts[kind] = id;
        }
        sqlite3_finalize(rows);
    }
}

/* The content of a table, as the file gives it. */
static const struct {
    const char *table;
    const char *select;
} same_tables[] = {
    {"apps", "SELECT shard(0, id), moved(0, id), name FROM apps"},
    {"users", "SELECT shard(1, id), moved(1, id), moved(0, app_id), name FROM users"},
    {"sessions (shard, id, app_id, user_id, name, created_us, updated_us, active_30s, version, last_seq,"
     " event_count, expires_us, details, changed_us, ahead_hour)",
     "SELECT shard(2, id), moved(2, id), moved(0, app_id), moved(1, user_id), name, created_us, "
     "updated_us,"
     " active_30s, version, last_seq, event_count, expires_us, details, changed_us, ahead_hour FROM "
     "sessions"},
    {"session_labels",
     "SELECT shard(2, session_id), moved(2, session_id), name, value, moved(0, app_id) FROM "
     "session_labels"},
    {"session_details",
     "SELECT shard(2, session_id), moved(2, session_id), title, parent_user, parent_session, "
     "parent_seq, more,"
     " initial_state, origin, archived_us, child_user, child_session, remembered_seq FROM session_details"},
    {"session_leases",
     "SELECT shard(2, session_id), moved(2, session_id), token, owner, taken_us, until_us, next_owner, next_until_us"
     " FROM session_leases"},
    {"session_drafts",
     "SELECT shard(2, session_id), moved(2, session_id), updated_us, body FROM session_drafts"},
    {"session_inbox",
     "SELECT shard(2, session_id), id, moved(2, session_id), moved(0, app_id), request, added_us, body"
     " FROM session_inbox"},
    {"derived", "SELECT shard(2, session_id), moved(2, session_id), what, seq, epoch FROM derived"},
    {"app_state",
     "SELECT shard(0, app_id), moved(0, app_id), key, value, moved(2, session_id), seq FROM app_state"},
    {"user_state",
     "SELECT shard(1, user_id), moved(1, user_id), key, value, moved(2, session_id), seq FROM user_state"},
    {"session_state",
     "SELECT shard(2, session_id), moved(2, session_id), key, value, seq FROM session_state"},
    {"base_state", "SELECT shard(2, session_id), moved(2, session_id), key, value, seq FROM base_state"},
    {"events", "SELECT shard(2, session_id), moved(2, session_id), position & 4294967295, id_key, "
               "invocation_at, author,"
               " branch, time_us, high_us, body FROM events"},
    {"artifact_contents",
     "SELECT shard(1, id), moved(1, id), moved(1, user_id), hash, size, uses, written_us FROM"
     " artifact_contents"}, /* each has the number of its user */
    {"artifact_chunks",
     "SELECT shard(1, position >> 20), moved(1, position >> 20), position & 1048575, '\\x' || lower(hex(bytes))"
     " FROM artifact_chunks"},
    {"artifacts",
     "SELECT shard(1, user_id), moved(1, user_id), session, name, version, created_us, kind, mime_type,"
     " display_name, metadata, moved(1, content_id) FROM artifacts"},
    {"event_marks",
     "SELECT shard(2, session_id), moved(2, session_id), seq, kind, target_seq FROM event_marks"}};
enum { SAME_TABLES = sizeof same_tables / sizeof same_tables[0] };

static inline void copy_table(const struct same *same, const char *table, const char *select)
{
    sqlite3_stmt *rows = ask_file(same, select);
    const int columns = sqlite3_column_count(rows);
    const char *values[MOST_PARAMETERS];
    char sql[400];
    size_t len = (size_t)snprintf(sql, sizeof sql, "INSERT INTO seslite.%s VALUES (", table);

    for (int i = 0; i < columns; i++)
        len += (size_t)snprintf(sql + len, sizeof sql - len, "$%d%s", i + 1, i + 1 == columns ? ")" : ", ");
    while (sqlite3_step(rows) == SQLITE_ROW) {
        for (int i = 0; i < columns; i++)
            values[i] = (const char *)sqlite3_column_text(rows, i);
        PQclear(database_take(same->database->conn,
                              PQexecParams(same->database->conn, sql, columns, NULL, values, NULL, NULL, 0),
                              sql));
    }
    sqlite3_finalize(rows);
}

static inline void copy_tables(const struct same *same)
{
    for (size_t i = 0; i < SAME_TABLES; i++)
        copy_table(same, same_tables[i].table, same_tables[i].select);
}

static inline char *read_text_file(const char *path)
{
    FILE *file = fopen(path, "r");
    struct text text = {NULL, 0};
    char line[1000];

    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (line[0] != '.')
            text_printf(&text, "%s", line);
    }
    fclose(file);
    return text.data;
}

static inline int same_setup(void **state)
{
    struct same *same = calloc(1, sizeof *same);
    void *database = NULL;
    char *schema = support_schema();

    assert_non_null(same);
    *state = same;
    assert_int_equal(database_setup(&database), 0);
    same->database = database;
    same->statements = read_text_file(BUILD_FOLDER "/gen/sqlite.sql");
    assert_int_equal(sqlite3_open(":memory:", &same->file), SQLITE_OK);
    /* as the library does, or the guards would refuse what the scripts below fill in */
    assert_int_equal(sqlite3_db_config(same->file, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL), SQLITE_OK);
    if (sqlite3_exec(same->file, schema, NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_exec(same->file, filling, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(same->file));
    sqlite3_create_function(same->file, "shard", 2, SQLITE_UTF8, same, shard_function, NULL, NULL);
    sqlite3_create_function(same->file, "moved", 2, SQLITE_UTF8, same, moved_function, NULL, NULL);
    read_shards(same);
    copy_tables(same);
    free(schema);
    return 0;
}

static inline int same_teardown(void **state)
{
    struct same *same = *state;
    void *database = same->database;

    sqlite3_close(same->file);
    free(same->statements);
    free(same);
    return database_teardown(&database);
}

#endif
