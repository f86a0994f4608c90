/* Copies of stores in memory. */
#include "storage/sqlite/parts.h"

/* Pages from another store's connection, into one that was just opened. */
static int fill_copy(void *context, struct connection *db, ses_error *error)
{
    return ses__pages_copy(((struct private_connection *)context)->db, db,
                           &(struct copy_progress){NULL, NULL}, error);
}

struct copying_job {
    struct private_connection *private;
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
    config.fill_context = job->private;
    return code == SES_OK ? ses__sqlite_open(&config, &job->op->copy, error) : code;
}

int ses__sqlite_copy(struct storage *storage, struct copy_op *op, ses_error *error)
{
    struct private_connection private;
    struct copying_job job = {&private, op};

    op->copy = NULL;
    int code = ses__private_connection_open(storage, &private, error);
    if (code != SES_OK)
        return code;
    code = ses__transaction_read(private.db, open_filled, &job, error);
    if (code != SES_OK && op->copy) {
        ses__door_release(op->copy);
        op->copy = NULL;
    }
    ses__private_connection_close(&private);
    return code;
}
