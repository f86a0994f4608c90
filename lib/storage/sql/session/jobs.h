/* Shared by the operations of the door. All run inside a transaction. */
#ifndef SESLITE_STORAGE_SQL_SESSION_JOBS_H
#define SESLITE_STORAGE_SQL_SESSION_JOBS_H

#include "model/event/range.h"
#include "model/replay.h"
#include "storage/sql/rows/event.h"
#include "storage/sql/rows/state.h"

/* The job that creates a session; the context is the operation. */
SESLITE_PRIVATE int ses__create_job(struct db *db, void *context, ses_error *error);

/* ---- read.c */
/* A session's log, asked for as if nothing had been rewound. */
struct log_asked {
    struct mark_rows marks; /* only for a range of live events */
    struct range_rows events;
};

/* All that a snapshot has. */
struct snapshot_asked {
    struct details_of details;
    struct query state;
    struct log_asked log;
};

/* All of the session of the snapshot's row (number 0: of the one that this transaction finds) is asked for
 * before any of it is taken. */
SESLITE_PRIVATE void ses__snapshot_ask(struct snapshot_asked *asked, struct db *db, struct snapshot *snapshot,
                                       const ses_key *key, const struct range *range, ses_error *error);
/* The snapshot's row is the session's. */
SESLITE_PRIVATE int ses__snapshot_take(struct snapshot_asked *asked, struct db *db, struct snapshot *snapshot,
                                       const ses_key *key, const struct range *range, ses_error *error);
/* Inside a transaction: fills a snapshot of the session of that key, whose row is known. */
SESLITE_PRIVATE int ses__load_snapshot(struct db *db, struct snapshot *snapshot, const ses_key *key,
                                       const struct session_row *row, const struct range *range,
                                       ses_error *error);
/* Finds the session of that key, too: NOTFOUND. */
SESLITE_PRIVATE int ses__find_snapshot(struct db *db, struct snapshot *snapshot, const ses_key *key,
                                       const struct range *range, ses_error *error);
/* Inside a transaction: the events that the advance's snapshot lacks of a session that is at `row`; the
 * advance restarts if events were cut meanwhile, or pruned that it lacks. And the scopes that other sessions
 * share, or all that are stored if it restarts. */
SESLITE_PRIVATE int ses__read_missed(struct db *db, struct advance *advance, const struct session_row *row,
                                     ses_error *error);
/* ses__read_missed in two halves. The events up to `last`, which need not be there. */
SESLITE_PRIVATE void ses__missed_ask(struct event_rows *rows, struct db *db, const struct session_row *known,
                                     int64_t last, ses_error *error);
SESLITE_PRIVATE int ses__missed_take(struct event_rows *rows, struct db *db, struct advance *advance,
                                     const struct session_row *row, ses_error *error);
/* The scopes that other sessions share, in two halves. An advance that restarts also reads the
 * session's own. */
SESLITE_PRIVATE void ses__scopes_ask(struct query *asked, struct db *db, const struct session_row *known,
                                     ses_error *error);
SESLITE_PRIVATE int ses__scopes_take(struct query *asked, struct db *db, struct advance *advance,
                                     ses_error *error);
SESLITE_PRIVATE int ses__read_scopes(struct db *db, struct advance *advance, ses_error *error);

/* Makes the advance of a snapshot to the session at `row`, which is in another life of its log: events were
 * cut from it, or redacted. */
SESLITE_PRIVATE int ses__read_advance(struct db *db, struct advance *advance, struct snapshot *snapshot,
                                      const struct session_row *row, ses_error *error);

/* ---- create.c */
/* Inside a transaction: the state, title and labels of a session that was just added. */
SESLITE_PRIVATE int ses__contents_add(struct db *db, const struct create_op *op, struct session_row *row,
                                      ses_error *error);
/* EXISTS. */
SESLITE_PRIVATE int ses__refuse_existing(const ses_key *key, ses_error *error);

/* ---- append.c */
/* Inside a transaction, when all was checked and `row` and `before` are the session's: stores the drafts, and
 * makes the advance ready. */
SESLITE_PRIVATE int ses__append_store(struct db *db, struct append_op *op, ses_error *error);
/* The drafts were stored otherwise, after the session was as `before` says: fills the results, and makes the
 * advance ready. */
SESLITE_PRIVATE int ses__append_stored(struct append_op *op, ses_error *error);

/* ---- log.c: the history of a log */

/* Adds the session's version to the error of a STALE call, whose code it returns. */
static inline int ses__stale_at(const struct session_row *row, ses_error *error, int code)
{
    if (error)
        error->version = row->version;
    return code;
}

/* Makes the previews of a page that is complete otherwise. */
SESLITE_PRIVATE int ses__list_preview(struct list_op *op, struct db *db, ses_error *error);

/* STALE for a handle (a ref with a known row) when events were cut since it was read. */
SESLITE_PRIVATE int ses__log_check_epoch(const struct session_ref *ref, const struct session_row *row,
                                         ses_error *error);
/* STALE: the session is not at the version that the caller expected; `flag` is what allows that. */
SESLITE_PRIVATE int ses__log_set_stale_error(const struct session_row *row, int64_t expected,
                                             const char *flag, ses_error *error);
/* The number of the last event that lies before the point, or of the last that could: from row.base_seq to
 * row.last_seq. `*begins` (unless it is NULL): the event after it is known to be the first of its invocation.
 * NOTFOUND, with a message that says from where on history is known. */
SESLITE_PRIVATE int ses__log_find_point(struct db *db, const struct session_ref *ref,
                                        const struct session_row *row, const struct point *point,
                                        int64_t *seq, bool *begins, ses_error *error);
/* ---- settled.c */

/* The live event up to which no call lacks a response; 0: none is known. `live` NULL: a rewind may have taken
 * it back. */
SESLITE_PRIVATE int ses__settled_find(struct db *db, const struct session_row *row, const struct live *live,
                                      int64_t *seq, ses_error *error);
/* The events after `last` were cut. */
SESLITE_PRIVATE int ses__settled_keep(struct db *db, const struct session_row *before,
                                      const struct session_row *after, int64_t last, ses_error *error);

/* The state the session was created with, in the arena; no text: empty. */
SESLITE_PRIVATE int ses__log_initial(struct db *db, int64_t session_id, struct arena *arena,
                                     struct span *initial, ses_error *error);
/* Reads the initial state, and the number that the session shares with its relatives by forks (0: none). */
SESLITE_PRIVATE int ses__log_beginning(struct db *db, int64_t session_id, struct arena *arena,
                                       struct span *initial, int64_t *origin, ses_error *error);

/* ---- log_state.c */
/* Fills a fresh replay with the state after the event `seq`, from row.base_seq to row.last_seq. Near the end
 * of the log, own keys are found from there: their values of now, and for the keys that later events have
 * changed, the last values before. */
SESLITE_PRIVATE int ses__log_replay(struct db *db, const struct session_row *row, int64_t seq,
                                    struct replay *replay, ses_error *error);
/* Applies the changes of the events from `first` to `last`. The replay has reached the event before
 * `first`. */
SESLITE_PRIVATE int ses__log_replay_events(struct db *db, const struct session_row *row, int64_t first,
                                           int64_t last, struct replay *replay, ses_error *error);

/* ---- append.c: the queries that an append asks ahead, on an engine that is far away */

/* The event of a draft's id. */
struct stored_event_asked {
    bool taken;             /* the answer is `seq` */
    struct event_rows rows; /* empty if it was not asked for, or was taken */
    int64_t seq;
};

/* The queries of an append besides that of the session's row. They are sent at once where that
 * saves waiting. */
struct append_asked {
    struct query lease;
    struct query *expected;             /* for each key that was seen */
    struct stored_event_asked *stored;  /* for each draft */
    struct event_rows missed;           /* events that the handle lacks */
    struct query annotated;             /* the title and labels */
    struct query scopes[SCOPE_SESSION]; /* those that other sessions share, if nothing is to be stored */
};

/* An id that was made for this call can only be there if the call has been run before. */
static inline bool ses__append_can_be_stored(const struct append_op *op, const struct event_draft *draft)
{
    return draft->has_id || op->may_be_stored;
}

/* After the session was found: checks what the caller expects, then stores. */
SESLITE_PRIVATE int ses__append_check_and_store(struct append_op *op, struct db *db, ses_error *error);

#endif
