/* A store of version 0.2.0 (schema version 2) on a server, which a client of that version has open. */
#include <pthread.h>

#include "database.h"
#include "seslite_postgres.h"
#include "siblings.h"

static const ses_key first = {.app = "app", .user = "user", .session = "first"};

/* Sessions 4098, 8194 ... of one user, of which 8194 is a fork of the first. */
static void make_old(const struct database *database, const char *name, char place[600])
{
    char line[512];

    database_fresh(database, name, "", place);
    if (database_shell(line, sizeof line, "psql -X -q -1 -v ON_ERROR_STOP=1 -f sql/postgres/0002_initial.sql",
                       place) != 0)
        fail_msg("%s", line);
}

static void fill_old(const struct database *database, const char *name, char place[600])
{
    make_old(database, name, place);
    database_run_in(
        place,
        "INSERT INTO seslite.apps SELECT ('x' || left(encode(sha256('app'), 'hex'), 3))::bit(12)::int, 4096 + ('x' || "
        "left(encode(sha256('app'), 'hex'), 3))::bit(12)::int, 'app';"
        "INSERT INTO seslite.users SELECT n.shard, 4096 + n.shard, a.id, 'user' FROM seslite.apps AS a, (SELECT ('x' || "
        "left(encode(sha256('app\\001user'), 'hex'), 3))::bit(12)::int AS shard) AS n;"
        "INSERT INTO seslite.sessions (shard, id, app_id, user_id, name, created_us, updated_us, active_30s, version, "
        "last_seq, event_count, details, changed_us) SELECT u.shard, i * 4096 + u.shard, u.app_id, u.id, n, i, i, 0, 0, 0, "
        "0, CASE n WHEN 'first' THEN 0 WHEN 'alone' THEN 0 ELSE 1 END, i FROM seslite.users AS u, (VALUES (1, 'first'), "
        "(2, 'fork'), (3, 'alone'), (4, 'orphan'), (5, 'sibling')) AS v (i, n);"
        "INSERT INTO seslite.session_details (shard, session_id, parent_user, parent_session, parent_seq) SELECT shard, id, "
        "'user', CASE name WHEN 'fork' THEN 'first' ELSE 'deleted' END, 0 FROM seslite.sessions WHERE details = 1");
}

/* As each transaction of 0.2.0 that writes begins. */
#define OLD_BEGIN                                                                                                      \
    "BEGIN ISOLATION LEVEL READ COMMITTED; SELECT (SELECT pg_catalog.textcat('feature ', name)::pg_catalog.int8 FROM " \
    "seslite.features WHERE pg_catalog.int8ne(needs, 1) AND pg_catalog.textne(name, 'search') LIMIT 1)"

#define FAMILIES                                                                                                           \
    "SELECT string_agg(f.names, ' | ' ORDER BY f.names) FROM (SELECT string_agg(s.name, ' ' ORDER BY s.id) AS names FROM " \
    "seslite.sessions AS s JOIN seslite.session_details AS d ON d.session_id = s.id WHERE d.origin > 0 GROUP BY "          \
    "d.origin) AS f"

struct opening {
    const char *place;
    int code;
    ses_error error;
};

static void *open_it(void *context)
{
    struct opening *opening = context;
    ses_store *store = NULL;

    opening->code = ses_open_postgres(opening->place, NULL, NULL, &store, &opening->error);
    ses_close(store);
    return NULL;
}

static void assert_families(const char *place, const char *expected)
{
    PGconn *conn = PQconnectdb(place);
    PGresult *result = database_take(conn, PQexec(conn, FAMILIES), "families");

    assert_string_equal(PQgetvalue(result, 0, 0), expected);
    PQclear(result);
    PQfinish(conn);
}

static void test_the_upgrade_waits_for_an_old_client_and_then_refuses_it(void **state)
{
    const struct database *database = *state;
    char place[600];
    pthread_t thread;

    fill_old(database, "beside", place);
    struct opening opening = {.place = place};
    PGconn *old = PQconnectdb(place);
    PQclear(database_take(old, PQexec(old, OLD_BEGIN), "begin"));
    assert_int_equal(pthread_create(&thread, NULL, open_it, &opening), 0);
    for (int i = 0;
         i < 5000 &&
         database_number(database, "SELECT count(*) FROM pg_stat_activity WHERE datname = 'beside' "
                                   "AND wait_event_type = 'Lock'") == 0;
         i++)
        support_pause_us(1000);
    assert_int_equal(database_number(database,
                                     "SELECT count(*) FROM pg_stat_activity WHERE datname = 'beside' AND "
                                     "wait_event_type = 'Lock'"),
                     1);
    /* A fork that the old client makes in the transaction that it has begun. */
    PQclear(database_take(
        old,
        PQexec(
            old,
            "INSERT INTO seslite.sessions (shard, id, app_id, user_id, name, created_us, updated_us, active_30s, "
            "version, last_seq, event_count, details, changed_us) SELECT shard, 6 * 4096 + shard, app_id, id, "
            "'late', 6, 6, 0, 0, 0, 0, 1, 6 FROM seslite.users; INSERT INTO seslite.session_details (shard, "
            "session_id, parent_user, parent_session, parent_seq) SELECT shard, id, 'user', 'fork', 0 FROM "
            "seslite.sessions WHERE name = 'late'; COMMIT"),
        "a fork"));
    assert_int_equal(pthread_join(thread, NULL), 0);
    if (opening.code != SES_OK)
        fail_msg("%s", opening.error.message);
    assert_families(place, "first fork late | orphan sibling");
    PGresult *refused = PQexec(old, OLD_BEGIN);
    assert_int_equal(PQresultStatus(refused), PGRES_FATAL_ERROR);
    assert_non_null(strstr(PQerrorMessage(old), "feature families"));
    PQclear(refused);
    PQfinish(old);
}

static void test_an_upgraded_store_is_read_and_written(void **state)
{
    ses_store *store = NULL;
    char place[600];
    int64_t problems = -1;
    ses_error error;
    const ses_open_options read_only = {.size = sizeof read_only, .flags = SES_OPEN_READ_ONLY};

    fill_old(*state, "upgraded", place);
    assert_code(SES_READONLY, ses_open_postgres(place, &read_only, NULL, &store, &error));
    assert_message("run seslite migrate");
    assert_ok(ses_open_postgres(place, NULL, NULL, &store, &error));
    must_append_by_key(store, &first, "{}");
    assert_ok(ses_store_check(store, NULL, &problems, &error));
    assert_int_equal(problems, 0);
    assert_families(place, "first fork | orphan sibling");
    assert_siblings(store, &(ses_key){"app", "user", "orphan"}, &(ses_key){"app", "user", "sibling"});
    ses_close(store);
    assert_ok(ses_open_postgres(place, &read_only, NULL, &store, &error));
    ses_close(store);
}

/* Many programs open it at once: one upgrades it. */
static void test_programs_that_open_at_once(void **state)
{
    enum { PROGRAMS = 6 };
    struct opening openings[PROGRAMS];
    pthread_t threads[PROGRAMS];
    char place[600];

    fill_old(*state, "at_once", place);
    for (int i = 0; i < PROGRAMS; i++) {
        openings[i] = (struct opening){.place = place};
        assert_int_equal(pthread_create(&threads[i], NULL, open_it, &openings[i]), 0);
    }
    for (int i = 0; i < PROGRAMS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        if (openings[i].code != SES_OK)
            fail_msg("%s", openings[i].error.message);
    }
    assert_families(place, "first fork | orphan sibling");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_upgrade_waits_for_an_old_client_and_then_refuses_it),
        cmocka_unit_test(test_an_upgraded_store_is_read_and_written),
        cmocka_unit_test(test_programs_that_open_at_once),
    };
    return cmocka_run_group_tests_name("upgrade", tests, database_setup, database_teardown);
}
