/* The parts of a check. Damage is reported as a problem, and the part continues. It returns a negative code
 * only for other failures. */
#ifndef SESLITE_STORAGE_SQL_UPKEEP_CHECK_H
#define SESLITE_STORAGE_SQL_UPKEEP_CHECK_H

#include "base/memory.h"
#include "model/calls.h"
#include "model/event/log.h"
#include "model/usage/usage.h"
#include "storage/sql/rows/event.h"
#include "storage/sql/rows/words.h"
#include "storage/sql/session/filters.h"

/* The sum of the weights of the words that the index of words must hold. */
struct word_weights {
    const struct hash_seed *seed;
    struct deriving indexing; /* the words of an event */
    struct buffer each;       /* the weights of its words, which are added once each */
    uint64_t sum;
};

struct check {
    struct db *db;
    struct check_op *op;
    /* Checks all rows, if the level asks for it. For the engine, with `db` set and its own checks done. */
    int (*rows)(struct check *check);
    bool ended;                /* the caller has ended it, or enough was found */
    struct ses_problem about;  /* the place that is being checked; texts in `arena` */
    int64_t last_session;      /* the highest number that a session was ever given */
    int64_t total;             /* sessions, if their numbers do not show how many; otherwise 0 */
    int64_t done;              /* of these */
    bool tallies_usage;        /* there is a table of used tokens */
    bool trusts_indexes;       /* not every event is looked for by its id, which is a round trip each */
    bool has_words;            /* there is an index of words ... */
    struct word_weights words; /* ... which must hold these */
    struct arena arena;
    ses_error error; /* of the last failure */
};

/* As ses__door_check, by the engine's function. */
SESLITE_PRIVATE int ses__check_by(struct storage *storage, struct check_op *op, engine_check *of_engine,
                                  ses_error *error);
/* Reports one. `seq` 0: of no event. */
SESLITE_PRIVATE void ses__check_found(struct check *check, int kind, int64_t seq, const char *format, ...)
    FORMAT_PRINTF(4, 5);
/* After a call with the check's error: damage becomes a problem of that kind (or of a page, where SQLite says
 * so), and SES_OK is returned. */
SESLITE_PRIVATE int ses__check_settle(struct check *check, int code, int kind);
/* Reports a version that leaves few after it. */
SESLITE_PRIVATE void ses__check_version(struct check *check, const char *what, int64_t version);
/* Sets the app, user and session that later reports name. Invalid names are left out. */
SESLITE_PRIVATE int ses__check_begin(struct check *check, struct span app, struct span user,
                                     struct span session);

/* ---- check_shared.c: apps and users, their names and their state */
SESLITE_PRIVATE int ses__check_owners(struct check *check, enum scope scope);

/* ---- check_artifact.c: the artifacts of a user, and their contents */
SESLITE_PRIVATE int ses__check_artifacts(struct check *check, int64_t user_id);

/* ---- check_words.c: the index of words. It begins before all sessions, and ends after them. */
SESLITE_PRIVATE int ses__check_words_begin(struct check *check);
/* Up to which event of the session it has come; 0: there is none. */
SESLITE_PRIVATE int ses__check_words_of(struct check *check, const struct session_row *row, int64_t *indexed);
SESLITE_PRIVATE int ses__check_words_add(struct check *check, const struct session_row *row,
                                         const struct event_row *event);
SESLITE_PRIVATE int ses__check_words_end(struct check *check, int code);

/* ---- check_session.c: sessions, with all that they have */
SESLITE_PRIVATE int ses__check_sessions(struct check *check);
SESLITE_PRIVATE bool ses__check_is_object(struct span json);

/* ---- check_log.c: the log, the marks, and the own state */
/* Up to `inherited` the events come from another session, whose times may differ. */
SESLITE_PRIVATE int ses__check_log(struct check *check, const struct session_row *row, int64_t inherited);

/* The last operation on that name; NULL: there is none. */
SESLITE_PRIVATE const struct delta_op *ses__delta_last(const struct delta *delta, struct span name);
/* Reads the state that the session was created with, into the arena. `*ok`: it can be read; else that was
 * reported. */
SESLITE_PRIVATE int ses__check_read_initial(struct check *check, int64_t session_id, struct arena *arena,
                                            struct span *initial, struct delta *delta, bool *ok);

/* ---- check_derived.c: the filters of invocations must not exclude an event */

struct check_filters {
    bool are_there;
    struct filter filters[FILTER_PARTS]; /* the last that was read of each part */
    struct buffer keys[FILTER_PARTS];    /* its own */
};
SESLITE_PRIVATE void ses__check_filters_init(struct check_filters *own, const ses_allocator *allocator);
SESLITE_PRIVATE void ses__check_filters_free(struct check_filters *own);
SESLITE_PRIVATE int ses__check_filters_begin(struct check *check, struct check_filters *own,
                                             const struct session_row *row);
/* The next event. */
SESLITE_PRIVATE int ses__check_filters_event(struct check *check, struct check_filters *own,
                                             const struct session_row *row, const struct event_row *event);

/* ---- check_derived.c: up to there no call may be pending */

struct check_settled {
    int64_t seq; /* 0: none is known, or it was checked */
    struct live live;
    struct calls open;  /* the calls so far that have no response */
    struct arena arena; /* holds them */
};
SESLITE_PRIVATE void ses__check_settled_init(struct check_settled *own, const ses_allocator *allocator,
                                             struct hash_seed seed);
SESLITE_PRIVATE void ses__check_settled_free(struct check_settled *own);
SESLITE_PRIVATE int ses__check_settled_begin(struct check *check, struct check_settled *own,
                                             const struct session_row *row);
/* The next event. */
SESLITE_PRIVATE int ses__check_settled_event(struct check *check, struct check_settled *own,
                                             const struct event_row *event);

/* ---- check_usage.c: compares the tokens of the log with the table */

struct check_usage {
    int64_t counted_seq;      /* the table has the calls up to this event; 0: it does not have the session */
    struct usage_tally tally; /* of these, as the log has them */
    struct arena arena;       /* texts of an event */
};
/* Sets whether there is a table. */
SESLITE_PRIVATE int ses__check_usage_find(struct check *check);
/* Begins with a session. The tally and the arena are initialised, and the caller frees them. */
SESLITE_PRIVATE int ses__check_usage_begin(struct check *check, struct check_usage *usage,
                                           const struct session_row *row);
/* The next event. */
SESLITE_PRIVATE int ses__check_usage_add(struct check *check, struct check_usage *usage,
                                         const struct event_row *event);
/* When all were added. Reports a difference. */
SESLITE_PRIVATE int ses__check_usage_compare(struct check *check, struct check_usage *usage,
                                             const struct session_row *row);

#endif
