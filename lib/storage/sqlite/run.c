/* How jobs are run. */
#include "base/error.h"
#include "storage/sqlite/parts.h"

static int write_as(struct sqlite *storage, const struct manner *manner, const struct limits *limits,
                    storage_job *job, void *context, ses_error *error)
{
    const enum job_kind kind = manner->alone ? JOB_WRITES_BY_ITSELF : JOB_WRITES;

    if (storage->config.read_only)
        return ses__error_set(error, SES_READONLY, "%s: the store was opened read-only",
                              storage->config.path);
    int result = ses__writer_run(storage, job, context, manner->bytes, kind, limits, error);
    ses__checkpoint_start(storage);
    return result;
}

static int read_as(struct sqlite *storage, enum job_kind kind, const struct limits *limits, storage_job *job,
                   void *context, ses_error *error)
{
    /* A store in memory is seen by one connection only. */
    return storage->config.in_memory ? ses__writer_run(storage, job, context, 0, kind, limits, error)
                                     : ses__readers_run(storage, job, context, kind, limits, error);
}

int ses__sqlite_run(struct storage *base, const struct manner *manner, storage_job *job, void *context,
                    ses_error *error)
{
    struct sqlite *storage = (struct sqlite *)base;
    const struct limits *limits = ses__limits_given(manner->limits);

    if (manner->writes)
        return write_as(storage, manner, limits, job, context, error);
    const enum job_kind kind = manner->uninterruptible                      ? JOB_READS_TO_WRITE
                               : manner->alone && storage->config.in_memory ? JOB_READS_BY_ITSELF
                                                                            : JOB_READS;
    return read_as(storage, kind, limits, job, context, error);
}

int ses__sqlite_run_watch(struct storage *base, storage_job *job, void *context, ses_error *error)
{
    return read_as((struct sqlite *)base, JOB_WATCHES, NULL, job, context, error);
}
