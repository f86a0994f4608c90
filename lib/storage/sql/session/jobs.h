/* Shared by the operations of the door. All run inside a transaction. */
#ifndef SESLITE_STORAGE_SQL_SESSION_JOBS_H
#define SESLITE_STORAGE_SQL_SESSION_JOBS_H

#include "storage/door.h"

struct db;
struct page_run {
    struct page_op *op;
    const struct range asked; /* for a run that begins again */
};

/* Jobs of which an engine may know what they will ask; the context is the operation, or the run. */
SESLITE_PRIVATE int ses__get_job(struct db *db, void *context, ses_error *error);
SESLITE_PRIVATE int ses__refresh_job(struct db *db, void *context, ses_error *error);
SESLITE_PRIVATE int ses__value_job(struct db *db, void *context, ses_error *error);
SESLITE_PRIVATE int ses__page_job(struct db *db, void *context, ses_error *error);
SESLITE_PRIVATE int ses__list_job(struct db *db, void *context, ses_error *error);
SESLITE_PRIVATE int ses__create_job(struct db *db, void *context, ses_error *error);
SESLITE_PRIVATE int ses__find_existing_job(struct db *db, void *context, ses_error *error);
SESLITE_PRIVATE int ses__append_job(struct db *db, void *context, ses_error *error);

/* ---- read.c */
/* Inside a transaction: fills a snapshot of the session of that key, whose row is known. */
SESLITE_PRIVATE int ses__load_snapshot(struct db *db, struct snapshot *snapshot, const ses_key *key,
                                       const struct session_row *row, const struct range *range,
                                       ses_error *error);
/* Inside a transaction: the events that the advance's snapshot lacks of a session that is at `row`; the advance restarts
 * if events were cut meanwhile, or pruned that it lacks. And the scopes that other sessions share, or all that are stored
 * if it restarts. */
SESLITE_PRIVATE int ses__read_missed(struct db *db, struct advance *advance, const struct session_row *row,
                                     ses_error *error);
SESLITE_PRIVATE int ses__read_scopes(struct db *db, struct advance *advance, ses_error *error);

/* ---- create_delete.c */
/* EXISTS. */
SESLITE_PRIVATE int ses__refuse_existing(const ses_key *key, ses_error *error);

/* ---- append.c */
/* Inside a transaction, when all was checked and `row` and `before` are the session's: stores the drafts, and makes the
 * advance ready. */
SESLITE_PRIVATE int ses__append_store(struct db *db, struct append_op *op, ses_error *error);

#endif
