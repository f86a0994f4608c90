/* Programs that send only the statements of an append or a get. */
#include "bare.h"

#include <mysql.h>
#include <string.h>

enum { TEXT = 64, MOST_PARAMETERS = 6, VALUE_BYTES = 2048, COLUMNS = 12, SQL_BYTES = 4096 };

enum statement {
    BEGIN_WRITE,
    BEGIN_READ,
    COMMIT,
    SESSION_LOCK_BY_KEY,
    SESSION_LOCK,
    EVENT_ADD,
    SESSION_STATE_SET,
    USER_STATE_SET,
    SESSION_TOUCH,
    SESSION_FIND,
    APP_STATE_ALL,
    USER_STATE_ALL,
    SESSION_STATE_ALL,
    EVENTS_NEWEST,
    STATEMENT_COUNT
};

/* The values are the session's number, the user's, and those of the append: number, id, time, event. */
enum value { SESSION, USER, SEQ, ID, TIME, EVENT, NAME, VALUES };

static const struct {
    const char *text;
    enum value values[MOST_PARAMETERS];
    int parameters;
} statements[STATEMENT_COUNT] = {
    [BEGIN_WRITE] = {"BEGIN", {0}, 0},
    [BEGIN_READ] = {"START TRANSACTION READ ONLY", {0}, 0},
    [COMMIT] = {"COMMIT", {0}, 0},
    [SESSION_LOCK_BY_KEY] =
        {"SELECT s.id, s.user_id, s.version, s.last_seq, s.event_count, s.updated_us FROM seslite_sessions AS s"
         " JOIN seslite_users AS u ON u.id = s.user_id JOIN seslite_apps AS a ON a.id = u.app_id"
         " WHERE a.name = 'app' AND u.name = 'user' AND s.name = ? FOR UPDATE",
         {NAME},
         1},
    [SESSION_LOCK] =
        {"SELECT version, last_seq, event_count, updated_us FROM seslite_sessions WHERE id = ? FOR UPDATE",
         {SESSION},
         1},
    [EVENT_ADD] = {"INSERT INTO seslite_events (session_id, seq, id, invocation_id, author, time_us, body)"
                   " VALUES (?, ?, ?, 'e-1', 'agent', ?, ?)",
                   {SESSION, SEQ, ID, TIME, EVENT},
                   5},
    [SESSION_STATE_SET] = {"INSERT INTO seslite_session_state (session_id, `key`, value, seq) VALUES"
                           " (?, 'counter', ?, ?), (?, 'topic', '\"orders\"', ?)"
                           " ON DUPLICATE KEY UPDATE value = values(value), seq = values(seq)",
                           {SESSION, SEQ, SEQ, SESSION, SEQ},
                           5},
    [USER_STATE_SET] = {"INSERT INTO seslite_user_state (user_id, `key`, value, session_id, seq)"
                        " VALUES (?, 'seen', ?, ?, ?) ON DUPLICATE KEY UPDATE"
                        " value = values(value), session_id = values(session_id), seq = values(seq)",
                        {USER, SEQ, SESSION, SEQ},
                        4},
    [SESSION_TOUCH] = {"UPDATE seslite_sessions SET version = version + 1, last_seq = ?,"
                       " event_count = event_count + 1, updated_us = greatest(updated_us, ?) WHERE id = ?",
                       {SEQ, TIME, SESSION},
                       3},
    [SESSION_FIND] =
        {"SELECT s.id, s.version, s.last_seq, s.event_count, s.created_us, s.updated_us, s.expires_us,"
         " s.base_seq, s.details FROM seslite_sessions AS s JOIN seslite_users AS u ON u.id = s.user_id"
         " JOIN seslite_apps AS a ON a.id = u.app_id"
         " WHERE a.name = 'app' AND u.name = 'user' AND s.name = ?",
         {NAME},
         1},
    [APP_STATE_ALL] = {"SELECT `key`, value FROM seslite_app_state WHERE app_id ="
                       " (SELECT app_id FROM seslite_users WHERE id = ?) ORDER BY `key`",
                       {USER},
                       1},
    [USER_STATE_ALL] = {"SELECT `key`, value FROM seslite_user_state WHERE user_id = ? ORDER BY `key`",
                        {USER},
                        1},
    [SESSION_STATE_ALL] =
        {"SELECT `key`, value FROM seslite_session_state WHERE session_id = ? ORDER BY `key`", {SESSION}, 1},
    [EVENTS_NEWEST] =
        {"SELECT seq, id, invocation_id, author, branch, time_us, high_us, body FROM seslite_events"
         " WHERE session_id = ? ORDER BY seq DESC LIMIT 20",
         {SESSION},
         1},
};

struct my_bare {
    MYSQL *conn;
    MYSQL_STMT *prepared[STATEMENT_COUNT];
    int side;
    int64_t number; /* of the last event */
    char values[VALUES][SIDE_EVENT_BYTES + 1];
    char columns[COLUMNS][VALUE_BYTES]; /* of the row that was read last */
};

static void check(bool good, struct my_bare *bare)
{
    if (!good)
        fprintf(stderr, "bench: %s\n", mysql_error(bare->conn));
    CHECK(good);
}

static void ask_text(struct my_bare *bare, const char *sql, char *text)
{
    check(mysql_query(bare->conn, sql) == 0, bare);
    MYSQL_RES *rows = mysql_store_result(bare->conn);
    const MYSQL_ROW row = mysql_fetch_row(rows);
    CHECK(row);
    snprintf(text, TEXT, "%s", row[0]);
    mysql_free_result(rows);
}

struct my_bare *my_bare_open(const char *uri, const char *session, int side)
{
    struct my_bare *bare = calloc(1, sizeof *bare);
    char sql[200];

    CHECK(bare);
    bare->side = side;
    bare->number = GET_EVENTS;
    bare->conn = mysql_init(NULL);
    check(mysql_real_connect(bare->conn, NULL, "seslite", "secret", "agents", 0,
                             strstr(uri, "socket=") + strlen("socket="), CLIENT_MULTI_STATEMENTS) != NULL,
          bare);
    snprintf(bare->values[NAME], TEXT, "%s", session);
    snprintf(sql, sizeof sql, "SELECT id FROM seslite_sessions WHERE name = '%s'", session);
    ask_text(bare, sql, bare->values[SESSION]);
    snprintf(sql, sizeof sql, "SELECT user_id FROM seslite_sessions WHERE name = '%s'", session);
    ask_text(bare, sql, bare->values[USER]);
    for (int i = SESSION_LOCK_BY_KEY; i < STATEMENT_COUNT; i++) {
        bare->prepared[i] = mysql_stmt_init(bare->conn);
        check(mysql_stmt_prepare(bare->prepared[i], statements[i].text, strlen(statements[i].text)) == 0,
              bare);
    }
    return bare;
}

void my_bare_close(struct my_bare *bare)
{
    for (int i = SESSION_LOCK_BY_KEY; i < STATEMENT_COUNT; i++)
        (void)mysql_stmt_close(bare->prepared[i]);
    mysql_close(bare->conn);
    free(bare);
}

static void next_event(struct my_bare *bare)
{
    const int64_t number = ++bare->number;

    (void)side_event(bare->values[EVENT], bare->side, number);
    snprintf(bare->values[ID], 37, "%s", bare->values[EVENT] + 7);
    snprintf(bare->values[SEQ], TEXT, "%" PRId64, number);
    snprintf(bare->values[TIME], TEXT, "%" PRId64, INT64_C(1700000000250000) + number / 1000 * 1000000);
}

/* ------------------------------------------------------------------------------------------ prepared */

static bool is_number(enum value value)
{
    return value == SESSION || value == USER || value == SEQ || value == TIME;
}

/* The beginning and the end of a transaction, which MySQL does not prepare. */
static void run_border(struct my_bare *bare, enum statement number)
{
    check(mysql_query(bare->conn, statements[number].text) == 0, bare);
}

/* Runs it, and reads its rows. Returns the bytes of all texts in them. */
static size_t run_prepared(struct my_bare *bare, enum statement number)
{
    MYSQL_STMT *statement = bare->prepared[number];
    MYSQL_BIND given[MOST_PARAMETERS] = {{0}};
    MYSQL_BIND taken[COLUMNS] = {{0}};
    unsigned long lengths[COLUMNS];
    int64_t numbers[MOST_PARAMETERS];
    size_t bytes = 0;

    for (int i = 0; i < statements[number].parameters; i++) {
        const enum value value = statements[number].values[i];
        numbers[i] = strtoll(bare->values[value], NULL, 10);
        given[i].buffer_type = is_number(value) ? MYSQL_TYPE_LONGLONG : MYSQL_TYPE_STRING;
        given[i].buffer = is_number(value) ? (void *)&numbers[i] : bare->values[value];
        given[i].buffer_length = strlen(bare->values[value]);
    }
    if (statements[number].parameters > 0)
        CHECK(mysql_stmt_bind_param(statement, given) == 0);
    check(mysql_stmt_execute(statement) == 0, bare);
    const unsigned columns = mysql_stmt_field_count(statement);
    for (unsigned i = 0; i < columns; i++) {
        taken[i].buffer_type = MYSQL_TYPE_STRING;
        taken[i].buffer = bare->columns[i];
        taken[i].buffer_length = VALUE_BYTES;
        taken[i].length = &lengths[i];
    }
    if (columns == 0)
        return 0;
    CHECK(mysql_stmt_bind_result(statement, taken) == 0);
    while (mysql_stmt_fetch(statement) == 0) {
        for (unsigned i = 0; i < columns; i++)
            bytes += lengths[i];
    }
    CHECK(mysql_stmt_free_result(statement) == 0);
    return bytes;
}

static void append_prepared(struct my_bare *bare, int count, enum statement lock)
{
    for (int i = 0; i < count; i++) {
        next_event(bare);
        run_border(bare, BEGIN_WRITE);
        CHECK(run_prepared(bare, lock) > 0);
        for (enum statement statement = EVENT_ADD; statement <= SESSION_TOUCH; statement++)
            (void)run_prepared(bare, statement);
        run_border(bare, COMMIT);
    }
}

void my_bare_append_prepared(void *bare, int count)
{
    append_prepared(bare, count, SESSION_LOCK);
}

void my_bare_append_by_key(void *bare, int count)
{
    append_prepared(bare, count, SESSION_LOCK_BY_KEY);
}

void my_bare_get_prepared(void *context, int count)
{
    struct my_bare *bare = context;

    for (int i = 0; i < count; i++) {
        size_t bytes = 0;
        run_border(bare, BEGIN_READ);
        for (enum statement statement = SESSION_FIND; statement <= EVENTS_NEWEST; statement++)
            bytes += run_prepared(bare, statement);
        run_border(bare, COMMIT);
        CHECK(bytes > GET_EVENTS * SIDE_EVENT_BYTES);
    }
}

/* ---------------------------------------------------------------------------------------------- text */

/* The events have no quotes, so that nothing has to be escaped. */
static size_t add_statement(const struct my_bare *bare, char *sql, size_t len, enum statement number)
{
    int parameter = 0;

    if (len > 0)
        sql[len++] = ';';
    for (const char *at = statements[number].text; *at; at++) {
        if (*at != '?') {
            sql[len++] = *at;
            continue;
        }
        const enum value value = statements[number].values[parameter++];
        len += (size_t)snprintf(sql + len, SQL_BYTES - len, is_number(value) ? "%s" : "'%s'",
                                bare->values[value]);
    }
    return len;
}

/* Returns the bytes of all texts in the rows. */
static size_t run_text(struct my_bare *bare, const char *sql, size_t len)
{
    size_t bytes = 0;
    int more = 0;

    check(mysql_real_query(bare->conn, sql, len) == 0, bare);
    while (more == 0) {
        MYSQL_RES *rows = mysql_store_result(bare->conn);
        while (rows && mysql_fetch_row(rows)) {
            for (unsigned i = 0; i < mysql_num_fields(rows); i++)
                bytes += mysql_fetch_lengths(rows)[i];
        }
        mysql_free_result(rows);
        more = mysql_next_result(bare->conn);
    }
    check(more < 0, bare);
    return bytes;
}

void my_bare_append_text(void *context, int count)
{
    struct my_bare *bare = context;

    for (int i = 0; i < count; i++) {
        char sql[SQL_BYTES];
        size_t len = 0;
        next_event(bare);
        len = add_statement(bare, sql, len, BEGIN_WRITE);
        for (enum statement statement = SESSION_LOCK; statement <= SESSION_TOUCH; statement++)
            len = add_statement(bare, sql, len, statement);
        len = add_statement(bare, sql, len, COMMIT);
        (void)run_text(bare, sql, len);
    }
}

void my_bare_get_text(void *context, int count)
{
    struct my_bare *bare = context;

    for (int i = 0; i < count; i++) {
        char sql[SQL_BYTES];
        size_t len = add_statement(bare, sql, 0, BEGIN_READ);
        for (enum statement statement = SESSION_FIND; statement <= EVENTS_NEWEST; statement++)
            len = add_statement(bare, sql, len, statement);
        len = add_statement(bare, sql, len, COMMIT);
        CHECK(run_text(bare, sql, len) > GET_EVENTS * SIDE_EVENT_BYTES);
    }
}
