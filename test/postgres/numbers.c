/* The numbers that the server gives: of apps, users and sessions, of leases, and where versions begin. */
#include "database.h"

static const struct postgres_statement *statement_at(const struct statement *statement)
{
    return &ses__postgres_statements[ses__statement_slot(statement)];
}

enum { PARAMETERS_MAX = 16 };

/* Runs it with parameters, NULL where none are given; its first value, or how many rows it changed. */
static int64_t run(const struct database *database, const struct statement *statement,
                   const char *const given[PARAMETERS_MAX])
{
    const struct postgres_statement *of_server = statement_at(statement);
    assert_in_range(of_server->parameters, 0, PARAMETERS_MAX);
    PGresult *result = database_take(
        database->conn,
        PQexecParams(database->conn, of_server->text, of_server->parameters, NULL, given, NULL, NULL, 0),
        of_server->name);
    const int64_t value = atoll(PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : PQcmdTuples(result));

    PQclear(result);
    return value;
}

#define RUN(statement_, ...) run(database, statement_, (const char *const[PARAMETERS_MAX]){__VA_ARGS__})

/* A user of the app "app", as text. */
static void make_user(const struct database *database, const char *name, char app[24], char user[24])
{
    RUN(STATEMENT_APP_ADD, "app");
    snprintf(app, 24, "%lld", (long long)RUN(STATEMENT_APP_FIND, "app"));
    RUN(STATEMENT_USER_ADD, app, name);
    snprintf(user, 24, "%lld", (long long)RUN(STATEMENT_USER_FIND, "app", name));
}

SERVER_TEST(a_number_ends_with_the_shard_of_its_names)
{
    char app[24];
    char user[24];

    make_user(database, "user", app, user);
    /* printf app | sha256sum; printf 'app\001user' | sha256sum */
    assert_int_equal(atoll(app) & 4095, 0xa17);
    assert_int_equal(atoll(user) & 4095, 0xf0b);
    const int64_t session = RUN(STATEMENT_SESSION_ADD, app, user, "one", "0", "0", "0", NULL, "0");
    assert_int_equal(session & 4095, atoll(user) & 4095);
}

SERVER_TEST(an_app_and_a_user_are_added_once)
{
    char app[24];
    char user[24];

    make_user(database, "twice", app, user);
    assert_int_equal(RUN(STATEMENT_APP_ADD, "app"), 0);
    assert_int_equal(RUN(STATEMENT_USER_ADD, app, "twice"), 0);
}

SERVER_TEST(numbers_ascend_even_if_the_clock_was_set_back)
{
    char app[24];
    char user[24];
    char sql[200];

    make_user(database, "clock", app, user);
    const int64_t first = RUN(STATEMENT_SESSION_ADD, app, user, "one", "0", "0", "0", NULL, "0");
    assert_true(RUN(STATEMENT_SESSION_ADD, app, user, "two", "0", "0", "0", NULL, "0") > first);
    const int64_t later = first + INT64_C(3600000000) * 4096;
    snprintf(sql, sizeof sql, "UPDATE seslite.sessions SET id = %lld WHERE id = %lld", (long long)later,
             (long long)first);
    database_run(database, sql);
    assert_int_equal(RUN(STATEMENT_SESSION_ADD, app, user, "three", "0", "0", "0", NULL, "0"), later + 4096);
}

SERVER_TEST(tokens_of_leases_ascend)
{
    char token[24];

    const int64_t first = RUN(STATEMENT_LEASE_ADD, "4096", "a", "1", "1");
    snprintf(token, sizeof token, "%lld", (long long)first);
    assert_int_equal(RUN(STATEMENT_LEASE_REPLACE, token, "4096"), 1);
    const int64_t second = RUN(STATEMENT_LEASE_ADD, "4096", "b", "1", "1");
    assert_true(second > first);
    database_run(database, "UPDATE seslite.session_leases SET token = 1000000000000000000, next_owner = 'c'");
    assert_int_equal(RUN(STATEMENT_LEASE_ADD, "4096", "c", "1", "1"), 1000000000000000001);
    PGresult *result =
        database_ask(database, "SELECT count(*), count(next_owner) FROM seslite.session_leases");
    assert_string_equal(PQgetvalue(result, 0, 0), "1");
    assert_string_equal(PQgetvalue(result, 0, 1), "0");
    PQclear(result);
}

SERVER_TEST(a_floor_is_the_shards_and_never_sinks)
{
    assert_int_equal(RUN(STATEMENT_VERSION_FLOOR, "4097"), 0);
    RUN(STATEMENT_VERSION_FLOOR_RAISE, "7", "4097");
    RUN(STATEMENT_VERSION_FLOOR_RAISE, "5", "8193");
    assert_int_equal(RUN(STATEMENT_VERSION_FLOOR, "8193"), 7);
    assert_int_equal(RUN(STATEMENT_VERSION_FLOOR, "4098"), 0);
}

SERVER_TEST(a_session_is_deleted_with_its_details)
{
    char app[24];
    char user[24];
    char session[24];

    make_user(database, "details", app, user);
    snprintf(session, sizeof session, "%lld",
             (long long)RUN(STATEMENT_SESSION_ADD, app, user, "one", "0", "0", "0", NULL, "0"));
    RUN(STATEMENT_TITLE_SET, session, "A title");
    assert_int_equal(RUN(STATEMENT_SESSION_DELETE, session), 1);
    PGresult *result = database_ask(database, "SELECT count(*) FROM seslite.session_details");
    assert_string_equal(PQgetvalue(result, 0, 0), "0");
    PQclear(result);
}
