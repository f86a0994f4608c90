/* The schema and the statements for PostgreSQL, held against a server: what they take and give, and how they find it. */
#include "database.h"
#include "open.h"

/* What an EXPLAIN is asked of: several users in each of several apps, and rows in every table. */
static const char *const filling[] = {
    "CREATE TEMP TABLE filled AS"
    " SELECT a, u, ('x' || left(encode(sha256(convert_to('app' || a, 'UTF8')), 'hex'), 3))::bit(12)::int AS "
    "app_shard,"
    " ('x' || left(encode(sha256(convert_to('app' || a || E'\\x01' || 'user' || u, 'UTF8')), 'hex'), "
    "3))::bit(12)::int"
    " AS shard FROM generate_series(1, 500) AS a, generate_series(1, 20) AS u WHERE u = 1 OR a <= 5",
    "INSERT INTO seslite.apps SELECT DISTINCT app_shard, (a::bigint << 12) + app_shard, 'app' || a FROM "
    "filled",
    "INSERT INTO seslite.users SELECT shard, ((a * 100 + u)::bigint << 12) + shard, (a::bigint << 12) + "
    "app_shard,"
    " 'user' || u FROM filled",
    "INSERT INTO seslite.sessions SELECT shard, ((a * 100 + u)::bigint * 1000 + s << 12) + shard,"
    " (a::bigint << 12) + app_shard, ((a * 100 + u)::bigint << 12) + shard, 'session' || s,"
    " s * 3600000000, s * 3600000000, s, 10, 10, 10, CASE s % 10 WHEN 0 THEN s END, 0, 4"
    " FROM filled, generate_series(1, 100) AS s WHERE a <= 5",
    "INSERT INTO seslite.events SELECT shard, id, n, 'event' || n, 'invocation', 'user', NULL, n, NULL,"
    " '{\"id\":\"event' || n || '\",\"text\":\"' || repeat('words ', 20) || '\"}'"
    " FROM seslite.sessions, generate_series(1, 10) AS n",
    "INSERT INTO seslite.event_marks SELECT shard, id, n, 1, 1 FROM seslite.sessions, generate_series(5, 6) "
    "AS n",
    "INSERT INTO seslite.session_labels SELECT shard, id, 'label' || n, 'value' || (id >> 12) % 50, app_id"
    " FROM seslite.sessions, generate_series(1, 3) AS n",
    "INSERT INTO seslite.session_details SELECT shard, id, 'A title' FROM seslite.sessions",
    "INSERT INTO seslite.session_leases SELECT shard, id, 1, 'owner', 0 FROM seslite.sessions",
    "INSERT INTO seslite.session_state SELECT shard, id, 'key' || n, 'true', 1"
    " FROM seslite.sessions, generate_series(1, 5) AS n",
    "INSERT INTO seslite.base_state SELECT * FROM seslite.session_state",
    "INSERT INTO seslite.user_state SELECT shard, id, 'key' || n, 'true', 0, 0"
    " FROM seslite.users, generate_series(1, 5) AS n",
    "INSERT INTO seslite.app_state SELECT shard, id, 'key' || n, 'true', 0, 0"
    " FROM seslite.apps, generate_series(1, 5) AS n",
    "INSERT INTO seslite.version_floor SELECT n, 1 FROM generate_series(0, 4095) AS n",
    "ANALYZE",
};

/* What goes through the shards by an index: all of an app, or all that there is. */
static const char *const across_shards[] = {
    "apps_named",
    "users_named",
    "app_after",
    "users_after",
    "sessions_of_app",
    "sessions_expired",
    "sessions_idle",
    "list_app_newest",
    "list_app_oldest",
    "list_app_newest_since",
    "list_app_oldest_before",
    "list_app_created",
    "choose_labelled",
    "choose_active",
    "labelled_ids",
    "hours_backward",
    "hours_forward",
    "hour_backward",
    "hour_forward",
    "labels_newest",
    "labels_oldest",
    "labels_created",
    "count_labelled",
    "count_active",
    "app_left",
    "check_app_after",
    "check_user_after",
    "check_session_after",
};

static bool goes_across_shards(const char *name)
{
    for (size_t i = 0; i < sizeof across_shards / sizeof across_shards[0]; i++) {
        if (strcmp(across_shards[i], name) == 0)
            return true;
    }
    return false;
}

/* ------------------------------------------------------------------------------------------ the schema */

static char *tables_of(const struct database *database)
{
    PGresult *result = database_ask(
        database,
        "SELECT string_agg(relname || relkind::text || (SELECT count(*) FROM seslite.schema_version), ' '"
        " ORDER BY relname) FROM pg_class WHERE relnamespace = 'seslite'::regnamespace");
    char *tables = strdup(PQgetvalue(result, 0, 0));

    assert_non_null(tables);
    PQclear(result);
    return tables;
}

static void test_the_schema_applies_once(void **state)
{
    struct database *database = *state;
    char *before = tables_of(database);
    char line[512];

    assert_int_not_equal(database_apply_schema(database, line, sizeof line), 0);
    assert_non_null(strstr(line, "schema \"seslite\" already exists"));
    char *after = tables_of(database);
    assert_string_equal(after, before);
    free(after);
    free(before);
}

static void test_the_schema_has_nothing_that_few_servers_have(void **state)
{
    struct database *database = *state;
    PGresult *result = database_ask(
        database,
        "SELECT (SELECT count(*) FROM pg_proc WHERE pronamespace = 'seslite'::regnamespace),"
        " (SELECT count(*) FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid"
        "  WHERE c.relnamespace = 'seslite'::regnamespace),"
        " (SELECT count(*) FROM pg_class WHERE relnamespace = 'seslite'::regnamespace AND relkind = 'S'),"
        " (SELECT count(*) FROM pg_constraint WHERE connamespace = 'seslite'::regnamespace AND contype = "
        "'f'),"
        " (SELECT count(*) FROM information_schema.columns AS c JOIN information_schema.tables AS t"
        "  USING (table_schema, table_name) WHERE table_schema = 'seslite' AND table_type = 'BASE TABLE'"
        "  AND NOT (data_type = 'bigint' OR (data_type = 'text' AND collation_name = 'C')"
        "           OR (data_type = 'integer' AND column_name IN ('shard', 'version'))))");

    for (int column = 0; column < 5; column++)
        assert_string_equal(PQgetvalue(result, 0, column), "0");
    PQclear(result);
}

/* --------------------------------------------------------------------------------------- what they take */

enum {
    TYPE_INT = 20,
    TYPE_TEXT = 25,
    TYPE_TEXTS = 1009,
    TYPE_INTS = 1016
}; /* https://github.com/postgres/postgres, pg_type.dat */

static bool is_prepared(const struct postgres_statement *statement)
{
    return statement->text && strncmp(statement->text, "BEGIN", 5) != 0 &&
           strncmp(statement->text, "COMMIT", 6) != 0 && strncmp(statement->text, "ROLLBACK", 8) != 0;
}

static void check_types(const struct postgres_statement *statement, const PGresult *result)
{
    assert_int_equal(PQnparams(result), statement->parameters);
    assert_int_equal(PQnfields(result) > 0, statement->returns);
    for (int i = 0; i < PQnparams(result); i++) {
        const Oid type = PQparamtype(result, i);
        if (type != TYPE_INT && type != TYPE_TEXT && type != TYPE_INTS && type != TYPE_TEXTS)
            fail_msg("%s: parameter %d has the type %u", statement->name, i + 1, type);
    }
    for (int i = 0; i < PQnfields(result); i++) {
        const Oid type = PQftype(result, i);
        if (type != TYPE_INT && type != TYPE_TEXT)
            fail_msg("%s: column %d has the type %u", statement->name, i + 1, type);
    }
}

static void prepare(const struct database *database, const struct postgres_statement *statement,
                    const char *locks)
{
    PGconn *conn = database->conn;
    char name[64];
    char text[4096];

    snprintf(name, sizeof name, "%s%s", statement->name, locks[0] ? "_locks" : "");
    assert_true(snprintf(text, sizeof text, "%s %s", statement->text, locks) < (int)sizeof text);
    PQclear(database_take(conn, PQprepare(conn, name, text, 0, NULL), statement->name));
    PGresult *result = database_take(conn, PQdescribePrepared(conn, name), statement->name);
    check_types(statement, result);
    PQclear(result);
}

static void test_every_statement_takes_and_gives_numbers_and_texts(void **state)
{
    int prepared = 0;

    for (int i = 0; i < POSTGRES_STATEMENT_COUNT; i++) {
        const struct postgres_statement *statement = &ses__postgres_statements[i];
        if (!is_prepared(statement))
            continue;
        prepare(*state, statement, "");
        if (statement->locks)
            prepare(*state, statement, statement->locks);
        prepared++;
    }
    assert_true(prepared > 100);
}

/* ------------------------------------------------------------------------------------- how they find it */

/* A line of a plan, "Index Scan using X on Y", and its condition, in a line after it. */
static void check_scan(const char *name, const char *scan, const char *condition)
{
    const char *end = strchr(condition, '\n');
    const char *shard = strstr(condition, "shard = ");
    const char *key = strstr(scan, "_pkey");

    if (end && shard && shard < end)
        return;
    if (!goes_across_shards(name) || (key && key < strchr(scan, '\n')))
        fail_msg("%s looks into all shards: %s", name, scan);
}

/* They ask the catalog, or are meant to look at all rows. */
static bool may_read_all(const char *name)
{
    static const char *const names[] = {"space",         "check_columns", "check_indexes",
                                        "check_orphans", "check_shards",  "check_count"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static void check_plan(const char *name, const char *plan)
{
    const char *seq = strstr(plan, "Seq Scan");

    if (may_read_all(name))
        return;
    if (seq)
        fail_msg("%s reads a table whole: %s", name, plan);
    for (const char *scan = strstr(plan, "Index "); scan; scan = strstr(scan + 1, "Index ")) {
        const bool is_scan = strncmp(scan, "Index Scan", 10) == 0 || strncmp(scan, "Index Only", 10) == 0;
        const bool is_bitmap = strncmp(scan - 7, "Bitmap Index", 12) == 0;
        if (is_scan || is_bitmap) {
            const char *condition = strstr(scan, "Index Cond: ");
            check_scan(name, scan, condition ? condition : "");
        }
    }
}

/* The plan that serves all parameters. */
static char *plan_of(const struct database *database, const struct postgres_statement *statement)
{
    char sql[300];
    size_t len = (size_t)snprintf(sql, sizeof sql, "EXPLAIN (COSTS OFF) EXECUTE %s", statement->name);
    struct text plan = {NULL, 0};

    for (int i = 0; i < statement->parameters; i++)
        len += (size_t)snprintf(sql + len, sizeof sql - len, "%sNULL%s", i == 0 ? "(" : ", ",
                                i + 1 == statement->parameters ? ")" : "");
    PGresult *result = database_ask(database, sql);
    for (int i = 0; i < PQntuples(result); i++)
        text_printf(&plan, "%s\n", PQgetvalue(result, i, 0));
    PQclear(result);
    return plan.data;
}

static void test_no_statement_reads_a_table_whole(void **state)
{
    struct database *database = *state;

    for (size_t i = 0; i < sizeof filling / sizeof filling[0]; i++)
        database_run(database, filling[i]);
    database_run(database, "SET plan_cache_mode = force_generic_plan");
    for (int i = 0; i < POSTGRES_STATEMENT_COUNT; i++) {
        const struct postgres_statement *statement = &ses__postgres_statements[i];
        if (is_prepared(statement)) {
            char *plan = plan_of(database, statement);
            check_plan(statement->name, plan);
            free(plan);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_schema_applies_once),
        cmocka_unit_test(test_the_schema_has_nothing_that_few_servers_have),
        cmocka_unit_test(test_every_statement_takes_and_gives_numbers_and_texts),
        cmocka_unit_test(test_no_statement_reads_a_table_whole),
    };
    return cmocka_run_group_tests_name("PostgreSQL: statements", tests, database_setup, database_teardown);
}
