/* Running one transaction on an engine that speaks SQL. */
#ifndef SESLITE_STORAGE_SQL_RUN_H
#define SESLITE_STORAGE_SQL_RUN_H

#include "storage/door.h"

struct db;

/* An engine that speaks SQL: its storage begins with this. */
struct sql_storage {
    struct storage base;
    const struct sql_runner *runner; /* NULL: SQLite's, which is called by name */
    const ses_allocator *allocator;
    bool read_only;
};

/*
 * A job runs inside one transaction, on a connection that is its own for that time, and touches nothing but the
 * connection and its own context: so jobs of several threads can be queued and committed together.
 *
 * It returns 0 or a positive value to commit, a negative code to roll back. It may run on another thread, while its own
 * waits; and it may be run again from the start, when the work of others that shared its transaction failed.
 */
typedef int storage_job(struct db *db, void *context, ses_error *error);

/* How an engine runs them: SQLite's functions are called by name, like its operations (see door.h). */
struct sql_runner {
    int (*write)(struct storage *storage, storage_job *job, void *context, size_t bytes, ses_error *error);
    int (*write_by_itself)(struct storage *storage, storage_job *job, void *context, ses_error *error);
    int (*delete)(struct storage *storage, storage_job *job, void *context, size_t bytes,
                  struct erasure *erasure, ses_error *error);
    int (*read)(struct storage *storage, storage_job *job, void *context, ses_error *error);
    int (*read_by_itself)(struct storage *storage, storage_job *job, void *context, ses_error *error);
    int (*read_to_write)(struct storage *storage, storage_job *job, void *context, ses_error *error);
};
SESLITE_PRIVATE int ses__sqlite_run_write(struct storage *storage, storage_job *job, void *context,
                                          size_t bytes, ses_error *error);
SESLITE_PRIVATE int ses__sqlite_run_write_by_itself(struct storage *storage, storage_job *job, void *context,
                                                    ses_error *error);
SESLITE_PRIVATE int ses__sqlite_run_delete(struct storage *storage, storage_job *job, void *context,
                                           size_t bytes, struct erasure *erasure, ses_error *error);
SESLITE_PRIVATE int ses__sqlite_run_read(struct storage *storage, storage_job *job, void *context,
                                         ses_error *error);
SESLITE_PRIVATE int ses__sqlite_run_read_by_itself(struct storage *storage, storage_job *job, void *context,
                                                   ses_error *error);
SESLITE_PRIVATE int ses__sqlite_run_read_to_write(struct storage *storage, storage_job *job, void *context,
                                                  ses_error *error);

static inline const struct sql_runner *ses__runner_of(const struct storage *storage)
{
    return ((const struct sql_storage *)storage)->runner;
}

/* Each returns what the job returns, or why the transaction failed. */

/* `bytes` is about how much it writes. */
static inline int ses__run_write(struct storage *storage, storage_job *job, void *context, size_t bytes,
                                 ses_error *error)
{
    const struct sql_runner *runner = ses__runner_of(storage);
    return runner ? runner->write(storage, job, context, bytes, error)
                  : ses__sqlite_run_write(storage, job, context, bytes, error);
}

/* For a job that asks its caller for what it writes: it runs once, on the caller's thread, in a transaction that no other
 * job shares. */
static inline int ses__run_write_by_itself(struct storage *storage, storage_job *job, void *context,
                                           ses_error *error)
{
    const struct sql_runner *runner = ses__runner_of(storage);
    return runner ? runner->write_by_itself(storage, job, context, error)
                  : ses__sqlite_run_write_by_itself(storage, job, context, error);
}

/* As ses__run_write, for a job that deletes. With `erasure->secure` what it deletes is overwritten; `erasure->unclean` says
 * whether that is still to be done. */
static inline int ses__run_delete(struct storage *storage, storage_job *job, void *context, size_t bytes,
                                  struct erasure *erasure, ses_error *error)
{
    const struct sql_runner *runner = ses__runner_of(storage);
    return runner ? runner->delete (storage, job, context, bytes, erasure, error)
                  : ses__sqlite_run_delete(storage, job, context, bytes, erasure, error);
}

static inline int ses__run_read(struct storage *storage, storage_job *job, void *context, ses_error *error)
{
    const struct sql_runner *runner = ses__runner_of(storage);
    return runner ? runner->read(storage, job, context, error)
                  : ses__sqlite_run_read(storage, job, context, error);
}

/* A read that calls its caller back, on the caller's thread. */
static inline int ses__run_read_by_itself(struct storage *storage, storage_job *job, void *context,
                                          ses_error *error)
{
    const struct sql_runner *runner = ses__runner_of(storage);
    return runner ? runner->read_by_itself(storage, job, context, error)
                  : ses__sqlite_run_read_by_itself(storage, job, context, error);
}

/* A read by a call that may write after it: an interrupt does not end it. */
static inline int ses__run_read_to_write(struct storage *storage, storage_job *job, void *context,
                                         ses_error *error)
{
    const struct sql_runner *runner = ses__runner_of(storage);
    return runner ? runner->read_to_write(storage, job, context, error)
                  : ses__sqlite_run_read_to_write(storage, job, context, error);
}

#endif
