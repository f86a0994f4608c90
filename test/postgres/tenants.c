/* Row security (sql/postgres/tenants.sql): programs of two apps on one store, each with a role that sees its
 * own app only. */
#include "database.h"
#include "plans.h"
#include "seslite_draft.h"
#include "seslite_inbox.h"
#include "seslite_artifact.h"
#include "seslite_postgres.h"
#include "seslite_usage.h"

#define APPLY "psql -X -q -1 -v ON_ERROR_STOP=1 -f "

static const ses_key ours = {.app = "app_a", .user = "user", .session = "s"};
static const ses_key theirs = {.app = "app_b", .user = "user", .session = "s"};

/* As sql/postgres/README.md says. */
static const char *const rights[] = {
    "GRANT USAGE ON SCHEMA seslite TO agent_a, agent_b",
    "DO $$ DECLARE t text; BEGIN FOR t IN SELECT relname FROM pg_class WHERE relnamespace = 'seslite'::regnamespace"
    " AND relkind IN ('r', 'p') AND NOT relispartition LOOP"
    " EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON seslite.%I TO agent_a, agent_b', t);"
    " END LOOP; END $$",
    "REVOKE INSERT, UPDATE, DELETE ON seslite.schema_version, seslite.features FROM agent_a, agent_b",
    "REVOKE DELETE ON seslite.version_floor FROM agent_a, agent_b",
    "CREATE POLICY tenant_agent_a ON seslite.apps TO agent_a USING (name IN ('app_a', 'app_c'))",
    "CREATE POLICY tenant_agent_b ON seslite.apps TO agent_b USING (name = 'app_b')",
};

struct tenants {
    struct database *database; /* whose connection is the owner's */
    ses_store *owner;
    ses_store *a;
    ses_store *b;
    PGconn *sql_a; /* as agent_a */
    PGconn *sql_b;
};

static void apply(const char *script, const char *place)
{
    char line[512];

    if (database_shell(line, sizeof line, script, place) != 0)
        fail_msg("%s", line);
}

static void place_of(const struct tenants *tenants, const char *role, char place[700])
{
    snprintf(place, 700, "%s user=%s", tenants->database->place, role);
}

static ses_store *open_as(const struct tenants *tenants, const char *role)
{
    ses_store *store = NULL;
    char place[700];
    ses_error error;

    place_of(tenants, role, place);
    assert_ok(ses_open_postgres(place, NULL, NULL, &store, &error));
    return store;
}

static PGconn *connect_as(const struct tenants *tenants, const char *role)
{
    char place[700];

    place_of(tenants, role, place);
    PGconn *conn = PQconnectdb(place);
    assert_int_equal(PQstatus(conn), CONNECTION_OK);
    return conn;
}

/* Uses all tables. */
static void fill(ses_store *store, const ses_key *key)
{
    static const ses_label label = {"name", "value"};
    const ses_create_options options = {
        .size = sizeof options, .title = "A title", .labels = &label, .label_count = 1};
    const ses_point first = {.size = sizeof first, .kind = SES_POINT_SEQ, .seq = 2};
    const ses_prune_options prune = {.size = sizeof prune, .which = SES_PRUNE_SEQ, .last_seq = 1};
    ses_session *session = NULL;
    ses_lease lease;
    ses_error error;

    assert_ok(ses_create(store, key, "{\"app:a\":1,\"user:b\":2,\"user:d\":2,\"c\":3}", SES_NUL, &options,
                         &session, &error));
    must_append(session, "{\"id\":\"e1\",\"invocationId\":\"i1\",\"actions\":{\"stateDelta\":{\"c\":4}}}");
    must_append(session,
                "{\"id\":\"e2\",\"invocationId\":\"i2\",\"actions\":{\"stateDelta\":{\"app:a\":5}}}");
    must_append(session,
                "{\"id\":\"e3\",\"invocationId\":\"i3\",\"actions\":{\"stateDelta\":{\"user:b\":6}}}");
    assert_ok(ses_rewind(session, &first, NULL, NULL, &error));
    ses_session_close(session);
    must_append_by_key(store, key,
                       "{\"actions\":{\"stateDelta\":{\"user:b\":\"__ADK_SENTINEL_REMOVED__\"}}}");
    assert_ok(ses_prune_by_key(store, key, &prune, NULL, &error));
    assert_ok(ses_lease_take(store, key, "owner", NULL, &lease, &error));
    assert_ok(ses_draft_set(store, key, "a draft", SES_NUL, NULL, &error));
    assert_ok(ses_inbox_add(store, key, "request", "1", 1, NULL, &error));
    assert_ok(ses_artifact_save_by_key(store, key, "a", "bytes", 5, NULL, NULL, &error));
}

static int64_t problems_of(ses_store *store)
{
    const ses_check_options whole = {.size = sizeof whole, .level = SES_CHECK_LOG};
    int64_t problems = -1;
    ses_error error;

    assert_ok(ses_store_check(store, &whole, &problems, &error));
    return problems;
}

static int setup(void **state)
{
    struct tenants *tenants = calloc(1, sizeof *tenants);
    void *database = NULL;

    assert_non_null(tenants);
    *state = tenants;
    assert_int_equal(database_setup(&database), 0);
    tenants->database = database;
    database_run(database, "CREATE ROLE agent_a LOGIN");
    database_run(database, "CREATE ROLE agent_b LOGIN");
    apply(APPLY "sql/postgres/tenants.sql", tenants->database->place);
    for (size_t i = 0; i < sizeof rights / sizeof rights[0]; i++)
        database_run(database, rights[i]);
    tenants->owner = open_as(tenants, "seslite");
    tenants->a = open_as(tenants, "agent_a");
    tenants->b = open_as(tenants, "agent_b");
    tenants->sql_a = connect_as(tenants, "agent_a");
    tenants->sql_b = connect_as(tenants, "agent_b");
    fill(tenants->a, &ours);
    fill(tenants->b, &theirs);
    return 0;
}

static int teardown(void **state)
{
    struct tenants *tenants = *state;
    void *database = tenants->database;

    PQfinish(tenants->sql_a);
    PQfinish(tenants->sql_b);
    ses_close(tenants->a);
    ses_close(tenants->b);
    ses_close(tenants->owner);
    free(tenants);
    return database_teardown(&database);
}

/* ------------------------------------------------------------------------------------------- the library */

/* How many rows a statement about the table (%s) finds or changes; it is taken back. */
static int64_t rows_of(PGconn *conn, const char *sql, const char *table)
{
    char text[300];

    snprintf(text, sizeof text, sql, table);
    PQclear(database_take(conn, PQexec(conn, "BEGIN"), "BEGIN"));
    PGresult *result = database_take(conn, PQexec(conn, text), text);
    const int64_t rows = strtoll(PQcmdTuples(result), NULL, 10);
    PQclear(result);
    PQclear(database_take(conn, PQexec(conn, "ROLLBACK"), "ROLLBACK"));
    return rows;
}

#define TENANTS_TEST(name) GROUP_TEST(struct tenants *tenants, name)

TENANTS_TEST(a_program_works_within_its_app)
{
    const ses_key one = {.app = "app_a", .user = "other", .session = "one"};
    const ses_key two = {.app = "app_a", .user = "other", .session = "two"};
    const ses_key three = {.app = "app_c", .user = "other", .session = "three"};

    assert_int_equal(problems_of(tenants->a), 0);
    fill(tenants->a, &one);
    ses_session *session = must_get(tenants->a, &one);
    assert_ok(ses_fork(session, NULL, &two, NULL, NULL, &error));
    ses_session_close(session);
    must_delete(tenants->a, &one);
    assert_int_equal(problems_of(tenants->owner), 0);
    assert_ok(ses_delete_user(tenants->a, "app_a", "other", NULL, NULL, NULL, &error));
    fill(tenants->a, &three);
    assert_ok(ses_delete_app(tenants->a, "app_c", NULL, NULL, &error));
    assert_int_equal(rows_of(tenants->database->conn, "SELECT FROM seslite.%s", "apps"), 2);
    assert_int_equal(problems_of(tenants->owner), 0);
}

static void assert_one_app(ses_store *store, const char *app)
{
    ses_names *names = NULL;
    ses_error error;

    assert_ok(ses_list_apps(store, NULL, &names, &error));
    assert_int_equal(ses_names_count(names), 1);
    assert_string_equal(ses_names_at(names, 0), app);
    ses_names_close(names);
}

TENANTS_TEST(a_program_finds_no_other_app)
{
    const ses_key new_one = {.app = "app_a", .user = "user", .session = "new"};
    const ses_key new_app = {.app = "app_c", .user = "user", .session = "new"};
    ses_session *session = NULL;
    ses_artifact *artifact = NULL;

    assert_one_app(tenants->a, "app_a");
    assert_one_app(tenants->b, "app_b");
    assert_code(ses_get(tenants->b, &ours, NULL, &session, &error), SES_NOTFOUND);
    assert_code(ses_append_by_key(tenants->b, &ours, "{}", SES_NUL, NULL, NULL, &error), SES_NOTFOUND);
    assert_code(ses_create(tenants->b, &ours, NULL, 0, NULL, NULL, &error), SES_READONLY);
    assert_code(ses_create(tenants->b, &new_one, NULL, 0, NULL, NULL, &error), SES_READONLY);
    assert_code(ses_create(tenants->b, &new_app, NULL, 0, NULL, NULL, &error), SES_READONLY);
    assert_non_null(strstr(error.message, "row-level security"));
    assert_code(ses_artifact_open_by_key(tenants->b, &ours, "a", NULL, &artifact, &error), SES_NOTFOUND);
    assert_code(ses_artifact_save_by_key(tenants->b, &ours, "a", "", 0, NULL, NULL, &error), SES_NOTFOUND);
    assert_int_equal(ses_delete_app(tenants->b, "app_a", NULL, NULL, &error), SES_OK);
    assert_ok(ses_get(tenants->a, &ours, NULL, &session, &error));
    ses_session_close(session);
    assert_int_equal(problems_of(tenants->owner), 0);
}

static size_t names_of(ses_store *store, const ses_key *of)
{
    ses_artifact_list *list = NULL;
    ses_error error;

    assert_ok(ses_artifact_names_by_key(store, of, NULL, &list, &error));
    const size_t count = ses_artifact_list_count(list);
    ses_artifact_list_close(list);
    return count;
}

/* By no name, and not by equal bytes either: each app's users have their own. */
TENANTS_TEST(a_program_finds_no_artifacts_of_others)
{
    static const ses_key own = {.app = "app_b", .user = "user", .session = "s"};
    const ses_artifact_save_options anyway = {.size = sizeof anyway, .flags = SES_ARTIFACT_WITHOUT_SESSION};
    ses_append_options append = {.size = sizeof append};
    ses_artifact_list *list = NULL;
    int64_t number = -1;

    const int64_t contents =
        database_number(tenants->database, "SELECT count(*) FROM seslite.artifact_contents");
    assert_ok(ses_artifact_save_by_key(tenants->a, &ours, "secret", "same", 4, NULL, NULL, &error));
    assert_ok(ses_artifact_save_by_key(tenants->b, &own, "mine", "same", 4, &anyway, NULL, &error));
    assert_int_equal(database_number(tenants->database, "SELECT count(*) FROM seslite.artifact_contents"),
                     contents + 2);
    assert_true(names_of(tenants->a, &ours) > 0);
    assert_int_equal(names_of(tenants->b, &ours), 0);
    assert_ok(ses_artifact_versions_by_key(tenants->b, &ours, "secret", NULL, &list, &error));
    assert_int_equal(ses_artifact_list_count(list), 0);
    ses_artifact_list_close(list);
    assert_ok(ses_artifact_delete_by_key(tenants->b, &ours, "secret", NULL, &number, &error));
    assert_int_equal(number, 0);
    assert_code(SES_READONLY,
                ses_artifact_save_by_key(tenants->b, &ours, "secret", "", 0, &anyway, NULL, &error));
    assert_ok(ses_artifacts_open(tenants->b, &ours, &append.artifacts, &error));
    assert_ok(ses_artifacts_add(append.artifacts, "secret", "same", 4, NULL, &error));
    assert_code(SES_NOTFOUND, ses_append_by_key(tenants->b, &ours, "{}", SES_NUL, &append, NULL, &error));
    ses_artifacts_close(append.artifacts);
    assert_ok(ses_artifact_delete_by_key(tenants->b, &own, "mine", NULL, &number, &error));
    assert_int_equal(number, 1);
    assert_ok(ses_artifact_delete_by_key(tenants->a, &ours, "secret", NULL, &number, &error));
    assert_int_equal(number, 1);
    assert_int_equal(problems_of(tenants->owner), 0);
}

static void assert_calls(ses_store *store, int64_t expected)
{
    ses_usage_rows *rows = NULL;
    ses_error error;

    assert_ok(ses_store_usage(store, NULL, NULL, &rows, &error));
    assert_int_equal(ses_usage_rows_sum(rows)->calls, expected);
    ses_usage_rows_close(rows);
}

/* The owner makes the tally, and each role keeps that of its own app. */
TENANTS_TEST(a_tally_of_each_app)
{
    const ses_key own = {"app_a", "user", "usage"};
    const char call[] = "{\"usageMetadata\":{\"totalTokenCount\":7}}";

    must_create(tenants->a, &own, NULL);
    must_append_by_key(tenants->a, &own, call);
    must_append_by_key(tenants->b, &theirs, call);
    must_append_by_key(tenants->b, &theirs, call);
    assert_calls(tenants->a, 1);
    assert_int_not_equal(ses_store_tally(tenants->a, NULL, NULL, &error), SES_OK);
    assert_ok(ses_store_tally(tenants->owner, NULL, NULL, &error));
    assert_calls(tenants->a, 1);
    must_append_by_key(tenants->b, &theirs, call);
    assert_calls(tenants->b, 3);
    assert_calls(tenants->owner, 4);
    const int64_t all = rows_of(tenants->database->conn, "SELECT FROM seslite.%s", "usage_sums");
    const int64_t of_a = rows_of(tenants->sql_a, "SELECT FROM seslite.%s", "usage_sums");
    assert_true(of_a > 1 && of_a < all);
    assert_int_equal(rows_of(tenants->sql_b, "UPDATE seslite.%s SET shard = shard", "usage_sums"),
                     all - of_a);
    must_delete(tenants->a, &own);
    assert_calls(tenants->owner, 3);
    assert_int_equal(rows_of(tenants->database->conn, "SELECT FROM seslite.%s", "usage_sums"), all - 2);
    assert_int_equal(problems_of(tenants->owner), 0);
    database_run(tenants->database, "DROP TABLE seslite.usage_sums"); /* as an upgrade leaves it */
    assert_calls(tenants->b, 3);
    assert_calls(tenants->owner, 3);
    assert_true(rows_of(tenants->database->conn, "SELECT FROM seslite.%s", "usage_sums") > 0);
    assert_ok(ses_store_tally(
        tenants->owner, &(ses_tally_options){.size = sizeof(ses_tally_options), .flags = SES_TALLY_DROP},
        NULL, &error));
    assert_calls(tenants->b, 3);
}

/* ------------------------------------------------------------------------------------------------- by SQL */

static const char *const tables[] = {"apps",
                                     "users",
                                     "sessions",
                                     "session_details",
                                     "session_labels",
                                     "session_leases",
                                     "session_drafts",
                                     "session_inbox",
                                     "derived",
                                     "app_state",
                                     "user_state",
                                     "session_state",
                                     "base_state",
                                     "events",
                                     "event_marks",
                                     "artifacts",
                                     "artifact_contents",
                                     "artifact_chunks"};

enum { TABLES = sizeof tables / sizeof tables[0] };

TENANTS_TEST(a_role_sees_and_changes_its_own_rows)
{
    database_run(tenants->database,
                 "INSERT INTO seslite.derived SELECT shard, id, 'words', 1, 0 FROM seslite.sessions");
    for (size_t i = 0; i < TABLES; i++) {
        const int64_t all = rows_of(tenants->database->conn, "SELECT FROM seslite.%s", tables[i]);
        const int64_t of_a = rows_of(tenants->sql_a, "SELECT FROM seslite.%s", tables[i]);
        const int64_t of_b = rows_of(tenants->sql_b, "SELECT FROM seslite.%s", tables[i]);
        assert_true(of_a > 0 && of_b > 0);
        assert_int_equal(of_a + of_b, all);
        assert_int_equal(rows_of(tenants->sql_b, "UPDATE seslite.%s SET shard = shard", tables[i]), of_b);
        assert_int_equal(rows_of(tenants->sql_b, "DELETE FROM seslite.%s", tables[i]), of_b);
    }
}

/* The SQLSTATE of a failure. */
static void assert_state(PGconn *conn, const char *sql, const char *wanted)
{
    PGresult *result = PQexec(conn, sql);
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);

    if (!state || strcmp(state, wanted) != 0)
        fail_msg("%s: %s", sql, state ? PQresultErrorMessage(result) : "no failure");
    assert_null(PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL)); /* which has the row's values */
    PQclear(result);
}

TENANTS_TEST(an_analyst_sees_all)
{
    database_run(tenants->database, "CREATE ROLE analyst LOGIN");
    database_run(tenants->database, "GRANT USAGE ON SCHEMA seslite TO analyst");
    database_run(tenants->database, "GRANT SELECT ON ALL TABLES IN SCHEMA seslite TO analyst");
    PGconn *conn = connect_as(tenants, "analyst");
    assert_int_equal(rows_of(conn, "SELECT FROM seslite.%s", "events"), 0);
    database_run(tenants->database, "CREATE POLICY tenant_analyst ON seslite.apps TO analyst USING (true)");
    for (size_t i = 0; i < TABLES; i++)
        assert_int_equal(rows_of(conn, "SELECT FROM seslite.%s", tables[i]),
                         rows_of(tenants->database->conn, "SELECT FROM seslite.%s", tables[i]));
    PQfinish(conn);
}

/* A copy of a row of agent_a's is refused by the policy, not because the row exists. */
TENANTS_TEST(a_role_learns_nothing_from_what_is_refused)
{
    static const char *const ways[] = {"", " ON CONFLICT DO NOTHING"};
    char sql[2000];

    for (size_t i = 0; i < TABLES; i++) {
        snprintf(sql, sizeof sql,
                 "SELECT format('INSERT INTO seslite.%s SELECT (%%L::seslite.%s).*', t) FROM seslite.%s AS t "
                 "LIMIT 1",
                 tables[i], tables[i], tables[i]);
        PGresult *row = database_take(tenants->sql_a, PQexec(tenants->sql_a, sql), sql);
        for (size_t w = 0; w < 2; w++) {
            snprintf(sql, sizeof sql, "%s%s", PQgetvalue(row, 0, 0), ways[w]);
            assert_state(tenants->sql_b, sql, "42501");
        }
        PQclear(row);
    }
}

/* Rows that stand between those of two apps. */
TENANTS_TEST(rows_of_mixed_owners_are_refused)
{
    PGresult *row = database_take(
        tenants->sql_a,
        PQexec(tenants->sql_a,
               "SELECT shard, id + 4096, (SELECT id FROM seslite.apps), user_id FROM seslite.sessions"),
        "a session");
    PGresult *app =
        database_take(tenants->sql_b, PQexec(tenants->sql_b, "SELECT id FROM seslite.apps"), "an app");
    char sql[500];

    snprintf(sql, sizeof sql,
             "INSERT INTO seslite.sessions VALUES (%s, %s, %s, %s, 's', 0, 0, 0, 0, 0, 0, NULL, 0, 0, 0)",
             PQgetvalue(row, 0, 0), PQgetvalue(row, 0, 1), PQgetvalue(app, 0, 0), PQgetvalue(row, 0, 3));
    assert_state(tenants->sql_b, sql, "42501");
    snprintf(sql, sizeof sql, "UPDATE seslite.sessions SET app_id = %s", PQgetvalue(row, 0, 2));
    assert_state(tenants->sql_b, sql, "42501");
    snprintf(sql, sizeof sql, "UPDATE seslite.users SET app_id = %s", PQgetvalue(row, 0, 2));
    assert_state(tenants->sql_b, sql, "42501");
    PQclear(row);
    PQclear(app);
    assert_state(tenants->sql_b,
                 "INSERT INTO seslite.events VALUES (0, 28672, 1, 'e', '', 'a', NULL, 1, NULL, '{}')",
                 "42501"); /* of no session */
}

/* The key of a row is a number, which is compared with those of all rows. It says when a row was added, and
 * no more. */
TENANTS_TEST(only_numbers_can_be_guessed)
{
    PGresult *row = database_take(
        tenants->sql_a, PQexec(tenants->sql_a, "SELECT shard, id FROM seslite.users LIMIT 1"), "a user");
    char sql[300];

    snprintf(sql, sizeof sql, "INSERT INTO seslite.users SELECT %s, %s, id, 'a guess' FROM seslite.apps",
             PQgetvalue(row, 0, 0), PQgetvalue(row, 0, 1));
    assert_state(tenants->sql_b, sql, "23505");
    PQclear(row);
}

TENANTS_TEST(a_function_is_not_called_for_rows_of_others)
{
    PGconn *conn = tenants->sql_b;

    PQclear(database_take(
        conn,
        PQexec(conn, "CREATE FUNCTION pg_temp.spy(number bigint) RETURNS boolean LANGUAGE plpgsql "
                     "COST 0.0001 AS $$ BEGIN IF number NOT IN (SELECT id FROM seslite.sessions) "
                     "THEN RAISE 'seen: %', number; END IF; RETURN true; END $$"),
        "a function"));
    assert_true(rows_of(conn, "SELECT FROM seslite.%s WHERE pg_temp.spy(session_id)", "events") > 0);
    assert_state(conn, "SELECT * FROM seslite.transcript", "42501");
}

/* A policy is a condition that the server must look at before others, unless it knows that they tell nothing.
 * So a condition may not serve for an index any more. */
TENANTS_TEST(no_statement_reads_a_table_whole_for_a_role)
{
    char place[600];
    char role[700];

    database_fresh(tenants->database, "plans", "", place);
    apply(APPLY DATABASE_SCHEMA, place);
    apply(APPLY "sql/postgres/tenants.sql", place);
    PGconn *conn = PQconnectdb(place);
    fill_tables(conn);
    for (size_t i = 0; i < 2; i++)
        PQclear(database_take(conn, PQexec(conn, rights[i]), rights[i]));
    PQclear(database_take(
        conn, PQexec(conn, "CREATE POLICY a ON seslite.apps TO agent_a USING (name = 'app1')"), "a policy"));
    PQfinish(conn);
    snprintf(role, sizeof role, "%s user=agent_a", place);
    conn = PQconnectdb(role);
    prepare_all(conn);
    check_plans(conn, "words_found"); /* see index_serves */
    PQfinish(conn);
}

TEST_GROUP(setup, teardown)
