/* The engine: opening and closing, what it tells of itself, and what is about files only. */
#include <string.h>

#include "base/condition.h"
#include "base/error.h"
#include "base/memory.h"
#include "storage/postgres/operations.h"
#include "storage/postgres/parts.h"

/* --------------------------------------------------------------------------------- what only files have */

static int refuse_backup(struct storage *storage, struct backup_op *op, ses_error *error)
{
    (void)storage;
    (void)op;
    return ses__error_set(error, SES_MISUSE,
                          "ses_backup copies files: of a server take a base backup, or use pg_dump; "
                          "ses_export writes a file that any store can import");
}

static int refuse_copy(struct storage *storage, struct copy_op *op, ses_error *error)
{
    (void)storage;
    op->copy = NULL;
    return ses__error_set(error, SES_MISUSE,
                          "ses_store_copy copies files: ses_export and ses_import move a server's store");
}

/* The server vacuums and analyzes by itself. */
static int maintain(struct storage *storage, struct maintain_op *op, ses_error *error)
{
    (void)storage;
    (void)error;
    op->more = false;
    return SES_OK;
}

/* ------------------------------------------------------------------------------------ ending, telling */

static void postgres_interrupt(struct storage *base)
{
    struct postgres *storage = (struct postgres *)base;

    (void)pthread_mutex_lock(&storage->lock);
    for (struct pg *pg = storage->all; pg; pg = pg->next_open) {
        if (atomic_load(&pg->interruptible))
            atomic_store(&pg->interrupted, true);
    }
    (void)pthread_mutex_unlock(&storage->lock);
}

static void postgres_describe(const struct storage *base, ses_info *info)
{
    const struct postgres *storage = (const struct postgres *)base;

    info->engine = "postgresql";
    info->path = storage->config.name;
    info->schema_version = ses__postgres_latest();
    info->read_only = storage->config.read_only;
}

static void postgres_count(struct storage *base, ses_stats *counts)
{
    struct postgres *storage = (struct postgres *)base;

    (void)pthread_mutex_lock(&storage->lock);
    *counts = storage->counts;
    counts->readers_open = storage->open;
    counts->readers_in_use = storage->in_use;
    (void)pthread_mutex_unlock(&storage->lock);
}

static void postgres_close(struct storage *base)
{
    ses__pool_close((struct postgres *)base);
}

static void postgres_release(struct storage *base)
{
    struct postgres *storage = (struct postgres *)base;

    ses__pool_close(storage);
    (void)pthread_mutex_destroy(&storage->hints.lock);
    (void)pthread_cond_destroy(&storage->given_back);
    (void)pthread_mutex_destroy(&storage->lock);
    ses__memory_free(storage->config.allocator, storage->connection);
    ses__memory_free(storage->config.allocator, storage);
}

static const struct engine postgres_engine = {
    .backup = refuse_backup,
    .copy = refuse_copy,
    .maintain = maintain,
    .watch = ses__postgres_watch,
    .space = ses__postgres_space,
    .check = ses__postgres_check,
    .interrupt = postgres_interrupt,
    .describe = postgres_describe,
    .count = postgres_count,
    .close = postgres_close,
    .release = postgres_release,
};

/* ------------------------------------------------------------------------------------------- opening */

static bool init_locks(struct postgres *storage)
{
    bool lock = pthread_mutex_init(&storage->lock, NULL) == 0;
    bool given_back = lock && ses__condition_init(&storage->given_back);

    bool hints = given_back && pthread_mutex_init(&storage->hints.lock, NULL) == 0;

    if (given_back && !hints)
        (void)pthread_cond_destroy(&storage->given_back);
    if (lock && !hints)
        (void)pthread_mutex_destroy(&storage->lock);
    return hints;
}

/* New connections may be opened at any time. */
static int copy_connection(struct postgres *storage, ses_error *error)
{
    const size_t size = strlen(storage->config.connection) + 1;

    storage->connection = ses__memory_new(storage->config.allocator, size);
    if (!storage->connection)
        return ses__error_nomem(error);
    memcpy(storage->connection, storage->config.connection, size);
    storage->config.connection = storage->connection;
    return SES_OK;
}

int ses__postgres_open(const struct postgres_config *config, struct storage **storage, ses_error *error)
{
    struct postgres *opened = ses__memory_zeroed(config->allocator, sizeof *opened);

    *storage = NULL;
    if (!opened || !init_locks(opened)) {
        ses__memory_free(config->allocator, opened);
        return ses__error_nomem(error);
    }
    opened->base = (struct sql_storage){.base.engine = &postgres_engine,
                                        .runner = &ses__postgres_runner,
                                        .allocator = config->allocator,
                                        .read_only = config->read_only};
    opened->config = *config;
    opened->config.hints = &opened->hints;
    int code = copy_connection(opened, error);
    if (code == SES_OK)
        code = ses__postgres_migrate(opened, error);
    if (code == SES_OK)
        *storage = &opened->base.base;
    else
        postgres_release(&opened->base.base);
    return code;
}
