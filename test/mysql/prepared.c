/* Statements of frequent calls are prepared on each connection when it first sends them. */
#include "mysql/database.h"

static const ses_key key = {"app", "user", "s1"};
static const char event[] =
    "{\"author\":\"user\",\"actions\":{\"stateDelta\":{\"a\":1,\"b\":\"it's \\\\\",\"c\":3,\"user:d\":4,"
    "\"user:e\":5,\"app:f\":6,\"app:g\":7}}}";

static ses_store *open_with_one_connection(const struct database *database)
{
    const ses_open_options options = {.size = sizeof options, .busy_timeout_ms = 20000};
    const ses_mysql_options one = {.size = sizeof one, .max_connections = 1};
    ses_store *store = NULL;
    ses_error error;

    assert_ok(ses_open_mysql(database->uri, &options, &one, &store, &error));
    return store;
}

static void append(ses_store *store, const char *json)
{
    must_append_by_key(store, &key, json);
}

/* The state after `event`, and so many events. */
static void assert_session(ses_store *store, int64_t events)
{
    ses_session *session = must_get(store, &key);
    assert_int_equal(ses_session_last_seq(session), events);
    assert_string_equal(
        support_state(session, NULL),
        "{\"app:f\":6,\"app:g\":7,\"user:d\":4,\"user:e\":5,\"a\":1,\"b\":\"it's \\\\\",\"c\":3}");
    ses_session_close(session);
}

static int begin(void **state)
{
    const struct database *database = *state;

    (void)database_ask(database, "DROP DATABASE agents");
    (void)database_ask(database, "CREATE DATABASE agents");
    return 0;
}

#define PREPARED_TEST(name) TEST_WITH(struct database *database, begin, NULL, name)

PREPARED_TEST(a_connection_prepares_each_statement_once)
{
    ses_store *store = open_with_one_connection(database);

    must_create(store, &key, NULL);
    append(store, event);
    assert_session(store, 1);
    const int64_t prepared = database_count(database, "Com_prepare_sql");
    const int64_t executed = database_count(database, "Com_execute_sql");
    assert_true(prepared > 0);
    append(store, event);
    assert_session(store, 2);
    assert_int_equal(database_count(database, "Com_prepare_sql"), prepared);
    assert_true(database_count(database, "Com_execute_sql") >= executed + 10);
    ses_close(store);
}

/* The first append is refused at its first statement, and those after it are not prepared. */
PREPARED_TEST(statements_left_out_by_a_failure_are_prepared_later)
{
    ses_store *maker = database_open(database->uri, 20000);
    ses_store *store = open_with_one_connection(database);

    must_create(maker, &key, NULL);
    ses_session *session = must_get(maker, &key);
    append(maker, event);
    assert_code(SES_STALE, ses_append(session, event, SES_NUL, NULL, NULL, &error));
    assert_code(SES_NOTFOUND, ses_append_by_key(store, &(ses_key){"app", "user", "other"}, event, SES_NUL,
                                                NULL, NULL, &error));
    const int64_t connections = database_count(database, "Connections");
    append(store, event);
    append(maker, event);
    assert_session(store, 3);
    assert_int_equal(database_count(database, "Connections"), connections);
    ses_session_close(session);
    ses_close(store);
    ses_close(maker);
}

PREPARED_TEST(a_server_without_room_for_statements_gets_text)
{
    (void)database_ask(database, "SET GLOBAL max_prepared_stmt_count = 0");
    ses_store *store = open_with_one_connection(database);
    must_create(store, &key, NULL);
    append(store, event);
    assert_session(store, 1);
    (void)database_ask(database, "SET GLOBAL max_prepared_stmt_count = 16382");
    ses_close(store);
}

/* A session that is not there leaves nothing of the one that was found before. */
PREPARED_TEST(a_session_that_is_not_found_is_none)
{
    const ses_key other = {"app", "user", "other"};
    ses_store *store = open_with_one_connection(database);
    ses_session *session = NULL;

    must_create(store, &key, NULL);
    append(store, event);
    assert_code(SES_NOTFOUND, ses_append_by_key(store, &other, event, SES_NUL, NULL, NULL, &error));
    assert_code(SES_NOTFOUND, ses_get(store, &other, NULL, &session, &error));
    assert_session(store, 1);
    ses_close(store);
}

#define REMOVED "\"__ADK_SENTINEL_REMOVED__\""

/* A key may be there twice. */
PREPARED_TEST(operations_keep_their_order)
{
    ses_store *store = open_with_one_connection(database);

    must_create(store, &key, NULL);
    append(store, "{\"author\":\"user\",\"actions\":{\"stateDelta\":{\"a\":1,\"b\":1,\"c\":1,\"a\":" REMOVED
                  ",\"d\":1,\"d\":2,\"b\":3,\"c\":" REMOVED ",\"e\":1,\"user:f\":" REMOVED
                  ",\"user:f\":1,\"user:g\":1,\"user:g\":" REMOVED "}}}");
    ses_session *session = must_get(store, &key);
    assert_string_equal(support_state(session, NULL), "{\"user:f\":1,\"b\":3,\"d\":2,\"e\":1}");
    ses_session_close(session);
    ses_close(store);
}

/* Each kind of transaction has the isolation that it needs, in whatever order they come. */
PREPARED_TEST(transactions_take_turns)
{
    ses_store *store = open_with_one_connection(database);
    ses_store *other = database_open(database->uri, 20000);

    must_create(store, &key, NULL);
    for (int i = 0; i < 6; i += 2) {
        append(store, event);
        append(other, event);
        assert_session(store, i + 2);
    }
    ses_close(other);
    ses_close(store);
}

TEST_GROUP(database_setup, database_teardown)
