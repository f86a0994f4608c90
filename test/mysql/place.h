/* A database of a test's own on the server: what the tests of test/server ask of MySQL. */
#ifndef SESLITE_TEST_MYSQL_PLACE_H
#define SESLITE_TEST_MYSQL_PLACE_H

#include "mysql/database.h"

#define TABLE "seslite_" /* before the name of a table */

struct place {
    struct database at; /* only its connection */
    char address[600];
};

static inline void place_make(struct place *place, const struct database *database, const char *name)
{
    char sql[200];

    snprintf(sql, sizeof sql, "DROP DATABASE IF EXISTS %s", name);
    (void)database_ask(database, sql);
    snprintf(sql, sizeof sql, "CREATE DATABASE %s", name);
    (void)database_ask(database, sql);
    address_of(database->server, name, place->address, sizeof place->address);
    place->at.conn = mysql_init(NULL);
    assert_true(address_connect(place->at.conn, database->server, name));
}

static inline void place_end(struct place *place)
{
    mysql_close(place->at.conn);
}

static inline int place_open(const struct place *place, const ses_open_options *options, ses_store **store,
                             ses_error *error)
{
    return ses_open_mysql(place->address, options, NULL, store, error);
}

/* Runs statements. Gives the server's message, "" if there is none. */
static inline const char *place_try(const struct place *place, const char *sql)
{
    MYSQL *conn = place->at.conn;

    if (mysql_query(conn, sql) == 0) {
        do
            mysql_free_result(mysql_store_result(conn));
        while (mysql_errno(conn) == 0 && mysql_next_result(conn) == 0);
    }
    return mysql_error(conn);
}

/* The first column of the first row. */
static inline const char *place_text(const struct place *place, const char *sql)
{
    return database_ask(&place->at, sql);
}

#include "server/place.h"

#endif
