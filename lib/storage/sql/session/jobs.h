/* Shared by the operations of the door. All run inside a transaction. */
#ifndef SESLITE_STORAGE_SQL_SESSION_JOBS_H
#define SESLITE_STORAGE_SQL_SESSION_JOBS_H

#include "storage/sql/rows/event.h"
#include "storage/sql/rows/state.h"

/* Jobs of which an engine may know what they will ask; the context is the operation, or the run. */
SESLITE_PRIVATE int ses__create_job(struct db *db, void *context, ses_error *error);
SESLITE_PRIVATE int ses__append_ahead_job(struct db *db, void *context, ses_error *error);

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
/* The same of the session that has the key: NOTFOUND. */
SESLITE_PRIVATE int ses__find_snapshot(struct db *db, struct snapshot *snapshot, const ses_key *key,
                                       const struct range *range, ses_error *error);
/* Inside a transaction: the events that the advance's snapshot lacks of a session that is at `row`; the advance restarts
 * if events were cut meanwhile, or pruned that it lacks. And the scopes that other sessions share, or all that are stored
 * if it restarts. */
SESLITE_PRIVATE int ses__read_missed(struct db *db, struct advance *advance, const struct session_row *row,
                                     ses_error *error);
/* The same in two halves. The events up to `last`, which need not be there. */
SESLITE_PRIVATE void ses__missed_ask(struct event_rows *rows, struct db *db, const struct session_row *known,
                                     int64_t last, ses_error *error);
SESLITE_PRIVATE int ses__missed_take(struct event_rows *rows, struct db *db, struct advance *advance,
                                     const struct session_row *row, ses_error *error);
/* The scopes that other sessions share, in two halves. An advance that restarts also reads the session's own. */
SESLITE_PRIVATE void ses__scopes_ask(struct query *asked, struct db *db, const struct session_row *known,
                                     ses_error *error);
SESLITE_PRIVATE int ses__scopes_take(struct query *asked, struct db *db, struct advance *advance,
                                     ses_error *error);
SESLITE_PRIVATE int ses__read_scopes(struct db *db, struct advance *advance, ses_error *error);

/* ---- create_delete.c */
/* EXISTS. */
SESLITE_PRIVATE int ses__refuse_existing(const ses_key *key, ses_error *error);

/* ---- append.c */
/* Inside a transaction, when all was checked and `row` and `before` are the session's: stores the drafts, and makes the
 * advance ready. */
SESLITE_PRIVATE int ses__append_store(struct db *db, struct append_op *op, ses_error *error);
/* The drafts were stored otherwise, after the session was as `before` says: fills the results, and makes the advance
 * ready. */
SESLITE_PRIVATE int ses__append_stored(struct append_op *op, ses_error *error);

#endif
