/* How the server finds what statements ask for, with rows in every table. */
#ifndef SESLITE_TEST_POSTGRES_PLANS_H
#define SESLITE_TEST_POSTGRES_PLANS_H

#include "database.h"
#include "open.h"

/* Rows for plans: several users in each of several apps, and rows in every table. */
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
    " s * 3600000000, s * 3600000000, s * 120, 10, 10, 10, CASE s % 10 WHEN 0 THEN s END, 0, 4, s * 3600000000,"
    " CASE s % 10 WHEN 0 THEN s END"
    " FROM filled, generate_series(1, 100) AS s WHERE a <= 5",
    "INSERT INTO seslite.events SELECT shard, id, n, 'event' || n, 'invocation', 'user', NULL, n, NULL,"
    " '{\"id\":\"event' || n || '\",\"text\":\"' || repeat('words ', 20) || '\"}'"
    " FROM seslite.sessions, generate_series(1, 10) AS n",
    "INSERT INTO seslite.event_marks SELECT shard, id, n, 1, 1 FROM seslite.sessions, generate_series(5, 6) "
    "AS n",
    "INSERT INTO seslite.session_labels SELECT shard, id, 'label' || n, 'value' || (id >> 12) % 50, app_id"
    " FROM seslite.sessions, generate_series(1, 3) AS n",
    "INSERT INTO seslite.session_details SELECT shard, id, 'A title' FROM seslite.sessions",
    "INSERT INTO seslite.derived SELECT shard, id, 'words', 1, 0 FROM seslite.sessions",
    "INSERT INTO seslite.session_leases SELECT shard, id, 1, 'owner', 0, 0 FROM seslite.sessions",
    "INSERT INTO seslite.session_drafts SELECT shard, id, 0, 'draft' FROM seslite.sessions",
    "INSERT INTO seslite.session_inbox SELECT shard, id + 4096 * n, id, app_id, 'r' || n, 0, '1'"
    " FROM seslite.sessions, generate_series(0, 3) AS n ON CONFLICT DO NOTHING",
    "INSERT INTO seslite.session_state SELECT shard, id, 'key' || n, 'true', 1"
    " FROM seslite.sessions, generate_series(1, 5) AS n",
    "INSERT INTO seslite.base_state SELECT * FROM seslite.session_state",
    "INSERT INTO seslite.user_state SELECT shard, id, 'key' || n, 'true', 0, 0"
    " FROM seslite.users, generate_series(1, 5) AS n",
    "INSERT INTO seslite.app_state SELECT shard, id, 'key' || n, 'true', 0, 0"
    " FROM seslite.apps, generate_series(1, 5) AS n",
    "INSERT INTO seslite.artifact_contents SELECT shard, (((id >> 12) * 100 + n) << 12) + shard, id,"
    " CASE WHEN n > 1 THEN encode(sha256(n::text::bytea), 'hex') END, length(n::text), (n > 1)::int,"
    " (extract(epoch FROM now()) * 1000000)::bigint"
    " FROM seslite.users, generate_series(1, 20) AS n",
    "INSERT INTO seslite.artifact_chunks SELECT shard, id, 0, ((id >> 12) % 100)::text::bytea FROM seslite.artifact_contents",
    "INSERT INTO seslite.artifacts SELECT shard, user_id, 'session' || (id >> 12) % 5 + 1, 'name' || (id >> 12) % 7,"
    " (id >> 12) % 100, 0, 0, NULL, NULL, NULL, id FROM seslite.artifact_contents WHERE uses = 1",
    "INSERT INTO seslite.search_words SELECT shard, session_id, seq, array_to_tsvector(ARRAY['w' || id_hash % 1000])"
    " FROM (SELECT *, abs(session_id + seq) AS id_hash FROM seslite.events) AS e",
    "INSERT INTO seslite.derived SELECT shard, id, 'usage2', 1, 0 FROM seslite.sessions",
    "INSERT INTO seslite.usage_sums SELECT shard, session_id, seq, 'm', 'usage2', seq, seq, 1, 0, 0, 0, 1,"
    " 0, 0, 0, 0, 1 FROM seslite.events",
    "INSERT INTO seslite.version_floor SELECT n, 1 FROM generate_series(0, 4095) AS n",
    "ANALYZE",
};

/* The tables of features, which are not there until they are wanted. */
static inline void make_features(PGconn *conn)
{
    for (int i = 0; i < POSTGRES_STATEMENT_COUNT; i++) {
        const struct postgres_statement *statement = &ses__postgres_statements[i];
        if (statement->text &&
            (strcmp(statement->name, "index_make") == 0 || strcmp(statement->name, "usage_make") == 0))
            PQclear(database_take(conn, PQexec(conn, statement->text), statement->name));
    }
}

static inline void fill_tables(PGconn *conn)
{
    make_features(conn);
    for (size_t i = 0; i < sizeof filling / sizeof filling[0]; i++)
        PQclear(database_take(conn, PQexec(conn, filling[i]), filling[i]));
}

/* Statements that go through the shards by an index: all of an app, or the whole store. */
static const char *const across_shards[] = {
    "apps_named",       "users_named",         "app_after",         "sessions_of_app",     "sessions_expired",
    "sessions_idle",    "sessions_idle_ahead", "list_app_newest",   "list_app_oldest",     "list_app_created",
    "list_app_changed", "ids_labelled",        "ids_active_of_app", "count_labelled",      "count_active",
    "app_left",         "check_app_after",     "check_user_after",  "check_session_after", "due_count",
    "behind_any",       "behind_app",          "words_found",       "usage_any",           "usage_of_app",
    "family_of",        "families_of_user",    "inbox_of_store",    "inbox_of_app",        "ids_of_children",
    "followed_of_app",  "followed_of_store",   "followed_recent",   "recent_versions",
};

static inline bool goes_across_shards(const char *name)
{
    for (size_t i = 0; i < sizeof across_shards / sizeof across_shards[0]; i++) {
        if (strcmp(across_shards[i], name) == 0)
            return true;
    }
    return false;
}

static inline bool is_prepared(const struct postgres_statement *statement)
{
    return statement->text && strncmp(statement->text, "BEGIN", 5) != 0 &&
           strncmp(statement->text, "COMMIT", 6) != 0 && strncmp(statement->text, "ROLLBACK", 8) != 0;
}

static inline bool has_plan(const struct postgres_statement *statement)
{
    return strncmp(statement->text, "DO", 2) != 0 && strncmp(statement->text, "DROP", 4) != 0;
}

/* A line of a plan, "Index Scan using X on Y", and its condition, in a line after it. */
static inline void check_scan(const char *name, const char *scan, const char *condition)
{
    const char *end = strchr(condition, '\n');
    const char *shard = strstr(condition, "shard = ");
    const char *key = strstr(scan, "_pkey");

    if (end && shard && shard < end)
        return;
    if (strncmp(condition, "Index Cond: (name = 'app1'::text)", 33) == 0) /* a policy's, looked up once */
        return;
    if (!goes_across_shards(name) || (key && key < strchr(scan, '\n')))
        fail_msg("%s looks into all shards: %s", name, scan);
}

/* They ask the catalog, or are meant to look at all rows. */
static inline bool may_read_all(const char *name)
{
    static const char *const names[] = {
        "space",          "check_columns",  "check_indexes",    "check_orphans",  "check_shards",
        "check_floors",   "check_count",    "features_unknown", "begin_settings", "feature_find",
        "feature_leave",  "derived_forget", "derived_lag",      "behind_any",     "index_serves",
        "index_features", "index_leave",    "index_forget",     "table_sql",      "words_after",
        "usage_any"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static inline void check_plan(const char *name, const char *plan)
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
static inline char *plan_of(PGconn *conn, const struct postgres_statement *statement)
{
    char sql[300];
    size_t len = (size_t)snprintf(sql, sizeof sql, "EXPLAIN (COSTS OFF) EXECUTE %s", statement->name);
    struct text plan = {NULL, 0};

    for (int i = 0; i < statement->parameters; i++)
        len += (size_t)snprintf(sql + len, sizeof sql - len, "%sNULL%s", i == 0 ? "(" : ", ",
                                i + 1 == statement->parameters ? ")" : "");
    PGresult *result = database_take(conn, PQexec(conn, sql), sql);
    for (int i = 0; i < PQntuples(result); i++)
        text_printf(&plan, "%s\n", PQgetvalue(result, i, 0));
    PQclear(result);
    return plan.data;
}

static inline void prepare_all(PGconn *conn)
{
    for (int i = 0; i < POSTGRES_STATEMENT_COUNT; i++) {
        const struct postgres_statement *statement = &ses__postgres_statements[i];
        if (is_prepared(statement))
            PQclear(database_take(conn, PQprepare(conn, statement->name, statement->text, 0, NULL),
                                  statement->name));
    }
}

/* Those of all statements but one that is not used here (NULL: none). Each serves all parameters. */
static inline void check_plans(PGconn *conn, const char *unused)
{
    PQclear(database_take(conn, PQexec(conn, "SET plan_cache_mode = force_generic_plan"), "SET"));
    for (int i = 0; i < POSTGRES_STATEMENT_COUNT; i++) {
        const struct postgres_statement *statement = &ses__postgres_statements[i];
        if (is_prepared(statement) && has_plan(statement) &&
            !(unused && strcmp(statement->name, unused) == 0)) {
            char *plan = plan_of(conn, statement);
            check_plan(statement->name, plan);
            free(plan);
        }
    }
}

#endif
