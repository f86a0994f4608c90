/* Connections outside the pool, for long reads. */
#include "base/clock.h"
#include "storage/sqlite/parts.h"

struct sqlite_config ses__config_for_file(const struct storage *storage, const char *path,
                                          const struct sqlite_file *file)
{
    const struct sqlite_config *of_store = &((const struct sqlite *)storage)->config;
    return (struct sqlite_config){.path = path,
                                  .busy_timeout_us = of_store->busy_timeout_us,
                                  .allocator = of_store->allocator,
                                  .engine = of_store->engine,
                                  .key = of_store->key,
                                  .file = file};
}

static int copy_memory(struct db *base, void *context, ses_error *error)
{
    struct connection *db = ses__connection_of(base);
    return ses__pages_copy(db, context, "main", NULL, error);
}

int ses__private_connection_open(struct storage *storage, const struct limits *limits,
                                 struct private_connection *private, ses_error *error)
{
    struct sqlite *own = (struct sqlite *)storage;
    const bool copies = own->config.in_memory;
    int code;

    *private = (struct private_connection){.storage = own};
    if (copies) {
        private->config = ses__config_for_file(storage, ":memory:", &private->file);
        private->config.in_memory = true;
    }
    code = ses__connection_open(copies ? &private->config : &own->config,
                                copies ? CONNECTION_WRITER : CONNECTION_READER, limits, &private->db, error);
    if (code != SES_OK)
        return code;
    /* In the writer's turn: the writers wait while memory is copied. */
    if (copies)
        code = ses__writer_run(own, copy_memory, private->db, 0, JOB_ALONE, limits, error);
    if (code != SES_OK) {
        ses__connection_close(private->db);
        return code;
    }
    ses__connection_start_call(
        private->db, ses__limits_until(limits, ses__clock_steady_us() + own->config.busy_timeout_us), true,
        limits);
    (void)pthread_mutex_lock(&own->lock);
    own->counts.read_calls++;
    private->db->next_open = own->readers.all;
    own->readers.all = private->db;
    (void)pthread_mutex_unlock(&own->lock);
    return SES_OK;
}

void ses__private_connection_close(struct private_connection *private)
{
    struct sqlite *own = private->storage;
    struct connection **link = &own->readers.all;

    (void)pthread_mutex_lock(&own->lock);
    while (*link != private->db)
        link = &(*link)->next_open;
    *link = private->db->next_open;
    ses__connection_count(private->db, &own->counts);
    (void)pthread_mutex_unlock(&own->lock);
    ses__connection_close(private->db);
}

int ses__private_connection_run(struct storage *storage, const struct limits *limits, storage_job *job,
                                void *context, ses_error *error)
{
    struct private_connection private;
    int code = ses__private_connection_open(storage, limits, &private, error);

    if (code != SES_OK)
        return code;
    code = ses__transaction_read(private.db, job, context, error);
    ses__private_connection_close(&private);
    return code;
}
