/*
 * Data that is derived from the events of a store: features that are made on demand, each with a table of its own and a name in
 * `features`. `derived` says up to which event a feature has come in each session. Appends write nothing of it: calls that
 * need it bring it up to date first.
 */
#ifndef SESLITE_STORAGE_SQL_DERIVED_DERIVED_H
#define SESLITE_STORAGE_SQL_DERIVED_DERIVED_H

#include "base/memory.h"
#include "model/event/rows.h"
#include "storage/sql/query.h"

/* The use of tokens (storage/sql/usage). */
#define USAGE_FEATURE "usage"

/* As `features.needs` has it. */
enum feature_needs { FEATURE_NEEDS_NOTHING = 1, FEATURE_NEEDS_READING = 2 };

SESLITE_PRIVATE int ses__feature_find(struct db *db, const char *name, bool *is_there, ses_error *error);
SESLITE_PRIVATE int ses__feature_enter(struct db *db, const char *name, enum feature_needs needs,
                                       ses_error *error);
/* With how far it has come in all sessions. */
SESLITE_PRIVATE int ses__feature_leave(struct db *db, const char *name, ses_error *error);

/* Sessions with which a feature is behind: the first few after the number `after`. */
struct behind {
    const char *what;   /* the feature */
    int64_t app_id;     /* only of this app, or ... */
    int64_t user_id;    /* ... this user, or ... */
    int64_t session_id; /* ... only this one; all 0: any */
    int64_t after;
};
SESLITE_PRIVATE int ses__behind_find(struct db *db, const struct behind *behind, struct session_ids *ids,
                                     ses_error *error);
/* How many events there are in all to which it has not come. */
SESLITE_PRIVATE int ses__derived_lag(struct db *db, const char *what, int64_t *events, ses_error *error);

/* How far it has come in a session. */
struct derived_row {
    int64_t seq;  /* 0: it has not begun */
    bool current; /* nothing was cut since then */
};
SESLITE_PRIVATE int ses__derived_find(struct db *db, const char *what, const struct session_row *session,
                                      struct derived_row *row, ses_error *error);
SESLITE_PRIVATE int ses__derived_set(struct db *db, const char *what, const struct session_row *session,
                                     int64_t seq, ses_error *error);
/* Removes the row, and the rows that refer to it: the feature must begin again with the session. */
SESLITE_PRIVATE int ses__derived_leave(struct db *db, const char *what, int64_t session_id, ses_error *error);

/* The work of one transaction: so many bytes of events. */
struct deriving {
    struct buffer words; /* of the feature's own use, and the next one, too */
    struct buffer text;
    int64_t bytes_left; /* below 1: it is done */
    int64_t events;     /* that were added */
};
SESLITE_PRIVATE void ses__deriving_init(struct deriving *work, const struct db *db, int64_t bytes);
SESLITE_PRIVATE void ses__deriving_free(struct deriving *work);
/* Adds the session's next events to what is derived. `*done`: it has no more. */
typedef int derive_events(struct db *db, int64_t session_id, struct deriving *work, bool *done,
                          ses_error *error);

#endif
