/* Connections beside the pool, for reads that take long; and stores that are copies in memory. */
#include "storage/sqlite/apart.h"

#include "base/clock.h"
#include "base/error.h"
#include "storage/sqlite/parts.h"

struct sqlite_config ses__config_beside(const struct storage *storage, const char *path,
                                        const struct sqlite_file *file)
{
    const struct sqlite_config *of_store = &((const struct sqlite *)storage)->config;
    return (struct sqlite_config){.path = path,
                                  .busy_timeout_us = of_store->busy_timeout_us,
                                  .allocator = of_store->allocator,
                                  .file = file};
}

static int copy_memory(struct db *base, void *context, ses_error *error)
{
    struct connection *db = ses__connection_of(base);
    return ses__pages_copy(db, context, &(struct copy_progress){NULL, NULL}, error);
}

/* In the writer's turn: the writers wait for as long as it takes to copy memory. */
static int open_copy(struct apart *apart, ses_error *error)
{
    apart->config = ses__config_beside(&apart->storage->base.base, ":memory:", &apart->file);
    apart->config.in_memory = true;
    int code = ses__connection_open(&apart->config, CONNECTION_WRITER, &apart->db, error);
    if (code != SES_OK)
        return code;
    code = ses__writer_run(apart->storage, copy_memory, apart->db, 0, JOB_ALONE, error);
    if (code != SES_OK)
        ses__connection_close(apart->db);
    return code;
}

int ses__apart_open(struct storage *storage, struct apart *apart, ses_error *error)
{
    struct sqlite *own = (struct sqlite *)storage;
    int code;

    *apart = (struct apart){.storage = own};
    code = own->config.in_memory ? open_copy(apart, error)
                                 : ses__connection_open(&own->config, CONNECTION_READER, &apart->db, error);
    if (code != SES_OK)
        return code;
    ses__connection_start_call(apart->db, ses__clock_steady_us() + own->config.busy_timeout_us, true);
    (void)pthread_mutex_lock(&own->lock);
    own->counts.read_calls++;
    apart->db->next_open = own->readers.all;
    own->readers.all = apart->db;
    (void)pthread_mutex_unlock(&own->lock);
    return SES_OK;
}

void ses__apart_close(struct apart *apart)
{
    struct sqlite *own = apart->storage;
    struct connection **link = &own->readers.all;

    (void)pthread_mutex_lock(&own->lock);
    while (*link != apart->db)
        link = &(*link)->next_open;
    *link = apart->db->next_open;
    ses__connection_count(apart->db, &own->counts);
    (void)pthread_mutex_unlock(&own->lock);
    ses__connection_close(apart->db);
}

/* ------------------------------------------------------------------------------------ copies as stores */

/* Pages from another store's connection, into one that was just opened. */
static int fill_copy(void *context, struct connection *db, ses_error *error)
{
    return ses__pages_copy(((struct apart *)context)->db, db, &(struct copy_progress){NULL, NULL}, error);
}

struct copying_job {
    struct apart *apart;
    struct copy_op *op;
};

static int open_filled(struct db *base, void *context, ses_error *error)
{
    struct connection *db = ses__connection_of(base);
    struct copying_job *job = context;
    struct sqlite_config config = *job->op->config;
    int64_t pages = 0;
    int code = ses__pages_count(db, &pages, error); /* reads, with which the transaction begins */

    config.fill = fill_copy;
    config.fill_context = job->apart;
    return code == SES_OK ? ses__sqlite_open(&config, &job->op->copy, error) : code;
}

int ses__sqlite_copy(struct storage *storage, struct copy_op *op, ses_error *error)
{
    struct apart apart;
    struct copying_job job = {&apart, op};

    op->copy = NULL;
    int code = ses__apart_open(storage, &apart, error);
    if (code != SES_OK)
        return code;
    code = ses__transaction_read(apart.db, open_filled, &job, error);
    if (code != SES_OK && op->copy) {
        op->copy->engine->release(op->copy);
        op->copy = NULL;
    }
    ses__apart_close(&apart);
    return code;
}
