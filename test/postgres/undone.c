/* A call that fails leaves nothing behind: see undone.h. */
#include "../undone.h"
#include "database.h"
#include "seslite_postgres.h"

static void refuse(void *context, const char *table, bool refuses)
{
    char sql[300];

    snprintf(sql, sizeof sql,
             refuses ? "CREATE TRIGGER refuses BEFORE INSERT OR UPDATE OR DELETE ON seslite.%s"
                       " FOR EACH ROW EXECUTE FUNCTION refuse()"
                     : "DROP TRIGGER IF EXISTS refuses ON seslite.%s",
             table);
    database_run(context, sql);
}

SERVER_TEST(nothing_of_a_call_that_fails_is_stored)
{
    struct undone undone = {.database = database, .refuse = refuse};

    assert_ok(ses_open_postgres(database->place, NULL, NULL, &undone.store, &error));
    must_create(undone.store, &undone_key, NULL);
    assert_ok(ses_store_tally(undone.store, NULL, NULL, &error)); /* makes its table */
    undone_clear(undone.store);
    database_run(database, "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS"
                           " $$ BEGIN RAISE EXCEPTION 'refused'; END $$");
    PGresult *tables = database_ask(
        database,
        "SELECT string_agg(tablename, ',' ORDER BY tablename) FROM pg_tables WHERE schemaname = 'seslite'"
        " AND tablename <> 'usage_sums'"); /* which a call drops, and another makes */
    undone.tables = PQgetvalue(tables, 0, 0);
    undone_try_all(&undone);
    PQclear(tables);
    ses_close(undone.store);
}
