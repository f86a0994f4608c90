/* The engine: opens and closes stores, and describes itself. */
#include <string.h>

#include "base/thread.h"
#include "base/error.h"
#include "base/memory.h"
#include "storage/mysql/parts.h"
#include "storage/sql/rows/words.h"

/* The server purges and analyzes by itself. */
static int maintain(struct storage *storage, struct maintain_op *op, ses_error *error)
{
    (void)storage;
    (void)error;
    op->more = false;
    return SES_OK;
}

/* The server reuses free space by itself. */
static int run_space(struct db *db, void *context, ses_error *error)
{
    struct space_op *op = context;

    op->free_bytes = 0;
    return ses__query_number(db, STATEMENT_SPACE, &op->bytes, error, NULL);
}

static int mysql_space(struct storage *storage, struct space_op *op, ses_error *error)
{
    return ses__run_within(storage, &op->limits, TO_READ, run_space, op, error);
}

/* ------------------------------------------------------------------------------------ ending, telling */

static void mysql_interrupt(struct storage *base)
{
    struct mysql *storage = (struct mysql *)base;

    (void)pthread_mutex_lock(&storage->lock);
    for (struct my *my = storage->all; my; my = my->next_open) {
        if (atomic_load(&my->interruptible))
            atomic_store(&my->interrupted, true);
    }
    (void)pthread_mutex_unlock(&storage->lock);
}

static void mysql_describe(const struct storage *base, ses_info *info)
{
    const struct mysql *storage = (const struct mysql *)base;

    info->path = storage->config.name;
    info->schema_version = ses__mysql_latest();
    info->read_only = storage->config.read_only;
}

static void mysql_count(struct storage *base, ses_stats *counts)
{
    struct mysql *storage = (struct mysql *)base;

    (void)pthread_mutex_lock(&storage->lock);
    *counts = storage->counts;
    counts->readers_open = storage->open;
    counts->readers_in_use = storage->in_use;
    (void)pthread_mutex_unlock(&storage->lock);
}

static void mysql_close_store(struct storage *base)
{
    ses__mysql_close_all((struct mysql *)base);
}

static void mysql_release(struct storage *base)
{
    struct mysql *storage = (struct mysql *)base;

    ses__mysql_close_all(storage);
    (void)pthread_cond_destroy(&storage->given_back);
    (void)pthread_mutex_destroy(&storage->lock);
    ses__mysql_address_free(&storage->config.address);
    ses__memory_free(storage->config.allocator, storage->uri);
    ses_free(storage->name);
    ses__memory_free(storage->config.allocator, storage);
}

static int weigh_nothing(struct db *db, const struct hash_seed *seed, uint64_t *sum, ses_error *error)
{
    (void)db;
    (void)seed;
    (void)sum;
    (void)error;
    return SES_OK;
}

/* There is no index of words: a search reads the events. */
static const struct words_engine no_words = {.remove = STATEMENT_WORDS_DELETE, .weigh = weigh_nothing};

static const struct engine mysql_engine = {
    .name = "mysql",
    .run = ses__mysql_run,
    .start = ses__my_start,
    .ask_last = ses__my_ask_last,
    .row = ses__my_row,
    .type = ses__my_type,
    .int_of = ses__my_int_of,
    .text_of = ses__my_text_of,
    .words = &no_words,
    .bytes_of = ses__my_text_of, /* results are bytes */
    .end = ses__my_end,
    .changed = ses__my_changed,
    .must_change = ses__my_must_change,
    .given = ses__my_given,
    .create = ses__mysql_create,
    .append = ses__mysql_append,
    .lock = ses__my_lock,
    .run_delete = ses__mysql_run_delete,
    .check = ses__mysql_check,
    .maintain = maintain,
    .space = mysql_space,
    .watch = ses__mysql_watch,
    .interrupt = mysql_interrupt,
    .describe = mysql_describe,
    .count = mysql_count,
    .close = mysql_close_store,
    .release = mysql_release,
};

/* ------------------------------------------------------------------------------------------- opening */

static bool init_locks(struct mysql *storage)
{
    bool lock = pthread_mutex_init(&storage->lock, NULL) == 0;
    bool given_back = lock && ses__condition_init(&storage->given_back);

    if (lock && !given_back)
        (void)pthread_mutex_destroy(&storage->lock);
    return given_back;
}

/* One that has not been connected to. */
static int mysql_new(const struct mysql_config *config, struct mysql **storage, ses_error *error)
{
    const char *uri = config->uri;
    struct mysql *made = ses__memory_zeroed(config->allocator, sizeof *made);

    if (!made || !init_locks(made)) {
        ses__memory_free(config->allocator, made);
        return ses__error_nomem(error);
    }
    *storage = made;
    made->base = (struct storage){
        .engine = &mysql_engine, .allocator = config->allocator, .read_only = config->read_only};
    made->uri = ses__memory_copy(config->allocator, uri, strlen(uri));
    made->config = *config;
    made->config.engine = &mysql_engine;
    made->config.uri = made->uri;
    int code = ses__mysql_address_init(&made->config.address, config->allocator, uri, error);
    if (code == SES_OK && !made->uri)
        code = ses__error_nomem(error);
    if (code == SES_OK)
        code = ses__mysql_name(uri, &made->name, error);
    made->config.name = made->name;
    return code;
}

int ses__mysql_open(const struct mysql_config *config, struct storage **storage, ses_error *error)
{
    struct mysql *opened = NULL;
    int code = mysql_new(config, &opened, error);

    *storage = NULL;
    if (code == SES_OK)
        code = ses__mysql_migrate(opened, error);
    if (code == SES_OK)
        *storage = &opened->base;
    else if (opened)
        mysql_release(&opened->base);
    return code;
}
