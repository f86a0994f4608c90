/*
 * Queries that are sent before a job asks for them, so that the job waits once, not for each of them.
 *
 * An announcement calls the same functions as the job will, which then send their queries and find nothing. A query may need
 * a number that only another query will find. It is given a placeholder instead, and the other query, announced before it,
 * becomes part of its statement. When the job runs, each of its queries gets the answer to the announced query with the same
 * values. Other queries are sent as usual.
 */
#ifndef SESLITE_STORAGE_POSTGRES_AHEAD_H
#define SESLITE_STORAGE_POSTGRES_AHEAD_H

#include "storage/postgres/connection.h"

/* The kinds of parameters of an announced query. */
enum pg_placeholder {
    PG_VALUE, /* the value that was bound */
    /* Placeholders for a number in the source's first row. */
    PG_SESSION,
    PG_USER,
    PG_APP,
    /* Placeholders for a list of numbers from all of its rows that count. */
    PG_SESSIONS,
    PG_DESCRIBED, /* sessions with a parent or a title */
    PG_LABELLED,  /* sessions with labels */
    PG_USERS,     /* each once, in ascending order */
    PG_PLACEHOLDERS
};

/* The number to bind for a placeholder. No stored row has such a number. */
static inline int64_t ses__ahead_number(enum pg_placeholder placeholder)
{
    return INT64_MIN + (int64_t)placeholder;
}

/* Queries that are started between these two are announced. */
SESLITE_PRIVATE void ses__ahead_begin(struct pg *pg);
SESLITE_PRIVATE void ses__ahead_end(struct pg *pg);
/* From now on placeholders refer to the first `limit` rows of the query that was announced last. */
SESLITE_PRIVATE void ses__ahead_from(struct pg *pg, int64_t limit);
/* Frees the announced queries, after the transaction. */
SESLITE_PRIVATE void ses__ahead_forget(struct pg *pg);

/* ---- for the driver */

SESLITE_PRIVATE void ses__ahead_add(struct pg *pg, struct pg_run *run);
/* Gives the run the answer to the matching announced query. False if there is none, or the transaction has failed. */
SESLITE_PRIVATE bool ses__ahead_take(struct pg *pg, struct pg_run *run);

/* ---- for its text */

/* Names for the columns of a source; "" if they are right as they are. */
SESLITE_PRIVATE const char *ses__ahead_columns(const struct pg_run *source);

#endif
