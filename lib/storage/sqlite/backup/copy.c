/* Copies of stores in memory. */
#include "storage/sqlite/parts.h"

/* Pages from another store's connection, into one that was just opened. */
static int fill_copy(void *context, struct connection *db, ses_error *error)
{
    return ses__pages_copy(context, db, &(struct copy_progress){NULL, NULL}, error);
}

static int open_filled(struct db *base, void *context, ses_error *error)
{
    struct connection *db = ses__connection_of(base);
    struct copy_op *op = context;
    struct sqlite_config config = *op->config;
    int64_t pages = 0;
    int code = ses__pages_count(db, &pages, error); /* reads, with which the transaction begins */

    config.fill = fill_copy;
    config.fill_context = db;
    return code == SES_OK ? ses__sqlite_open(&config, &op->copy, error) : code;
}

int ses__sqlite_copy(struct storage *storage, struct copy_op *op, ses_error *error)
{
    op->copy = NULL;
    const int code = ses__private_connection_run(storage, &op->limits, open_filled, op, error);
    if (code != SES_OK && op->copy) {
        ses__door_release(op->copy);
        op->copy = NULL;
    }
    return code;
}
