/* A call that fails leaves nothing behind: see undone.h. */
#include "../undone.h"
#include "mysql/database.h"

/* Making a trigger takes the server long, so all are made at once, and ask whether their table refuses. */
static void make_triggers(const struct database *database, const char *tables)
{
    static const char *const changes[] = {"INSERT", "UPDATE", "DELETE"};
    char table[64];
    char sql[400];

    (void)database_ask(database, "CREATE TABLE refusing (name VARCHAR(64) PRIMARY KEY)");
    while (undone_next_table(&tables, table, sizeof table)) {
        for (size_t i = 0; i < 3; i++) {
            snprintf(sql, sizeof sql,
                     "CREATE TRIGGER %s_%s BEFORE %s ON %s FOR EACH ROW"
                     " IF EXISTS (SELECT 1 FROM refusing WHERE name = '%s') THEN"
                     " SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'refused'; END IF",
                     table, changes[i], changes[i], table, table);
            (void)database_ask(database, sql);
        }
    }
}

static void refuse(void *context, const char *table, bool refuses)
{
    char sql[200];

    snprintf(sql, sizeof sql, refuses ? "INSERT INTO refusing VALUES ('%s')" : "DELETE FROM refusing", table);
    (void)database_ask(context, sql);
}

SERVER_TEST(nothing_of_a_call_that_fails_is_stored)
{
    struct undone undone = {.database = database, .refuse = refuse};
    char tables[2000];

    (void)database_ask(database, "SET GLOBAL innodb_flush_log_at_trx_commit = 0");
    (void)database_ask(database, "USE agents");
    undone.store = database_open(database->uri, 20000);
    snprintf(tables, sizeof tables, "%s",
             database_ask(database, "SELECT group_concat(table_name) FROM information_schema.tables"
                                    " WHERE table_schema = 'agents' AND table_type = 'BASE TABLE'"));
    make_triggers(database, tables);
    undone.tables = tables;
    undone_try_all(&undone);
    ses_close(undone.store);
}
