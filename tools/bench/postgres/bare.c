/* Programs that send only the statements of an append or a get through libpq. */
#include "sides.h"

#include <libpq-fe.h>
#include <string.h>

enum { MOST_PARAMETERS = 8, TEXT = 64 };

enum statement {
    BEGIN_WRITE,
    BEGIN_READ,
    COMMIT,
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

/* Rows by name: $1 is the app's shard, $2 the user's, followed by the names. */
#define APP_OF_NAME "(SELECT a.id FROM seslite.apps AS a WHERE a.shard = $1::int AND a.name = $3)"
#define USER_OF_NAME                                                                             \
    "(SELECT u.id FROM seslite.users AS u WHERE u.shard = $2::int AND u.name = $4 AND u.app_id " \
    "= " APP_OF_NAME ")"
#define SESSION_OF_NAME                                                                              \
    "(SELECT i.id FROM seslite.sessions AS i WHERE i.shard = $2::int AND i.name = $5 AND i.user_id " \
    "= " USER_OF_NAME ")"

static const struct {
    int parameters;
    const char *text;
} statements[STATEMENT_COUNT] = {
    [BEGIN_WRITE] = {0, "BEGIN"},
    [BEGIN_READ] = {0, "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"},
    [COMMIT] = {0, "COMMIT"},
    [SESSION_LOCK] = {2, "SELECT version, last_seq, event_count, updated_us FROM seslite.sessions"
                         " WHERE shard = $1::int AND id = $2::bigint FOR UPDATE"},
    [EVENT_ADD] =
        {6, "INSERT INTO seslite.events (shard, session_id, seq, id, invocation_id, author, time_us, body)"
            " VALUES ($1::int, $2::bigint, $3::bigint, $4, 'e-1', 'agent', $5::bigint, $6)"},
    [SESSION_STATE_SET] = {4, "INSERT INTO seslite.session_state (shard, session_id, key, value, seq) VALUES"
                              " ($1::int, $2::bigint, 'counter', $4, $3::bigint),"
                              " ($1::int, $2::bigint, 'topic', '\"orders\"', $3::bigint)"
                              " ON CONFLICT (shard, session_id, key)"
                              " DO UPDATE SET value = excluded.value, seq = excluded.seq"},
    [USER_STATE_SET] = {5, "INSERT INTO seslite.user_state (shard, user_id, key, value, session_id, seq)"
                           " VALUES ($1::int, $5::bigint, 'seen', $4, $2::bigint, $3::bigint)"
                           " ON CONFLICT (shard, user_id, key) DO UPDATE SET"
                           " value = excluded.value, session_id = excluded.session_id, seq = excluded.seq"},
    [SESSION_TOUCH] = {4, "UPDATE seslite.sessions SET version = version + 1, last_seq = $3::bigint,"
                          " event_count = event_count + 1, updated_us = greatest(updated_us, $4::bigint)"
                          " WHERE shard = $1::int AND id = $2::bigint"},
    [SESSION_FIND] =
        {5, "SELECT s.id, s.version, s.last_seq, s.event_count, s.created_us, s.updated_us, s.expires_us,"
            " s.base_seq, s.details FROM seslite.sessions AS s"
            " WHERE s.shard = $2::int AND s.name = $5 AND s.user_id = " USER_OF_NAME},
    [APP_STATE_ALL] =
        {3, "SELECT key, value FROM seslite.app_state WHERE shard = $1::int AND app_id = " APP_OF_NAME
            " AND $2::int IS NOT NULL ORDER BY key"},
    [USER_STATE_ALL] =
        {4, "SELECT key, value FROM seslite.user_state WHERE shard = $2::int AND user_id = " USER_OF_NAME
            " ORDER BY key"},
    [SESSION_STATE_ALL] = {5, "SELECT key, value FROM seslite.session_state WHERE shard = $2::int"
                              " AND session_id = " SESSION_OF_NAME " ORDER BY key"},
    [EVENTS_NEWEST] =
        {6, "SELECT seq, id, invocation_id, author, branch, time_us, high_us, body FROM seslite.events"
            " WHERE shard = $2::int AND session_id = " SESSION_OF_NAME " ORDER BY seq DESC LIMIT $6::bigint"},
};

struct bare {
    PGconn *conn;
    int side;
    int64_t number; /* in the id of the last event */
    const char *name;
    char app_shard[TEXT];
    char shard[TEXT];
    char session[TEXT];
    char user[TEXT];
};

/* ---------------------------------------------------------------------------------------------- asking it */

static void check_result(struct bare *bare, PGresult *result, const char *what)
{
    const ExecStatusType status = PQresultStatus(result);

    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        fprintf(stderr, "bench: %s: %s\n", what, PQerrorMessage(bare->conn));
    CHECK(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK);
}

static char *statement_name(enum statement statement, char name[TEXT])
{
    snprintf(name, TEXT, "s%d", (int)statement);
    return name;
}

static PGresult *ask(struct bare *bare, enum statement statement, const char *const *values)
{
    char name[TEXT];
    PGresult *result = PQexecPrepared(bare->conn, statement_name(statement, name),
                                      statements[statement].parameters, values, NULL, NULL, 0);

    check_result(bare, result, statements[statement].text);
    return result;
}

static void run(struct bare *bare, enum statement statement, const char *const *values)
{
    PQclear(ask(bare, statement, values));
}

static void post(struct bare *bare, enum statement statement, const char *const *values)
{
    char name[TEXT];

    CHECK(PQsendQueryPrepared(bare->conn, statement_name(statement, name), statements[statement].parameters,
                              values, NULL, NULL, 0));
}

/* Reads the results of that many statements and of the sync. Returns the bytes in their rows. */
static size_t take_all(struct bare *bare, int count)
{
    size_t bytes = 0;

    CHECK(PQpipelineSync(bare->conn));
    for (int i = 0; i < count; i++) {
        PGresult *result = PQgetResult(bare->conn);
        check_result(bare, result, "in a pipeline");
        for (int row = 0; row < PQntuples(result); row++) {
            for (int column = 0; column < PQnfields(result); column++)
                bytes += strlen(PQgetvalue(result, row, column));
        }
        PQclear(result);
        CHECK(PQgetResult(bare->conn) == NULL);
    }
    PGresult *sync = PQgetResult(bare->conn);
    CHECK(PQresultStatus(sync) == PGRES_PIPELINE_SYNC);
    PQclear(sync);
    return bytes;
}

static void ask_text(struct bare *bare, const char *sql, const char *value, char text[TEXT])
{
    PGresult *result = PQexecParams(bare->conn, sql, 1, NULL, &value, NULL, NULL, 0);

    check_result(bare, result, sql);
    CHECK(PQntuples(result) == 1);
    snprintf(text, TEXT, "%s", PQgetvalue(result, 0, 0));
    PQclear(result);
}

struct bare *pg_bare_open(const char *place, const char *session, int side)
{
    struct bare *bare = calloc(1, sizeof *bare);

    CHECK(bare);
    bare->side = side;
    bare->number = GET_EVENTS;
    bare->name = session;
    bare->conn = PQconnectdb(place);
    CHECK(PQstatus(bare->conn) == CONNECTION_OK);
    ask_text(bare, "SELECT shard FROM seslite.apps WHERE name = $1", "app", bare->app_shard);
    ask_text(bare, "SELECT shard FROM seslite.sessions WHERE name = $1", session, bare->shard);
    ask_text(bare, "SELECT id FROM seslite.sessions WHERE name = $1", session, bare->session);
    ask_text(bare, "SELECT user_id FROM seslite.sessions WHERE name = $1", session, bare->user);
    for (int i = 0; i < STATEMENT_COUNT; i++) {
        char name[TEXT];
        PGresult *result =
            PQprepare(bare->conn, statement_name((enum statement)i, name), statements[i].text, 0, NULL);
        check_result(bare, result, statements[i].text);
        PQclear(result);
    }
    return bare;
}

void pg_bare_close(struct bare *bare)
{
    PQfinish(bare->conn);
    free(bare);
}

/* ---------------------------------------------------------------------------------------------- appending */

/* The parameters of an append, as text. */
struct addition {
    char event[SIDE_EVENT_BYTES + 1];
    char id[37];
    char seq[TEXT];
    char time[TEXT];
    char value[TEXT];
};

static void addition_make(struct bare *bare, struct addition *addition)
{
    const int64_t number = ++bare->number;

    (void)side_event(addition->event, bare->side, number);
    memcpy(addition->id, addition->event + 7, 36);
    addition->id[36] = '\0';
    snprintf(addition->seq, TEXT, "%" PRId64, number);
    snprintf(addition->time, TEXT, "%" PRId64, INT64_C(1700000000250000) + number / 1000 * 1000000);
    snprintf(addition->value, TEXT, "%" PRId64, number);
}

typedef void do_statement(struct bare *bare, enum statement statement, const char *const *values);

/* The five statements with which an append writes once its session is locked. */
static void write_addition(struct bare *bare, const struct addition *addition, do_statement *each)
{
    each(bare, EVENT_ADD,
         (const char *[]){bare->shard, bare->session, addition->seq, addition->id, addition->time,
                          addition->event});
    each(bare, SESSION_STATE_SET,
         (const char *[]){bare->shard, bare->session, addition->seq, addition->value});
    each(bare, USER_STATE_SET,
         (const char *[]){bare->shard, bare->session, addition->seq, addition->value, bare->user});
    each(bare, SESSION_TOUCH, (const char *[]){bare->shard, bare->session, addition->seq, addition->time});
    each(bare, COMMIT, NULL);
}

/* As the only writer of the session, this program knows the next number. */
void pg_bare_append_pipeline(void *context, int count)
{
    struct bare *bare = context;

    CHECK(PQenterPipelineMode(bare->conn));
    for (int i = 0; i < count; i++) {
        struct addition addition;
        addition_make(bare, &addition);
        post(bare, BEGIN_WRITE, NULL);
        post(bare, SESSION_LOCK, (const char *[]){bare->shard, bare->session});
        write_addition(bare, &addition, post);
        (void)take_all(bare, 7);
    }
    CHECK(PQexitPipelineMode(bare->conn));
}

/* The next number comes from the row, since others may write to the session too. */
void pg_bare_append_single(void *context, int count)
{
    struct bare *bare = context;

    for (int i = 0; i < count; i++) {
        struct addition addition;
        addition_make(bare, &addition);
        run(bare, BEGIN_WRITE, NULL);
        PGresult *session = ask(bare, SESSION_LOCK, (const char *[]){bare->shard, bare->session});
        CHECK(PQntuples(session) == 1);
        snprintf(addition.seq, TEXT, "%lld", atoll(PQgetvalue(session, 0, 1)) + 1);
        PQclear(session);
        write_addition(bare, &addition, run);
    }
}

/* ------------------------------------------------------------------------------------------------ reading */

void pg_bare_get_pipeline(void *context, int count)
{
    struct bare *bare = context;
    char limit[TEXT];
    const char *names[MOST_PARAMETERS] = {bare->app_shard, bare->shard, "app", "user", bare->name, limit};

    snprintf(limit, sizeof limit, "%d", GET_EVENTS);
    CHECK(PQenterPipelineMode(bare->conn));
    for (int i = 0; i < count; i++) {
        post(bare, BEGIN_READ, NULL);
        for (enum statement statement = SESSION_FIND; statement <= EVENTS_NEWEST; statement++)
            post(bare, statement, names);
        post(bare, COMMIT, NULL);
        CHECK(take_all(bare, 7) > GET_EVENTS * SIDE_EVENT_BYTES);
    }
    CHECK(PQexitPipelineMode(bare->conn));
}
