/* A database of a test's own on the server: what the tests of test/server ask of PostgreSQL. */
#ifndef SESLITE_TEST_POSTGRES_PLACE_H
#define SESLITE_TEST_POSTGRES_PLACE_H

#include "database.h"
#include "seslite_postgres.h"

#define TABLE "seslite." /* before the name of a table */

struct place {
    struct database at; /* only its connection */
    char address[600];
};

static inline void place_make(struct place *place, const struct database *database, const char *name)
{
    database_fresh(database, name, "", place->address);
    place->at.conn = PQconnectdb(place->address);
    assert_int_equal(PQstatus(place->at.conn), CONNECTION_OK);
}

static inline void place_end(struct place *place)
{
    PQfinish(place->at.conn);
}

static inline int place_open(const struct place *place, const ses_open_options *options, ses_store **store,
                             ses_error *error)
{
    return ses_open_postgres(place->address, options, NULL, store, error);
}

/* Runs statements. Gives the server's message, "" if there is none. */
static inline const char *place_try(const struct place *place, const char *sql)
{
    PGresult *result = PQexec(place->at.conn, sql);
    const bool failed = PQresultStatus(result) == PGRES_FATAL_ERROR;

    PQclear(result);
    return failed ? PQerrorMessage(place->at.conn) : "";
}

/* The first column of the first row. */
static inline const char *place_text(const struct place *place, const char *sql)
{
    static char text[4096];
    PGresult *result = database_ask(&place->at, sql);

    snprintf(text, sizeof text, "%s", PQgetvalue(result, 0, 0));
    PQclear(result);
    return text;
}

#include "server/place.h"

#endif
