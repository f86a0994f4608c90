/*
 * The tally of used tokens: a feature of a store, made on demand and derived from the events. `derived` says
 * how far it has come in each session. A row of usage_sums has the sums of a session's calls with one model
 * in a quarter of an hour; another row (quarter USAGE_OF_SESSION) has those of all calls of the session, and
 * the events from which to which they were counted. The rows go with the row of `derived`. So whoever removes
 * or changes events deletes that, and the session is counted again from what is left. A library that does not
 * know the feature does so too, or leaves another epoch or a higher base behind.
 *
 * Before the feature "usage2" there was "usage", with other rows in usage_counts. The scripts of schema
 * version 3 turn its row in `features` into one of usage2, whose table is then missing: it is made when usage
 * is next added up. A file keeps usage_counts until then, or until something is deleted.
 */
#ifndef SESLITE_STORAGE_SQL_USAGE_USAGE_H
#define SESLITE_STORAGE_SQL_USAGE_USAGE_H

#include "model/usage/usage.h"
#include "storage/sql/derived/derived.h"
#include "storage/sql/rows/session.h"

#define USAGE_OF_SESSION INT64_MIN

SESLITE_PRIVATE extern const struct derived_feature ses__usage_feature;

/* A row of usage_sums. The text of the model lives until the next row. */
struct usage_row {
    int64_t session_id;
    int64_t quarter;
    struct span model;
    struct usage_sums sums;
};
/* Opens a query of the rows of sessions, in the order of the list: all rows, or only those of
 * whole sessions. */
SESLITE_PRIVATE void ses__usage_rows_open(struct query *query, struct db *db, const struct owner_list *ids,
                                          bool only_whole, ses_error *error);
/* Reads the row of the query. False: it has numbers that cannot be. */
SESLITE_PRIVATE bool ses__usage_row_read(struct query *query, struct usage_row *row);

/* ---- read.c */

/* A session whose use is read. Texts live until the next batch is read. */
struct usage_session {
    int64_t id;
    int64_t app_id;
    int64_t user_id;
    int64_t base_seq;
    int64_t last_seq;
    int64_t counted_seq; /* up to which event usage_sums has its calls; 0: it has none */
    struct span name;
    struct span user; /* this and `app` are without text unless names are given */
    struct span app;
    bool has_total;          /* its row was read, */
    bool needs_parts;        /* but the others must be read, too */
    struct usage_sums total; /* as its row has them */
    struct usage_sums parts; /* the sum of the other rows */
};

enum usage_share { USAGE_NONE, USAGE_PART, USAGE_ALL };

struct usage_walk {
    /* in */
    int64_t app_id; /* as in struct behind */
    int64_t user_id;
    int64_t session_id;
    struct list_filter filter;
    bool names;         /* of users and apps, too */
    bool is_kept;       /* the table is used; otherwise all events are read */
    bool stops_if_late; /* where the table lacks events */
    bool by_part;       /* sums of whole sessions do not do */
    void *context;
    /* How many of the calls between two times of the same quarter (or, unless by_part, session) belong to one
     * row of the result. */
    enum usage_share (*share)(void *context, const struct usage_sums *sums);
    /* Is given calls: sums from the table, with an empty invocation, or an event. */
    int (*visit)(void *context, const struct usage_session *session, const struct usage_sums *sums,
                 struct span model, struct span invocation, ses_error *error);
    /* out */
    bool is_late; /* so it stopped */
};
SESLITE_PRIVATE int ses__usage_walk(struct db *db, struct usage_walk *walk, ses_error *error);

/* Returns CORRUPT. */
SESLITE_PRIVATE int ses__usage_refuse(const struct db *db, int64_t session_id, ses_error *error);
/* Reads what the event uses, as ses__usage_read, with its number and time. CORRUPT: its text
 * cannot be read. */
SESLITE_PRIVATE int ses__usage_of_event(const struct event_row *event, int64_t session_id,
                                        struct arena *arena, struct usage_sums *call, struct span *model,
                                        bool *used, ses_error *error);

#endif
