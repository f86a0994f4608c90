/* Running one transaction: reads on a connection of the pool, writes through the group-committing writer. */
#ifndef SESLITE_STORAGE_SQLITE_RUN_H
#define SESLITE_STORAGE_SQLITE_RUN_H

#include "storage/door.h"
#include "storage/sqlite/connection.h"

/*
 * A job runs inside one transaction, on a connection that is its own for that time, and touches nothing but the
 * connection and its own context: so jobs of several threads can be queued and committed together.
 *
 * It returns 0 or a positive value to commit, a negative code to roll back. It may run on another thread, while its own
 * waits; and it may be run again from the start, when the work of others that shared its transaction failed.
 */
typedef int storage_job(struct db *db, void *context, ses_error *error);

/* What the job returns, or why the transaction failed. `bytes` is about how much it writes. */
SESLITE_PRIVATE int ses__run_write(struct storage *storage, storage_job *job, void *context, size_t bytes,
                                   ses_error *error);
/* The same for a job that asks its caller for what it writes: it runs once, on the caller's thread, in a transaction that
 * no other job shares. */
SESLITE_PRIVATE int ses__run_write_by_itself(struct storage *storage, storage_job *job, void *context,
                                             ses_error *error);
/* erase.c: the same as ses__run_write for a job that deletes. With `erasure->secure` what it deletes is overwritten, and the log is emptied
 * after the commit; `erasure->unclean` says whether that is still to be done. */
SESLITE_PRIVATE int ses__run_delete(struct storage *storage, storage_job *job, void *context, size_t bytes,
                                    struct erasure *erasure, ses_error *error);
SESLITE_PRIVATE int ses__run_read(struct storage *storage, storage_job *job, void *context, ses_error *error);
/* A read that tells its caller what it reads, on the caller's thread. */
SESLITE_PRIVATE int ses__run_read_by_itself(struct storage *storage, storage_job *job, void *context,
                                            ses_error *error);
/* A read by a call that may write after it: an interrupt does not end it. */
SESLITE_PRIVATE int ses__run_read_to_write(struct storage *storage, storage_job *job, void *context,
                                           ses_error *error);
/* A read of no call: it is not counted, not interrupted, and BUSY after a moment. */
SESLITE_PRIVATE int ses__run_watch(struct storage *storage, storage_job *job, void *context,
                                   ses_error *error);

#endif
