/* What is done on one connection as a whole: transactions, and copies of all pages. */
#ifndef SESLITE_STORAGE_SQLITE_CONNECTION_TRANSACTION_H
#define SESLITE_STORAGE_SQLITE_CONNECTION_TRANSACTION_H

#include "storage/sqlite/connection/connection.h"

/* ---- transaction.c */

SESLITE_PRIVATE int ses__transaction_begin(struct connection *db, const struct statement *how,
                                           ses_error *error);
SESLITE_PRIVATE void ses__transaction_roll_back(struct connection *db);
/* Runs a job that reads in a transaction of its own. */
SESLITE_PRIVATE int ses__transaction_read(struct connection *db, storage_job *job, void *context,
                                          ses_error *error);

/* ---- commit.c */

/* Commits a transaction that wrote. UNKNOWN: it may be stored or not. After any other failure nothing is, and the
 * transaction may still be open. */
SESLITE_PRIVATE int ses__commit(struct connection *db, ses_error *failure);

/* ---- pages.c */

/* Receives each step; a non-zero result ends the copying. */
struct copy_progress {
    int (*report)(void *context, int64_t done, int64_t total); /* may be NULL */
    void *context;
};
/* Copies all pages of `from`, on which a read transaction or the writer's turn keeps others from writing, to `to`, which
 * nobody else uses. INTERRUPTED: `from` was interrupted, or the progress ended it. */
SESLITE_PRIVATE int ses__pages_copy(struct connection *from, struct connection *to,
                                    const struct copy_progress *progress, ses_error *error);
/* CORRUPT: the file, with its log, is too short for the pages that it says it has. */
SESLITE_PRIVATE int ses__pages_count(struct connection *db, int64_t *pages, ses_error *error);

#endif
