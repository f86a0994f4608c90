/* The plans of statements by name while what the server knows of the tables is long past: it was told of one
 * session. */
#include "database.h"
#include "open.h"

/* A hundred users' sessions, all but one of which are gone when the tables are analyzed; then there are many
 * again, in the room that was theirs and beyond it. */
static const char *const growing[] = {
    "ALTER TABLE seslite.sessions SET (autovacuum_enabled = off)",
    "INSERT INTO seslite.sessions SELECT 7, (n << 12) + 7, 8192, ((n % 100) << 12) + 7, 's' || n, n, n, 1, "
    "1, 0, 0, NULL, 0, 0, 0"
    " FROM generate_series(1::bigint, 20000) AS n",
    "DELETE FROM seslite.sessions WHERE id >> 12 < 20000",
    "ANALYZE seslite.sessions",
};
static const char grown[] = "INSERT INTO seslite.sessions SELECT 7, (n << 12) + 7, 8192, ((n % 100) << 12) + "
                            "7, 's' || n, n, n, 1, 1, 0, 0, NULL, 0, 0, 0"
                            " FROM generate_series(20001::bigint, 40000) AS n";

static const struct postgres_statement *statement_of(const char *name)
{
    for (int i = 0; i < POSTGRES_STATEMENT_COUNT; i++) {
        if (ses__postgres_statements[i].name && strcmp(ses__postgres_statements[i].name, name) == 0)
            return &ses__postgres_statements[i];
    }
    fail_msg("there is no statement %s", name);
    return NULL;
}

static void check_plan(const struct database *database, const char *name, const char *arguments,
                       const char *index)
{
    struct text plan = {NULL, 0};
    char sql[200];

    snprintf(sql, sizeof sql, "EXPLAIN (COSTS OFF) EXECUTE %s(%s)", name, arguments);
    PQclear(database_take(database->conn, PQprepare(database->conn, name, statement_of(name)->text, 0, NULL),
                          name));
    PGresult *result = database_ask(database, sql);
    for (int i = 0; i < PQntuples(result); i++)
        text_printf(&plan, "%s\n", PQgetvalue(result, i, 0));
    PQclear(result);
    if (!strstr(plan.data, index))
        fail_msg("%s: %s", name, plan.data);
    free(plan.data);
    snprintf(sql, sizeof sql, "DEALLOCATE %s", name);
    database_run(database, sql);
}

static void check_plans(const struct database *database)
{
    static const char index[] = "using sessions_shard_user_id_name_key";

    check_plan(database, "session_find", "NULL, NULL, NULL", index);
    check_plan(database, "sessions_by_name", "NULL, NULL, NULL", index);
    check_plan(database, "sessions_of_user", "NULL", index);
}

SERVER_TEST(a_session_is_found_by_its_name)
{
    for (size_t i = 0; i < sizeof growing / sizeof growing[0]; i++)
        database_run(database, growing[i]);
    database_run(database, "SET plan_cache_mode = force_generic_plan");
    check_plans(database);
    database_run(database, grown);
    check_plans(database);
}

/* A table that was never analyzed: few events, and then many, in one session. */
SERVER_TEST(a_long_log_is_cut_by_numbers_and_searched_by_ids)
{
    static const char *const filled[] = {
        "ALTER TABLE seslite.events SET (autovacuum_enabled = off)",
        "INSERT INTO seslite.events SELECT 1, 4097, n, 'id' || n, '', 'user', NULL, 1, NULL, '{}'"
        " FROM generate_series(1, 1000) AS n",
        "INSERT INTO seslite.events SELECT 1, 4097, n, 'id' || n, '', 'user', NULL, 1, NULL, '{}'"
        " FROM generate_series(1001, 100000) AS n",
    };

    database_run(database, filled[0]);
    for (size_t i = 1; i < sizeof filled / sizeof filled[0]; i++) {
        database_run(database, filled[i]);
        for (int generic = 0; generic < 2; generic++) {
            database_run(database, generic ? "SET plan_cache_mode = force_generic_plan"
                                           : "SET plan_cache_mode = force_custom_plan");
            check_plan(database, "events_delete", "4097, 1, 900", "using events_pkey");
            check_plan(database, "event_by_id", "4097, 'id7'", "using events_shard_session_id_id_key");
        }
    }
}
