/*
 * Runs a test on PostgreSQL: it is linked in place of ses_open (-Wl,--wrap=ses_open), and opens a database of its own for
 * each path, on the server that SESLITE_POSTGRES names. What the test asks of the file alone is left out.
 */
#include <libpq-fe.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "seslite_postgres.h"

int __wrap_ses_open(const char *path, const ses_open_options *options, ses_store **store, ses_error *error);

static void die(PGconn *server, const char *what)
{
    fprintf(stderr, "%s: %s\n", what, PQerrorMessage(server));
    exit(1);
}

/* The database of a path: the same for as long as the folder's name is not given again. */
static void name_database(char name[64], const char *path)
{
    static atomic_int in_memory;
    uint64_t hash = UINT64_C(14695981039346656037);

    for (const char *p = path; *p; p++)
        hash = (hash ^ (unsigned char)*p) * UINT64_C(1099511628211);
    if (strcmp(path, ":memory:") == 0)
        snprintf(name, 64, "memory_%ld_%d", (long)getpid(), atomic_fetch_add(&in_memory, 1));
    else
        snprintf(name, 64, "file_%016llx", (unsigned long long)hash);
}

static void make_database(const char *server, const char *name)
{
    PGconn *admin = PQconnectdb(server);
    char sql[200];

    if (PQstatus(admin) != CONNECTION_OK)
        die(admin, "connecting");
    snprintf(sql, sizeof sql, "CREATE DATABASE %s", name);
    PGresult *result = PQexec(admin, sql);
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    if (PQresultStatus(result) != PGRES_COMMAND_OK &&
        (!state || (strcmp(state, "42P04") != 0 && strcmp(state, "23505") != 0)))
        die(admin, sql);
    PQclear(result);
    PQfinish(admin);
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
    name_database(name, path);
    make_database(server, name);
    snprintf(connection, sizeof connection, "%s dbname=%s", server, name);
    return ses_open_postgres(connection, &own, NULL, store, error);
}
