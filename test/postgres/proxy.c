/* The proxy that the tests put before a server: how long it delays what goes through it, and what it
 * counts. */
#include "database.h"
#include "proxy.h"

static PGconn *connected(const char *place)
{
    PGconn *conn = PQconnectdb(place);

    if (PQstatus(conn) != CONNECTION_OK)
        fail_msg("%s", PQerrorMessage(conn));
    return conn;
}

static void ask(PGconn *conn, const char *sql)
{
    PQclear(database_take(conn, PQexec(conn, sql), sql));
}

/* The shortest of some. */
static double ask_us(PGconn *conn, int times)
{
    int64_t shortest = INT64_MAX;

    for (int i = 0; i < times; i++) {
        const int64_t begin = proxy_now();
        ask(conn, "SELECT 1");
        const int64_t took = proxy_now() - begin;
        shortest = took < shortest ? took : shortest;
    }
    return (double)shortest / 1000;
}

SERVER_TEST(a_round_trip_is_as_long_as_it_is_told)
{
    struct proxy *proxy = proxy_start(database->place, 500);
    assert_non_null(proxy);
    PGconn *conn = connected(proxy->place);
    const double direct = ask_us(database->conn, 100);
    const double delayed = ask_us(conn, 100);

    printf("direct %.0f us, delayed %.0f us\n", direct, delayed);
    assert_true(delayed > 1000);
    assert_true(delayed < 1000 + 2 * direct + 300);
    PQfinish(conn);
    proxy_stop(proxy);
}

SERVER_TEST(each_wait_for_an_answer_is_counted)
{
    struct proxy *proxy = proxy_start(database->place, 500);
    assert_non_null(proxy);
    PGconn *first = connected(proxy->place);
    PGconn *second = connected(proxy->place);

    assert_int_equal(proxy_turns(proxy), 2);
    proxy_reset(proxy);
    for (int i = 0; i < 5; i++)
        ask(first, "SELECT 1");
    ask(second, "SELECT 1");
    assert_int_equal(proxy_connections(proxy), 2);
    assert_int_equal(proxy_turns_of(proxy, 0), 5);
    assert_int_equal(proxy_turns_of(proxy, 1), 1);
    assert_int_equal(proxy_turns(proxy), 6);
    PQfinish(first);
    PQfinish(second);
    proxy_stop(proxy);
}

SERVER_TEST(a_pipeline_is_one_round_trip)
{
    struct proxy *proxy = proxy_start(database->place, 2000);
    PGresult *result;
    assert_non_null(proxy);
    PGconn *conn = connected(proxy->place);

    proxy_reset(proxy);
    assert_true(PQenterPipelineMode(conn));
    for (int i = 0; i < 50; i++)
        assert_true(PQsendQueryParams(conn, "SELECT 1", 0, NULL, NULL, NULL, NULL, 0));
    assert_true(PQpipelineSync(conn));
    for (int i = 0; i < 50; i++) {
        PQclear(database_take(conn, PQgetResult(conn), "SELECT 1"));
        assert_null(PQgetResult(conn));
    }
    result = PQgetResult(conn);
    assert_int_equal(PQresultStatus(result), PGRES_PIPELINE_SYNC);
    PQclear(result);
    assert_int_equal(proxy_turns(proxy), 1);
    PQfinish(conn);
    proxy_stop(proxy);
}

SERVER_TEST(much_is_not_slower_than_its_delay)
{
    struct proxy *proxy = proxy_start(database->place, 100000);
    PGresult *result;
    assert_non_null(proxy);
    PGconn *conn = connected(proxy->place);
    const int64_t begin = proxy_now();

    result = database_take(conn, PQexec(conn, "SELECT repeat('x', 10000000)"), "a large answer");
    assert_int_equal(PQgetlength(result, 0, 0), 10000000);
    assert_int_equal(strspn(PQgetvalue(result, 0, 0), "x"), 10000000);
    PQclear(result);
    /* Slept between reads, this would take 16 seconds and more. */
    assert_true(proxy_now() - begin < INT64_C(5000000000));
    PQfinish(conn);
    proxy_stop(proxy);
}

SERVER_TEST(the_end_of_either_side_is_handed_on)
{
    struct proxy *proxy = proxy_start(database->place, 0);
    PGresult *result;
    assert_non_null(proxy);
    PGconn *conn = connected(proxy->place);

    result = PQexec(conn, "SELECT pg_terminate_backend(pg_backend_pid())");
    assert_int_equal(PQresultStatus(result), PGRES_FATAL_ERROR);
    PQclear(result);
    assert_int_equal(PQstatus(conn), CONNECTION_BAD);
    PQfinish(conn);
    conn = connected(proxy->place);
    proxy_stop(proxy);
    PQclear(PQexec(conn, "SELECT 1"));
    assert_int_equal(PQstatus(conn), CONNECTION_BAD);
    PQfinish(conn);
}
