/* The engine: opens and closes stores, and describes itself. */
#include <string.h>

#include "base/thread.h"
#include "base/error.h"
#include "base/memory.h"
#include "storage/postgres/parts.h"

/* The server vacuums and analyzes by itself. */
static int maintain(struct storage *storage, struct maintain_op *op, ses_error *error)
{
    (void)storage;
    (void)error;
    op->more = false;
    return SES_OK;
}

/* ------------------------------------------------------------------------------------ ending, telling */

static void interrupt_reads(struct postgres *storage)
{
    (void)pthread_mutex_lock(&storage->lock);
    for (struct pg *pg = storage->all; pg; pg = pg->next_open) {
        if (atomic_load(&pg->interruptible))
            atomic_store(&pg->interrupted, true);
    }
    (void)pthread_mutex_unlock(&storage->lock);
}

static void postgres_interrupt(struct storage *base)
{
    struct postgres *storage = (struct postgres *)base;

    interrupt_reads(storage);
    if (storage->replica)
        interrupt_reads(storage->replica);
}

static void postgres_describe(const struct storage *base, ses_info *info)
{
    const struct postgres *storage = (const struct postgres *)base;

    info->path = storage->config.name;
    info->schema_version = ses__postgres_latest();
    info->read_only = storage->config.read_only;
}

static void add_counts(struct postgres *storage, ses_stats *counts)
{
    (void)pthread_mutex_lock(&storage->lock);
    counts->events += storage->counts.events;
    counts->commits += storage->counts.commits;
    counts->write_calls += storage->counts.write_calls;
    counts->read_calls += storage->counts.read_calls;
    counts->reader_waits += storage->counts.reader_waits;
    counts->readers_open += storage->open;
    counts->readers_in_use += storage->in_use;
    (void)pthread_mutex_unlock(&storage->lock);
}

static void postgres_count(struct storage *base, ses_stats *counts)
{
    struct postgres *storage = (struct postgres *)base;

    *counts = (ses_stats){.events = 0};
    add_counts(storage, counts);
    if (storage->replica)
        add_counts(storage->replica, counts);
}

static void postgres_close(struct storage *base)
{
    struct postgres *storage = (struct postgres *)base;

    ses__pool_close(storage);
    if (storage->replica)
        ses__pool_close(storage->replica);
}

static void release_one(struct postgres *storage)
{
    ses__pool_close(storage);
    (void)pthread_cond_destroy(&storage->given_back);
    (void)pthread_mutex_destroy(&storage->lock);
    ses__memory_free(storage->config.allocator, storage->connection);
    ses__memory_free(storage->config.allocator, storage);
}

static void postgres_release(struct storage *base)
{
    struct postgres *storage = (struct postgres *)base;

    if (storage->replica)
        release_one(storage->replica);
    ses_free(storage->replica_name);
    release_one(storage);
}

static const struct engine postgres_engine = {
    .name = "postgresql",
    .run = ses__postgres_run,
    .start = ses__pg_start,
    .bind_int = ses__pg_bind_int,
    .bind_text = ses__pg_bind_text,
    .bind_owners = ses__pg_bind_owners,
    .ask = ses__pg_ask,
    .ask_last = ses__pg_ask_last,
    .row = ses__pg_row,
    .type = ses__pg_type,
    .int_of = ses__pg_int_of,
    .text_of = ses__pg_text_of,
    .end = ses__pg_end,
    .changed = ses__pg_changed,
    .must_change = ses__pg_must_change,
    .given = ses__pg_given,
    .create = ses__postgres_create,
    .append = ses__postgres_append,
    .lock = ses__pg_lock,
    .check = ses__postgres_check,
    .maintain = maintain,
    .space = ses__postgres_space,
    .watch = ses__postgres_watch,
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

    if (lock && !given_back)
        (void)pthread_mutex_destroy(&storage->lock);
    return given_back;
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

/* One that has not been connected to. */
static int postgres_new(const struct postgres_config *config, struct postgres **storage, ses_error *error)
{
    struct postgres *made = ses__memory_zeroed(config->allocator, sizeof *made);

    if (!made || !init_locks(made)) {
        ses__memory_free(config->allocator, made);
        return ses__error_nomem(error);
    }
    made->base = (struct storage){
        .engine = &postgres_engine, .allocator = config->allocator, .read_only = config->read_only};
    made->config = *config;
    made->config.engine = &postgres_engine;
    made->config.replica = NULL;
    *storage = made;
    return copy_connection(made, error);
}

static int add_replica(struct postgres *storage, const char *connection, ses_error *error)
{
    struct postgres_config config = storage->config;
    int code = ses__postgres_name(connection, &storage->replica_name, error);

    if (code != SES_OK) {
        ses__error_prefix(error, "replica: ");
        return code;
    }
    config.connection = connection;
    config.name = storage->replica_name;
    config.read_only = true;
    return postgres_new(&config, &storage->replica, error);
}

int ses__postgres_open(const struct postgres_config *config, struct storage **storage, ses_error *error)
{
    struct postgres *opened = NULL;
    int code = postgres_new(config, &opened, error);

    *storage = NULL;
    if (code == SES_OK && config->replica)
        code = add_replica(opened, config->replica, error);
    if (code == SES_OK)
        code = ses__postgres_migrate(opened, error);
    if (code == SES_OK)
        *storage = &opened->base;
    else if (opened)
        postgres_release(&opened->base);
    return code;
}
