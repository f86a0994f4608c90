/* A PostgreSQL server of a test's own, with the schema of a store, and ways to ask it. */
#ifndef SESLITE_TEST_POSTGRES_DATABASE_H
#define SESLITE_TEST_POSTGRES_DATABASE_H

#include <libpq-fe.h>

#include "storage/postgres/connection/sql_text.h"
#include "support.h"

#define DATABASE_SCHEMA "sql/postgres/0002_initial.sql -f sql/postgres/0003_families.sql"

struct database {
    char *folder;
    char place[512]; /* as libpq takes it */
    PGconn *conn;
};

/* Runs a shell command with these words after it; the first line that it prints goes to `line`. Its exit
 * status. */
static inline int database_shell(char *line, size_t size, const char *command, const char *word)
{
    char text[1024];

    assert_true(snprintf(text, sizeof text, "%s '%s' 2>&1", command, word) < (int)sizeof text);
    FILE *pipe = popen(text, "r");
    assert_non_null(pipe);
    line[0] = '\0';
    if (fgets(line, (int)size, pipe))
        line[strcspn(line, "\n")] = '\0';
    while (fgetc(pipe) != EOF)
        ;
    return pclose(pipe);
}

/* Applies the schema as a person would: with psql. */
static inline int database_apply_schema(struct database *database, char *line, size_t size)
{
    return database_shell(line, size, "psql -X -q -1 -v ON_ERROR_STOP=1 -f " DATABASE_SCHEMA,
                          database->place);
}

/* cmocka setup and teardown of a group. */
static inline int database_setup(void **state)
{
    struct database *database = calloc(1, sizeof *database);
    char line[512];

    assert_non_null(database);
    *state = database;
    database->folder = support_folder_make();
    if (database_shell(database->place, sizeof database->place, "sh test/postgres/server.sh start",
                       database->folder) != 0)
        fail_msg("%s", database->place);
    if (database_apply_schema(database, line, sizeof line) != 0)
        fail_msg("%s", line);
    database->conn = PQconnectdb(database->place);
    if (PQstatus(database->conn) != CONNECTION_OK)
        fail_msg("%s", PQerrorMessage(database->conn));
    return 0;
}

static inline int database_teardown(void **state)
{
    struct database *database = *state;
    char line[512];

    PQfinish(database->conn);
    assert_int_equal(database_shell(line, sizeof line, "sh test/postgres/server.sh stop", database->folder),
                     0);
    support_folder_remove(database->folder);
    free(database);
    return 0;
}

/* A test with a server, which all tests of the file share. */
#define SERVER_TEST(name)                                       \
    __attribute__((constructor)) static void serve_##name(void) \
    {                                                           \
        support_set_group(database_setup, database_teardown);   \
    }                                                           \
    GROUP_TEST(struct database *database, name)

/* To be cleared; the test fails where the statement does. */
static inline PGresult *database_take(PGconn *conn, PGresult *result, const char *what)
{
    const ExecStatusType status = PQresultStatus(result);

    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        fail_msg("%s: %s", what, PQerrorMessage(conn));
    return result;
}

static inline PGresult *database_ask(const struct database *database, const char *sql)
{
    return database_take(database->conn, PQexec(database->conn, sql), sql);
}

static inline void database_run(const struct database *database, const char *sql)
{
    PQclear(database_ask(database, sql));
}

static inline int64_t database_number(const struct database *database, const char *sql)
{
    PGresult *result = database_ask(database, sql);
    const int64_t number = strtoll(PQgetvalue(result, 0, 0), NULL, 10);

    PQclear(result);
    return number;
}

/* Commits wait for a standby of that name; "": for none. */
static inline void database_want_standby(const struct database *database, const char *name)
{
    char sql[150];

    snprintf(sql, sizeof sql, "ALTER SYSTEM SET synchronous_standby_names = '%s'", name);
    database_run(database, sql);
    database_run(database, "SELECT pg_reload_conf()");
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM pg_settings WHERE name = 'synchronous_standby_names' AND setting = '%s'",
             name);
    for (int i = 0; i < 500 && database_number(database, sql) == 0; i++)
        support_pause_us(2000);
    /* Commits wait only once the checkpointer has read the setting, which it does before it makes a
     * checkpoint (SyncRepUpdateSyncStandbysDefined in PostgreSQL's syncrep.c). */
    database_run(database, "CHECKPOINT");
}

/* How many processes work for stores. */
static inline int64_t database_backends(const struct database *database)
{
    database_run(database, "SELECT pg_stat_clear_snapshot()"); /* a transaction sees what it saw before */
    return database_number(database,
                           "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'seslite'");
}

/* Makes a database of that name, and gives its address. */
static inline const char *database_address(const struct database *database, const char *name, char place[300])
{
    char sql[200];

    snprintf(sql, sizeof sql, "CREATE DATABASE %s TEMPLATE template0", name);
    database_run(database, sql);
    assert_true(snprintf(place, 300, "postgresql://seslite:secret@/%s?host=%s", name, database->folder) <
                300);
    return place;
}

/* A connection string to a database of that name, which is new. `options` are those of CREATE DATABASE. */
static inline const char *database_fresh(const struct database *database, const char *name,
                                         const char *options, char place[600])
{
    char sql[300];

    snprintf(sql, sizeof sql, "CREATE DATABASE %s TEMPLATE template0 %s", name, options);
    database_run(database, sql);
    snprintf(place, 600, "%s dbname=%s", database->place, name);
    return place;
}

static inline void database_run_in(const char *place, const char *sql)
{
    PGconn *conn = PQconnectdb(place);

    PQclear(database_take(conn, PQexec(conn, sql), sql));
    PQfinish(conn);
}

#endif
