/* The commands of sql/postgres/README.md in blocks that are marked `sh server`, in their order, and what they
 * lead to. */
#include "database.h"
#include "plans.h"
#include "seslite_postgres.h"

static const ses_key key = {.app = "shop", .user = "user", .session = "s"};

/* Runs the block in this place, counted from 1. */
static void run_block(int number)
{
    char command[400];
    char place[20];
    char line[512];

    snprintf(place, sizeof place, "%d", number);
    snprintf(command, sizeof command,
             "f() { awk -v wanted=\"$1\" '/^```sh server$/ {count++; inside = 1; next} /^```$/ {inside = 0}"
             " inside && count == wanted' sql/postgres/README.md | sh -eu >/dev/null; }; f");
    if (database_shell(line, sizeof line, command, place) != 0)
        fail_msg("block %d: %s", number, line);
}

static void open_database(const struct database *database, const char *name, ses_store **store, PGconn **conn)
{
    char place[600];
    ses_error error;

    snprintf(place, sizeof place, "%s dbname=%s", database->place, name);
    assert_ok(ses_open_postgres(place, NULL, NULL, store, &error));
    *conn = PQconnectdb(place);
    assert_int_equal(PQstatus(*conn), CONNECTION_OK);
}

static int64_t number_of(PGconn *conn, const char *sql)
{
    PGresult *result = database_take(conn, PQexec(conn, sql), sql);
    const int64_t number = strtoll(PQgetvalue(result, 0, 0), NULL, 10);

    PQclear(result);
    return number;
}

static int print_problem(void *context, const ses_problem *problem)
{
    (void)context;
    print_error("a check found: %s\n", problem->message);
    return 0;
}

static int64_t problems_of(ses_store *store, int level)
{
    const ses_check_options options = {.size = sizeof options, .level = level, .report = print_problem};
    int64_t problems = -1;
    ses_error error;

    assert_ok(ses_store_check(store, &options, &problems, &error));
    return problems;
}

static void create_and_append(ses_store *store)
{
    must_create(store, &key, "{\"app:a\":1,\"user:b\":2,\"c\":3}");
    must_append_by_key(store, &key, "{\"author\":\"user\",\"actions\":{\"stateDelta\":{\"c\":4}}}");
}

GROUP_TEST(struct database *database, a_store_is_partitioned_vacuumed_and_shared)
{
    ses_store *store = NULL;
    ses_store *shop = NULL;
    PGconn *conn = NULL;
    char place[600];

    run_block(1);
    open_database(database, "agents", &store, &conn);
    create_and_append(store);
    run_block(2);
    run_block(3);
    assert_int_equal(number_of(conn,
                               "SELECT count(*) FROM pg_class WHERE relispartition AND relkind = 'r' AND "
                               "'autovacuum_freeze_min_age=0' = ANY (reloptions)"),
                     16);
    run_block(4);
    snprintf(place, sizeof place, "host=%s user=shop dbname=agents", database->folder);
    assert_ok(ses_open_postgres(place, NULL, NULL, &shop, &error));
    ses_session *session = must_get(shop, &key);
    ses_session_close(session);
    must_append_by_key(shop, &key, "{\"author\":\"agent\"}");
    assert_int_equal(problems_of(shop, SES_CHECK_LOG), 0);
    assert_int_equal(problems_of(store, SES_CHECK_LOG), 0);
    ses_close(shop);
    /* A view and a partition would show it all. */
    assert_int_equal(number_of(conn,
                               "SELECT count(*) FROM pg_class WHERE relnamespace = 'seslite'::regnamespace "
                               "AND (relkind = 'v' OR relispartition AND relkind = 'r') "
                               "AND has_table_privilege('shop', oid, 'SELECT')"),
                     0);
    PQfinish(conn);
    ses_close(store);
}

GROUP_TEST(struct database *database, the_sessions_of_a_month_are_dropped)
{
    ses_store *store = NULL;
    PGconn *conn = NULL;

    run_block(5);
    open_database(database, "by_month", &store, &conn);
    fill_tables(conn); /* by their numbers, these sessions were created in the first month */
    create_and_append(store);
    assert_int_equal(number_of(conn, "SELECT count(*) FROM seslite.events_2025_01"), 100000);
    assert_int_equal(problems_of(store, SES_CHECK_FULL), 0);
    run_block(6);
    assert_int_equal(number_of(conn, "SELECT count(*) FROM seslite.sessions"), 1);
    assert_int_equal(number_of(conn, "SELECT count(*) FROM seslite.events"), 1);
    assert_int_equal(number_of(conn, "SELECT count(*) FROM seslite.artifacts WHERE user_id IN"
                                     " (SELECT u.id FROM seslite.users AS u WHERE u.app_id >> 12 <= 5)"),
                     0);
    assert_int_equal(
        number_of(conn, "SELECT count(*) FROM seslite.artifact_contents WHERE uses <> (SELECT count(*)"
                        " FROM seslite.artifacts WHERE shard = artifact_contents.shard AND content_id = id)"),
        0);
    assert_int_equal(number_of(conn, "SELECT count(*) FROM seslite.artifact_chunks"),
                     number_of(conn, "SELECT count(*) FROM seslite.artifact_contents"));
    assert_int_equal(problems_of(store, SES_CHECK_LOG), 0);
    assert_int_equal(number_of(conn, "SELECT min(floor) FROM seslite.version_floor WHERE floor > 1"), 11);
    must_append_by_key(store, &key, "{\"author\":\"agent\"}");
    PQfinish(conn);
    ses_close(store);
}

static int setup(void **state)
{
    const int code = database_setup(state);
    const struct database *database = *state;

    setenv("PGHOST", database->folder, 1);
    setenv("PGUSER", "seslite", 1);
    unsetenv("PGPORT");
    return code;
}

TEST_GROUP(setup, database_teardown)
