/*
 * The use of tokens: a feature of a store ("usage" in `features`), made on demand and derived from the events. `derived` says
 * how far it has come in each session; rows of usage_counts hold the calls up to there, each those of some events, without a
 * gap. They go with the row of `derived`. So whoever removes or changes events deletes that, and the session is counted again
 * from what is left. A library that does not know the feature does so too, or leaves another epoch or a higher base behind.
 */
#ifndef SESLITE_STORAGE_SQL_USAGE_USAGE_H
#define SESLITE_STORAGE_SQL_USAGE_USAGE_H

#include "model/usage/usage.h"
#include "storage/sql/derived/derived.h"
#include "storage/sql/rows/session.h"

SESLITE_PRIVATE extern const struct derived_feature ses__usage_feature;

/* ---- read.c */

/* A session of those whose use is read. Texts live until the next batch is read. */
struct usage_session {
    int64_t id;
    int64_t app_id;
    int64_t user_id;
    int64_t base_seq;
    int64_t last_seq;
    int64_t counted_seq; /* up to which event usage_counts holds its calls; below base_seq + 1: none */
    struct span name;
    struct span user; /* without text, unless they are asked for */
    struct span app;
};

struct usage_walk {
    /* in */
    int64_t app_id; /* as in struct behind */
    int64_t user_id;
    int64_t session_id;
    struct list_filter filter;
    bool names;         /* of users and apps, too */
    bool is_kept;       /* there is a table */
    bool reads_events;  /* and not the table, for the invocations */
    bool reads_table;   /* and not the events after it */
    bool stops_if_late; /* where the table lacks events */
    void *context;
    /* Are the sums of a sheet enough, so that its calls need not be read? NULL: never. */
    bool (*takes_sums)(void *context, const struct usage_sheet *sheet);
    /* Is given the calls of a session, in their order, some at a time, or (sheet->packed) only their sums; and their
     * invocations, which are NULL if they come from the table. */
    int (*visit)(void *context, const struct usage_session *session, const struct usage_sheet *sheet,
                 const struct span *invocations, ses_error *error);
    /* out */
    bool is_late; /* so it stopped */
};
SESLITE_PRIVATE int ses__usage_walk(struct db *db, struct usage_walk *walk, ses_error *error);

/* CORRUPT. */
SESLITE_PRIVATE int ses__usage_refuse(const struct db *db, int64_t session_id, ses_error *error);
/* Adds what the event uses to the sheet, with its last number. `*used`: it is a model call. CORRUPT: its text cannot be
 * read. */
SESLITE_PRIVATE int ses__usage_take_event(struct usage_sheet *sheet, const struct event_row *event,
                                          struct arena *arena, bool *used, ses_error *error);

#endif
