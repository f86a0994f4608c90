/*
 * Runs a test on PostgreSQL: it is linked in place of ses_open (-Wl,--wrap), and opens a database of its own
 * for each path, on the server that SESLITE_POSTGRES names. Checks of the file itself are left out.
 */
#include <libpq-fe.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "seslite_postgres.h"

int __wrap_ses_open(const char *path, const ses_open_options *options, ses_store **store, ses_error *error);
void __wrap_ses_close(ses_store *store);
void __real_ses_close(ses_store *store);

static void die(PGconn *server, const char *what)
{
    fprintf(stderr, "%s: %s\n", what, PQerrorMessage(server));
    exit(1);
}

static void ignore_notice(void *context, const char *message)
{
    (void)context;
    (void)message;
}

/* ------------------------------------------------------------------------------- the databases of paths */

/*
 * Databases take long to make, so each is used again once nobody needs it: when its path's folder is gone; of
 * a store in memory, when that is closed or its process is gone. Which path has which stands in a table of
 * the server's first database.
 */

static PGresult *ask(PGconn *server, const char *sql, const char *first, const char *second)
{
    const char *values[] = {first, second};
    PGresult *result =
        PQexecParams(server, sql, (first != NULL) + (second != NULL), NULL, values, NULL, NULL, 0);

    if (PQresultStatus(result) != PGRES_COMMAND_OK && PQresultStatus(result) != PGRES_TUPLES_OK)
        die(server, sql);
    return result;
}

static void run(PGconn *server, const char *sql, const char *first, const char *second)
{
    PQclear(ask(server, sql, first, second));
}

/* A connection to the server's first database: each process has its own, for as long as it lives. */
static PGconn *admin_connection(const char *server)
{
    static PGconn *admin;
    static pid_t owner;

    if (owner != getpid()) {
        owner = getpid();
        admin = PQconnectdb(server); /* the parent's is the parent's */
        if (PQstatus(admin) != CONNECTION_OK)
            die(admin, "connecting");
        PQsetNoticeProcessor(admin, ignore_notice, NULL);
        run(admin, "SELECT pg_advisory_lock(1)", NULL, NULL);
        run(admin, "CREATE TABLE IF NOT EXISTS public.paths (name text PRIMARY KEY, path text)", NULL, NULL);
        run(admin, "SELECT pg_advisory_unlock(1)", NULL, NULL);
    }
    return admin;
}

static bool is_used(const char *path)
{
    char folder[1000];
    char *slash;

    if (!*path)
        return false;
    if (strncmp(path, "memory ", 7) == 0)
        return kill((pid_t)atol(path + 7), 0) == 0;
    snprintf(folder, sizeof folder, "%s", path);
    slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    return !slash || access(folder, F_OK) == 0;
}

/* Rows are deleted, which takes less long than to cut tables off, unless there are many. */
static const char empty_sql[] = "DO $$ DECLARE name text; BEGIN SET session_replication_role = replica;"
                                " FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'seslite' "
                                "AND tablename <> 'schema_version' LOOP"
                                "  IF pg_table_size(('seslite.' || name)::regclass) < 100000 THEN EXECUTE "
                                "'DELETE FROM seslite.' || name;"
                                "  ELSE EXECUTE 'TRUNCATE seslite.' || name; END IF; END LOOP; END $$";

static void empty_database(const char *server, const char *name, bool entirely)
{
    char connection[1000];

    snprintf(connection, sizeof connection, "%s dbname=%s", server, name);
    PGconn *database = PQconnectdb(connection);
    if (PQstatus(database) != CONNECTION_OK)
        die(database, "connecting");
    PQsetNoticeProcessor(database, ignore_notice, NULL);
    run(database, entirely ? "DROP SCHEMA IF EXISTS seslite CASCADE" : empty_sql, NULL, NULL);
    PQfinish(database);
}

static void make_database(PGconn *admin, const char *name)
{
    char sql[200];

    snprintf(sql, sizeof sql, "CREATE DATABASE %s STRATEGY %s", name, "FILE_COPY");
    run(admin, sql, NULL, NULL);
}

/* The database of a path that has none yet: without a store if that is what the test is about. */
static void choose_database(const char *server, PGconn *admin, const char *path, bool without_store,
                            char name[64])
{
    PGresult *all = ask(admin, "SELECT name, path FROM public.paths ORDER BY name", NULL, NULL);
    int at = 0;

    while (at < PQntuples(all) && is_used(PQgetvalue(all, at, 1)))
        at++;
    if (at < PQntuples(all)) {
        snprintf(name, 64, "%s", PQgetvalue(all, at, 0));
        empty_database(server, name, without_store);
        run(admin, "UPDATE public.paths SET path = $2 WHERE name = $1", name, path);
    } else {
        snprintf(name, 64, "test_%03d", at);
        make_database(admin, name);
        run(admin, "INSERT INTO public.paths VALUES ($1, $2)", name, path);
    }
    PQclear(all);
}

static void find_database(const char *server, const char *path, bool without_store, char name[64])
{
    PGconn *admin = admin_connection(server);

    run(admin, "SELECT pg_advisory_lock(1)", NULL, NULL);
    PGresult *found = ask(admin, "SELECT name FROM public.paths WHERE path = $1", path, NULL);
    if (PQntuples(found) > 0)
        snprintf(name, 64, "%s", PQgetvalue(found, 0, 0));
    else
        choose_database(server, admin, path, without_store, name);
    PQclear(found);
    run(admin, "SELECT pg_advisory_unlock(1)", NULL, NULL);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void name_database(const char *server, const char *path, unsigned flags, char name[64])
{
    static int in_memory;
    char memory[64];

    pthread_mutex_lock(&lock);
    if (strcmp(path, ":memory:") == 0) {
        snprintf(memory, sizeof memory, "memory %ld %d", (long)getpid(), in_memory++);
        path = memory;
    }
    find_database(server, path, (flags & (SES_OPEN_READ_ONLY | SES_OPEN_MUST_EXIST)) != 0, name);
    pthread_mutex_unlock(&lock);
}

/* A store in memory is gone when it is closed. */
void __wrap_ses_close(ses_store *store)
{
    const char *server = getenv("SESLITE_POSTGRES");
    ses_info info = {.size = sizeof info};
    ses_error error;
    char name[64];
    const bool known = server && store && ses_store_info(store, &info, &error) == SES_OK;

    if (known)
        snprintf(name, sizeof name, "%s", strrchr(info.path, '/') + 1);
    __real_ses_close(store);
    if (!known)
        return;
    pthread_mutex_lock(&lock);
    run(admin_connection(server),
        "UPDATE public.paths SET path = '' WHERE name = $1 AND path LIKE 'memory %'", name, NULL);
    pthread_mutex_unlock(&lock);
}

int __wrap_ses_open(const char *path, const ses_open_options *options, ses_store **store, ses_error *error)
{
    const char *server = getenv("SESLITE_POSTGRES");
    ses_open_options own = {.size = sizeof own};
    char connection[1000];
    char name[64];

    if (!server) {
        fprintf(stderr, "SESLITE_POSTGRES names no server\n");
        exit(1);
    }
    if (!path || !*path || strncmp(path, "file:", 5) == 0) /* refused before a server is asked */
        return ses_open_postgres(path, options, NULL, store, error);
    if (options && options->size != sizeof own) /* is refused, or is of another version */
        return ses_open_postgres(server, options, NULL, store, error);
    if (options)
        own = *options;
    own.synchronous = own.journal = own.checkpoint = 0;
    own.max_readers = 0;
    if (own.busy_timeout_ms == 0) /* a commit that a busy machine does not answer in time is UNKNOWN */
        own.busy_timeout_ms = 60000;
    name_database(server, path, (unsigned)own.flags, name);
    snprintf(connection, sizeof connection, "%s dbname=%s", server, name);
    return ses_open_postgres(connection, &own, NULL, store, error);
}
