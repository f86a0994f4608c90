/* The schema and the statements for PostgreSQL, held against a server: what they take and give, and how they
 * find it. */
#include "database.h"
#include "plans.h"
#include "seslite_search.h"
#include "seslite_usage.h"
#include "open.h"
#include "seslite_postgres.h"

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

SERVER_TEST(the_schema_applies_once)
{
    char *before = tables_of(database);
    char line[512];

    assert_int_not_equal(database_apply_schema(database, line, sizeof line), 0);
    assert_non_null(strstr(line, "schema \"seslite\" already exists"));
    char *after = tables_of(database);
    assert_string_equal(after, before);
    free(after);
    free(before);
}

SERVER_TEST(the_schema_has_nothing_that_few_servers_have)
{
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
        "           OR (data_type = 'integer' AND column_name IN ('shard', 'version'))"
        "           OR (data_type = 'bytea' AND column_name = 'bytes')))");

    for (int column = 0; column < 5; column++)
        assert_string_equal(PQgetvalue(result, 0, column), "0");
    PQclear(result);
}

/* Without a primary key, a server that replicates logically refuses to update or delete. */
SERVER_TEST(every_table_has_a_primary_key_and_compares_bytes)
{
    make_features(database->conn);
    PGresult *result = database_ask(
        database,
        "SELECT (SELECT string_agg(c.relname, ' ') FROM pg_class AS c"
        "  WHERE c.relnamespace = 'seslite'::regnamespace AND c.relkind IN ('r', 'p')"
        "  AND NOT EXISTS (SELECT 1 FROM pg_index AS i WHERE i.indrelid = c.oid AND i.indisprimary)),"
        " (SELECT string_agg(c.relname || '.' || a.attname, ' ') FROM pg_class AS c"
        "  JOIN pg_attribute AS a ON a.attrelid = c.oid JOIN pg_collation AS o ON o.oid = a.attcollation"
        "  WHERE c.relnamespace = 'seslite'::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0"
        "  AND o.collname <> 'C')");

    assert_string_equal(PQgetvalue(result, 0, 0), "");
    assert_string_equal(PQgetvalue(result, 0, 1), "");
    PQclear(result);
}

/* --------------------------------------------------------------------------------------- what they take */

enum {
    TYPE_BYTES = 17,
    TYPE_INT = 20,
    TYPE_TEXT = 25,
    TYPE_TEXTS = 1009,
    TYPE_INTS = 1016
}; /* https://github.com/postgres/postgres, pg_type.dat */

static void check_types(const struct postgres_statement *statement, const PGresult *result)
{
    assert_int_equal(PQnparams(result), statement->parameters);
    assert_int_equal(PQnfields(result) > 0, statement->returns);
    for (int i = 0; i < PQnparams(result); i++) {
        const Oid type = PQparamtype(result, i);
        if (type != TYPE_INT && type != TYPE_TEXT && type != TYPE_INTS && type != TYPE_TEXTS &&
            type != TYPE_BYTES)
            fail_msg("%s: parameter %d has the type %u", statement->name, i + 1, type);
    }
    for (int i = 0; i < PQnfields(result); i++) {
        const Oid type = PQftype(result, i);
        if (type != TYPE_INT && type != TYPE_TEXT && type != TYPE_BYTES)
            fail_msg("%s: column %d has the type %u", statement->name, i + 1, type);
    }
}

static void prepare(const struct database *database, const struct postgres_statement *statement,
                    const char *text)
{
    PGconn *conn = database->conn;
    char name[64];

    snprintf(name, sizeof name, "%s%s", statement->name, text == statement->locked ? "_locked" : "");
    PQclear(database_take(conn, PQprepare(conn, name, text, 0, NULL), statement->name));
    PGresult *result = database_take(conn, PQdescribePrepared(conn, name), statement->name);
    check_types(statement, result);
    PQclear(result);
}

SERVER_TEST(every_statement_takes_and_gives_numbers_texts_and_bytes)
{
    int prepared = 0;

    make_features(database->conn);
    for (int i = 0; i < POSTGRES_STATEMENT_COUNT; i++) {
        const struct postgres_statement *statement = &ses__postgres_statements[i];
        if (!is_prepared(statement))
            continue;
        prepare(database, statement, statement->text);
        if (statement->locked)
            prepare(database, statement, statement->locked);
        prepared++;
    }
    assert_true(prepared > 100);
}

/* ------------------------------------------------------------------------------------- how they find it */

SERVER_TEST(no_statement_reads_a_table_whole)
{
    fill_tables(database->conn);
    check_plans(database->conn, NULL);
}

/* ------------------------------------------------------------------------------ somebody else's functions */

/* Every function and operator of pg_catalog whose name occurs in the texts, made again in `public`, where it
 * fails. A search path with `public` first then leads to these. */
static const char plant[] =
    "DO $plant$ DECLARE f record; BEGIN"
    " FOR f IN SELECT p.proname, pg_get_function_identity_arguments(p.oid) AS arguments,"
    "   string_agg(format_type(t.type, NULL), ', ' ORDER BY t.place) AS types"
    "  FROM pg_proc AS p LEFT JOIN LATERAL unnest(p.proargtypes) WITH ORDINALITY AS t (type, place) ON true"
    "  WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind <> 'p'"
    "   AND (SELECT string_agg(body, ' ') FROM texts) ~ ('\\m' || p.proname || '\\(')"
    "   AND NOT p.proargtypes::oid[] && ARRAY['\"any\"', 'internal', 'cstring']::regtype[]::oid[]"
    "  GROUP BY p.oid, p.proname"
    " LOOP EXECUTE format('CREATE FUNCTION public.%I(%s) RETURNS bigint LANGUAGE plpgsql AS "
    "$f$BEGIN RAISE ''%%'', ''a trojan: %s''; END$f$', f.proname, coalesce(f.types, ''), f.proname); END "
    "LOOP;"
    " FOR f IN SELECT o.oprname, format_type(o.oprleft, NULL) AS a, format_type(o.oprright, NULL) AS b,"
    "   format_type(o.oprresult, NULL) AS result, o.oid FROM pg_operator AS o"
    "  WHERE o.oprnamespace = 'pg_catalog'::regnamespace AND o.oprleft <> 0"
    "   AND strpos((SELECT string_agg(body, ' ') FROM texts), ' ' || o.oprname || ' ') > 0"
    "   AND ARRAY[o.oprleft, o.oprright] <@"
    "    ARRAY['int2', 'int4', 'int8', 'text', 'bool', 'name', 'oid', 'bit', 'numeric', "
    "'\"char\"']::regtype[]::oid[]"
    " LOOP EXECUTE format('CREATE FUNCTION public.trojan_%s(%s, %s) RETURNS %s LANGUAGE plpgsql AS "
    "$f$BEGIN RAISE ''%%'', ''a trojan: %s''; END$f$; CREATE OPERATOR public.%s (FUNCTION = public.trojan_%s,"
    " LEFTARG = %s, RIGHTARG = %s)', f.oid, f.a, f.b, f.result, f.oprname, f.oprname, f.oid, f.a, f.b); END "
    "LOOP;"
    "END $plant$";

static void keep_text(PGconn *conn, const char *text)
{
    if (text)
        PQclear(database_take(
            conn, PQexecParams(conn, "INSERT INTO texts VALUES ($1)", 1, NULL, &text, NULL, NULL, 0),
            "texts"));
}

static void plant_trojans(const char *place)
{
    PGconn *conn = PQconnectdb(place);

    PQclear(database_take(conn, PQexec(conn, "CREATE TEMP TABLE texts (body text)"), "texts"));
    for (int i = 0; i < POSTGRES_STATEMENT_COUNT; i++)
        keep_text(conn, ses__postgres_statements[i].text);
    for (size_t i = 0; i < ses__postgres_script_count(); i++)
        keep_text(conn, ses__postgres_script(i)->sql);
    PQclear(database_take(conn, PQexec(conn, plant), "plant"));
    PGresult *result = database_take(
        conn, PQexec(conn, "SELECT count(*) FROM pg_proc WHERE pronamespace = 'public'::regnamespace"),
        "count");
    assert_true(strtol(PQgetvalue(result, 0, 0), NULL, 10) > 100);
    PQclear(result);
    PQfinish(conn);
}

/* A call of each kind: what is sent whole, what asks by itself, reads, a walk and a check. */
static void use_all(ses_store *store)
{
    const ses_key key = {.app = "app", .user = "user", .session = "s"};
    const ses_filter labelled = {
        .size = sizeof labelled, .id_prefix = "s", .label = "color", .label_value = "blue"};
    const ses_list_options filtered = {.size = sizeof filtered, .filter = &labelled};
    const ses_check_options whole = {.size = sizeof whole, .level = SES_CHECK_LOG};
    const ses_point first = {.size = sizeof first, .kind = SES_POINT_SEQ, .seq = 1};
    ses_session *session = must_open_new(store, &key, "{\"app:a\":1,\"user:b\":2,\"c\":3}");
    int64_t problems = -1;
    ses_page *page = NULL;
    ses_hits *hits = NULL;
    ses_usage_rows *usage = NULL;
    ses_lease lease;
    ses_error error;

    assert_ok(ses_labels_set(session, &(ses_label){"color", "blue"}, 1, NULL, &error));
    must_append(session,
                "{\"invocationId\":\"1\",\"actions\":{\"stateDelta\":{\"app:a\":2,\"user:b\":3,\"c\":4}}}");
    must_append(
        session,
        "{\"invocationId\":\"2\",\"actions\":{\"stateDelta\":{\"user:b\":\"__ADK_SENTINEL_REMOVED__\"}}}");
    assert_ok(ses_rewind(session, &first, NULL, NULL, &error));
    ses_session_close(session);
    must_append_by_key(store, &key, "{\"author\":\"agent\"}");
    assert_ok(ses_list(store, "app", "user", &filtered, &page, &error));
    assert_int_equal(ses_page_count(page), 1);
    ses_page_close(page);
    assert_ok(ses_lease_take(store, &key, "owner", NULL, &lease, &error));
    assert_ok(ses_store_check(store, &whole, &problems, &error));
    assert_int_equal(problems, 0);
    assert_ok(ses_store_index(store, NULL, NULL, &error));
    assert_ok(ses_store_search(store, &key, "word", SES_NUL, NULL, &hits, &error));
    ses_hits_close(hits);
    assert_ok(ses_store_tally(store, NULL, NULL, &error));
    assert_ok(ses_store_usage(store, &key, NULL, &usage, &error));
    ses_usage_rows_close(usage);
    must_delete(store, &key);
}

SERVER_TEST(functions_of_others_are_never_called)
{
    char place[600];
    char misled[700];

    plant_trojans(database_fresh(database, "trojans", "", place));
    snprintf(misled, sizeof misled, "%s options='-c search_path=public,pg_catalog'", place);
    for (int unprepared = 0; unprepared < 2; unprepared++) {
        const ses_postgres_options options = {.size = sizeof options, .unprepared = unprepared};
        ses_store *store = NULL;
        assert_ok(ses_open_postgres(misled, NULL, &options, &store, &error));
        use_all(store);
        ses_close(store);
    }
    database_run_in(misled, "SELECT * FROM seslite.transcript");
}
