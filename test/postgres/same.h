/*
 * The same data in a store of SQLite and in one on a PostgreSQL server, statements of both, and random parameters for them.
 * A number that a row has in the file is 4096 times that on the server, plus the shard.
 */
#ifndef SESLITE_TEST_POSTGRES_SAME_H
#define SESLITE_TEST_POSTGRES_SAME_H

#include <sqlite3.h>

#include "database.h"
#include "open.h"

/* Names in an order that only bytes give, times that are equal or before 1970, rows that lack what they may lack. */
static const char filling[] =
    "PRAGMA foreign_keys = ON;"
    "CREATE TEMP TABLE names (n INTEGER PRIMARY KEY, name TEXT);"
    "INSERT INTO temp.names (name) VALUES ('a'), ('A'), ('a b'), ('ab'), ('ä'), ('Z'), ('a''\"%_\\'),"
    " (char(1114111)), ('a' || char(1114111)), ('a' || char(128512));"
    "INSERT INTO apps (name) SELECT name FROM temp.names WHERE n IN (1, 2, 5);"
    "INSERT INTO users (app_id, name) SELECT a.id, n.name FROM temp.names AS n, apps AS a WHERE n % 3 = a.id "
    "% 3;"
    "INSERT INTO sessions (app_id, user_id, name, created_us, updated_us, active_hour, version, last_seq,"
    " event_count, expires_us, details)"
    " SELECT u.app_id, u.id, n.name, -5, t.us, t.us / 3600000000 - (t.us % 3600000000 < 0), n.n, 9, 6,"
    " CASE n.n % 3 WHEN 0 THEN n.n % 2 END, CASE n.n % 2 WHEN 0 THEN 4 ELSE 0 END + CASE n.n % 4 WHEN 1 THEN "
    "2 ELSE 0 END"
    " FROM users AS u CROSS JOIN temp.names AS n CROSS JOIN (SELECT n, (n - 3) * 1800000000 AS us FROM "
    "temp.names) AS t"
    " WHERE t.n = (u.id * 7 + n.n * 3) % 5 + 1 AND (u.id + n.n) % 5 > 0;"
    "INSERT INTO session_labels SELECT s.id, n.name, CASE s.id % 3 WHEN 0 THEN '' WHEN 1 THEN 'a' ELSE 'ä' "
    "END, s.app_id"
    " FROM sessions AS s, temp.names AS n WHERE s.details & 4 AND (s.id + n.n) % 3 > 0 AND n.n IN (1, 2, 8);"
    "INSERT INTO session_details SELECT id, CASE WHEN details & 2 THEN 'A title' END, 'u', 'p', 3, NULL,"
    " CASE id % 2 WHEN 0 THEN '{\"a\":1}' END FROM sessions WHERE details > 0;"
    "INSERT INTO session_leases SELECT id * 3, id, 'owner', id, CASE id % 2 WHEN 0 THEN 'next' END,"
    " CASE id % 2 WHEN 0 THEN id END FROM sessions WHERE id % 3 = 0;"
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
    "INSERT INTO event_marks SELECT id, 4, 1, 2 FROM sessions WHERE id % 2 UNION ALL SELECT id, 6, 2, NULL "
    "FROM sessions;";

enum { MOST_PARAMETERS = 13, MOST_OWNERS = 100, MOST_TEXT = 2000 };

static const char *const texts[] = {"", "a", "A", "a b", "ab", "ä", "Z", "a'\"%_\\", "\xf4\x8f\xbf\xbf", "b"};

struct same {
    struct database *database;
    sqlite3 *file;
    char *statements;               /* sql/sqlite/statements.sql */
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
        "SELECT s.id, a.name, u.name FROM sessions AS s JOIN users AS u ON u.id = s.user_id JOIN apps AS a "
        "ON a.id = u.app_id"};

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

static inline void copy_table(const struct same *same, const char *table, const char *select)
{
    sqlite3_stmt *rows = ask_file(same, select);
    const int columns = sqlite3_column_count(rows);
    const char *values[MOST_PARAMETERS];
    char sql[300];
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
    copy_table(same, "apps", "SELECT shard(0, id), moved(0, id), name FROM apps");
    copy_table(same, "users", "SELECT shard(1, id), moved(1, id), moved(0, app_id), name FROM users");
    copy_table(
        same,
        "sessions (shard, id, app_id, user_id, name, created_us, updated_us, active_hour, version, last_seq,"
        " event_count, expires_us, details)",
        "SELECT shard(2, id), moved(2, id), moved(0, app_id), moved(1, user_id), name, created_us, "
        "updated_us,"
        " active_hour, version, last_seq, event_count, expires_us, details FROM sessions");
    copy_table(same, "session_labels",
               "SELECT shard(2, session_id), moved(2, session_id), name, value, moved(0, app_id) FROM "
               "session_labels");
    copy_table(same, "session_details",
               "SELECT shard(2, session_id), moved(2, session_id), title, parent_user, parent_session, "
               "parent_seq, more,"
               " initial_state FROM session_details");
    copy_table(
        same, "session_leases",
        "SELECT shard(2, session_id), moved(2, session_id), token, owner, until_us, next_owner, next_until_us"
        " FROM session_leases");
    copy_table(
        same, "app_state",
        "SELECT shard(0, app_id), moved(0, app_id), key, value, moved(2, session_id), seq FROM app_state");
    copy_table(
        same, "user_state",
        "SELECT shard(1, user_id), moved(1, user_id), key, value, moved(2, session_id), seq FROM user_state");
    copy_table(same, "session_state",
               "SELECT shard(2, session_id), moved(2, session_id), key, value, seq FROM session_state");
    copy_table(same, "base_state",
               "SELECT shard(2, session_id), moved(2, session_id), key, value, seq FROM base_state");
    copy_table(same, "events",
               "SELECT shard(2, session_id), moved(2, session_id), position & 4294967295, id_key, "
               "invocation_id, author,"
               " branch, time_us, high_us, body FROM events");
    copy_table(same, "event_marks",
               "SELECT shard(2, session_id), moved(2, session_id), seq, kind, target_seq FROM event_marks");
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
    char *schema = read_text_file("sql/sqlite/0001_initial.sql");

    assert_non_null(same);
    *state = same;
    assert_int_equal(database_setup(&database), 0);
    same->database = database;
    same->statements = read_text_file("sql/sqlite/statements.sql");
    assert_int_equal(sqlite3_open(":memory:", &same->file), SQLITE_OK);
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

/* ----------------------------------------------------------------------------------------- the parameters */

/* As both take it; NULL: NULL. */
struct values {
    char text[2][MOST_PARAMETERS][MOST_TEXT];
    bool is_int[MOST_PARAMETERS];
    bool is_null[2][MOST_PARAMETERS];
};
enum { OF_FILE, OF_SERVER };

static inline int any(struct same *same, int count)
{
    same->seed = same->seed * 1103515245U + 12345U;
    return (int)(same->seed / 65536U % (unsigned)count);
}

static inline void put_int(struct values *values, int at, long long of_file, long long of_server)
{
    snprintf(values->text[OF_FILE][at], MOST_TEXT, "%lld", of_file);
    snprintf(values->text[OF_SERVER][at], MOST_TEXT, "%lld", of_server);
    values->is_int[at] = true;
}

static inline void put_text(struct values *values, int at, const char *text)
{
    snprintf(values->text[OF_FILE][at], MOST_TEXT, "%s", text);
    snprintf(values->text[OF_SERVER][at], MOST_TEXT, "%s", text);
}

static inline void put_null(struct values *values, int at)
{
    values->is_null[OF_FILE][at] = values->is_null[OF_SERVER][at] = true;
}

static inline void put_owner(struct same *same, struct values *values, int at, int kind)
{
    const int id = any(same, same->counts[kind] + 2);
    put_int(values, at, id, moved(same, kind, id));
}

/* Some of all, each once. */
static inline void put_owners(struct same *same, struct values *values, int at, int kind)
{
    const int step = any(same, 3) + 1;
    size_t lens[2] = {1, 1};

    put_text(values, at, "[");
    values->text[OF_SERVER][at][0] = '{';
    for (int id = same->counts[kind] - any(same, 3); id > 0; id -= step) {
        const char *comma = lens[0] > 1 ? "," : "";
        lens[0] += (size_t)sprintf(values->text[OF_FILE][at] + lens[0], "%s%d", comma, id);
        lens[1] +=
            (size_t)sprintf(values->text[OF_SERVER][at] + lens[1], "%s%lld", comma, moved(same, kind, id));
    }
    values->text[OF_FILE][at][lens[0]] = ']';
    values->text[OF_SERVER][at][lens[1]] = '}';
    values->text[OF_FILE][at][lens[0] + 1] = values->text[OF_SERVER][at][lens[1] + 1] = '\0';
}

/* What ends with a byte that no text has, for the file, is without an end for the server. */
static inline void put_end(struct values *values, int at, const char *prefix)
{
    snprintf(values->text[OF_FILE][at], MOST_TEXT, "%s\xff", prefix);
    values->is_null[OF_SERVER][at] = true;
}

static inline long long time_of(struct same *same)
{
    return (any(same, 7) - 3) * 1800000000LL + any(same, 2);
}

/* The place in an order: after the factor come a time, a name or a number, a user. */
static inline void put_place(struct same *same, struct values *values, int at, char kind)
{
    const int factor = atoi(values->text[OF_FILE][3]);

    if (kind == 'P') {
        const long long place = factor * time_of(same);
        put_int(values, at, place, place);
    } else if (factor == 0 && kind == 'N')
        put_owner(same, values, at, SESSIONS);
    else if (factor == 0)
        put_int(values, at, INT64_MAX, INT64_MAX);
    else if (kind == 'N')
        put_text(values, at, texts[any(same, 10)]);
    else
        put_owner(same, values, at, USERS);
}

static inline void put_number(struct values *values, int at, long long value)
{
    put_int(values, at, value, value);
}

static inline void put_parameter(struct same *same, struct values *values, int at, char kind)
{
    char text[20];

    switch (kind) {
    case 'a':
        put_owner(same, values, at, APPS);
        break;
    case 'u':
        put_owner(same, values, at, USERS);
        break;
    case 's':
        put_owner(same, values, at, SESSIONS);
        break;
    case 'O':
        put_owners(same, values, at, USERS);
        break;
    case 'o':
        put_owners(same, values, at, SESSIONS);
        break;
    case 't':
        put_number(values, at, time_of(same));
        break;
    case 'h':
        put_number(values, at, any(same, 7) - 3);
        break;
    case 'q':
        put_number(values, at, any(same, 12));
        break;
    case 'n':
        put_number(values, at, any(same, 2) ? any(same, 8) : INT64_MAX);
        break;
    case 'B':
        put_number(values, at, any(same, 2));
        break;
    case 'F':
        put_number(values, at, any(same, 3) - 1);
        break;
    case 'P':
    case 'N':
    case 'I':
        put_place(same, values, at, kind);
        break;
    case 'e':
        put_end(values, at, values->text[OF_FILE][at - 1]);
        break;
    case 'v':
        put_text(values, at, any(same, 2) ? "a" : "");
        break;
    case 'V':
        values->text[OF_FILE][at - 1][0] ? put_text(values, at, "a") : put_end(values, at, "");
        break;
    case 'E':
        snprintf(text, sizeof text, "e%d", any(same, 12));
        put_text(values, at, text);
        break;
    case 'K':
        snprintf(text, sizeof text, "app:%s", texts[any(same, 10)]);
        put_text(values, at, text);
        break;
    case 'x':
        put_null(values, at);
        break;
    case 'w':
        any(same, 2) ? put_null(values, at) : put_owner(same, values, at, USERS);
        break;
    case 'W':
    case 'M':
        any(same, 2) ? put_null(values, at) : put_text(values, at, texts[any(same, 10)]);
        break;
    case 'p':
        put_text(values, at, texts[any(same, 4)]);
        break;
    default:
        put_text(values, at, texts[any(same, 10)]);
        break;
    }
}

/* ------------------------------------------------------------------------------------------ the statements */

/* SQLite's statement of that name; the lists of owners come as JSON. */
static inline sqlite3_stmt *prepare_in_file(const struct same *same, const char *name)
{
    static const char owners[] = "temp.seslite_owners(?1)";
    struct text sql = {NULL, 0};
    char head[64];

    snprintf(head, sizeof head, "-- name: %s\n", name);
    const char *from = strstr(same->statements, head);
    assert_non_null(from);
    from += strlen(head);
    const char *end = strstr(from, ";\n");
    const char *list = strstr(from, owners);
    if (list && list < end) {
        text_printf(&sql, "%.*s(SELECT value AS id, key AS rowid FROM json_each(?1))", (int)(list - from),
                    from);
        from = list + strlen(owners);
    }
    text_printf(&sql, "%.*s", (int)(end - from), from);
    sqlite3_stmt *statement = ask_file(same, sql.data);
    free(sql.data);
    return statement;
}

static inline void bind_in_file(sqlite3_stmt *statement, const struct values *values)
{
    for (int i = 0; i < sqlite3_bind_parameter_count(statement); i++) {
        if (values->is_null[OF_FILE][i])
            sqlite3_bind_null(statement, i + 1);
        else if (values->is_int[i])
            sqlite3_bind_int64(statement, i + 1, strtoll(values->text[OF_FILE][i], NULL, 10));
        else
            sqlite3_bind_text(statement, i + 1, values->text[OF_FILE][i], -1, SQLITE_STATIC);
    }
}

static PGresult *run_on_server(const struct same *same, const struct postgres_statement *statement,
                               const struct values *values)
{
    const char *given[MOST_PARAMETERS];

    for (int i = 0; i < statement->parameters; i++)
        given[i] = values->is_null[OF_SERVER][i] ? NULL : values->text[OF_SERVER][i];
    return database_take(same->database->conn,
                         PQexecParams(same->database->conn, statement->text, statement->parameters, NULL,
                                      given, NULL, NULL, 0),
                         statement->name);
}

static const struct postgres_statement *statement_of(const char *name)
{
    for (int i = 0; i < POSTGRES_STATEMENT_COUNT; i++) {
        if (ses__postgres_statements[i].text && strcmp(ses__postgres_statements[i].name, name) == 0)
            return &ses__postgres_statements[i];
    }
    fail_msg("there is no statement %s", name);
    return NULL;
}

#endif
