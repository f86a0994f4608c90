#include "storage/sql/run.h"

#include "base/error.h"
#include "storage/sqlite/parts.h"

static int write_as(struct storage *storage, storage_job *job, void *context, size_t bytes,
                    enum job_kind kind, ses_error *error)
{
    struct sqlite *own = (struct sqlite *)storage;

    if (own->config.read_only)
        return ses__error_set(error, SES_READONLY, "%s: the store was opened read-only", own->config.path);
    int result = ses__writer_run(own, job, context, bytes, kind, error);
    ses__checkpoint_start(own);
    return result;
}

int ses__sqlite_run_write(struct storage *storage, storage_job *job, void *context, size_t bytes,
                          ses_error *error)
{
    return write_as(storage, job, context, bytes, JOB_WRITES, error);
}

int ses__sqlite_run_write_by_itself(struct storage *storage, storage_job *job, void *context,
                                    ses_error *error)
{
    return write_as(storage, job, context, 0, JOB_WRITES_BY_ITSELF, error);
}

static int read_as(struct storage *storage, storage_job *job, void *context, enum job_kind kind,
                   ses_error *error)
{
    struct sqlite *own = (struct sqlite *)storage;

    /* A store in memory is seen by one connection only. */
    return own->config.in_memory ? ses__writer_run(own, job, context, 0, kind, error)
                                 : ses__readers_run(own, job, context, kind, error);
}

int ses__sqlite_run_read(struct storage *storage, storage_job *job, void *context, ses_error *error)
{
    return read_as(storage, job, context, JOB_READS, error);
}

int ses__sqlite_run_read_by_itself(struct storage *storage, storage_job *job, void *context, ses_error *error)
{
    const struct sqlite *own = (const struct sqlite *)storage;
    return read_as(storage, job, context, own->config.in_memory ? JOB_READS_BY_ITSELF : JOB_READS, error);
}

int ses__sqlite_run_read_to_write(struct storage *storage, storage_job *job, void *context, ses_error *error)
{
    return read_as(storage, job, context, JOB_READS_TO_WRITE, error);
}

int ses__run_watch(struct storage *storage, storage_job *job, void *context, ses_error *error)
{
    return read_as(storage, job, context, JOB_WATCHES, error);
}
