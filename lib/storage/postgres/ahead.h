/*
 * Queries that are sent before a job asks for them, so that the job waits once, not for each of them.
 *
 * Who knows what a job will ask announces it: by the same functions as the job, which then send and find nothing. A number
 * that a query needs, and that only another query will find, is given as one that stands for it; that query, which is
 * announced before, becomes a part of the statement. When the job asks, it gets the answer of what was announced with the
 * same values. What was not announced is asked as ever.
 */
#ifndef SESLITE_STORAGE_POSTGRES_AHEAD_H
#define SESLITE_STORAGE_POSTGRES_AHEAD_H

#include "storage/postgres/connection.h"

/* What a parameter is. */
enum pg_stand {
    PG_VALUE, /* what it was given as */
    PG_ANY,   /* not looked at when it is asked for */
    PG_LAST,  /* what it was given as, or the last number that an event of the session has had */
    /* Of the first row that the source finds. */
    PG_SESSION,
    PG_USER,
    PG_APP,
    /* Of all its rows that count, as a list of owners. */
    PG_SESSIONS,
    PG_DESCRIBED, /* sessions with a parent or a title */
    PG_LABELLED,  /* sessions with labels */
    PG_USERS,     /* each once, in ascending order */
    PG_STANDS
};

/* Stands for it where a number is given. Nothing that is stored has such a number. */
static inline int64_t ses__ahead_number(enum pg_stand stand)
{
    return INT64_MIN + (int64_t)stand;
}

/* What is started until the end of it is announced. */
SESLITE_PRIVATE void ses__ahead_begin(struct pg *pg);
SESLITE_PRIVATE void ses__ahead_end(struct pg *pg);
/* From now on numbers stand for what the query that was announced last will find: in `most` of its rows. */
SESLITE_PRIVATE void ses__ahead_from(struct pg *pg, int64_t most);
SESLITE_PRIVATE void ses__ahead_from_nothing(struct pg *pg);
/* The query that is announced next answers another statement, which has the same parameters before its own. */
SESLITE_PRIVATE void ses__ahead_answers(struct pg *pg, const struct statement *statement);
/* A parameter of the query that is announced next may be another when it is asked for: it leads to the same rows. */
SESLITE_PRIVATE void ses__ahead_as(struct pg *pg, int parameter, enum pg_stand stand);
/* A list of texts, as a parameter of a query that is announced. */
SESLITE_PRIVATE void ses__ahead_bind_texts(struct query *query, int parameter, const struct span *texts,
                                           size_t count);
SESLITE_PRIVATE void ses__ahead_bind_ints(struct query *query, int parameter, const int64_t *numbers,
                                          size_t count);
/* When all has been answered: was the session found that events were announced for? */
SESLITE_PRIVATE bool ses__ahead_found(const struct pg *pg);
/* After the transaction. */
SESLITE_PRIVATE void ses__ahead_forget(struct pg *pg);

/* ---- for the driver */

SESLITE_PRIVATE void ses__ahead_add(struct pg *pg, struct pg_run *run);
/* Gives the run the answer of what was announced. False: it was not, or the transaction has failed. */
SESLITE_PRIVATE bool ses__ahead_take(struct pg *pg, struct pg_run *run);

/* ---- for its text */

/* The names of the columns of a source, as far as they matter; "": they have them already. */
SESLITE_PRIVATE const char *ses__ahead_columns(const struct pg_run *source);

#endif
