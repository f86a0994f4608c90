/* The engine: opens and closes stores, and describes itself. */
#include <string.h>

#include "base/thread.h"
#include "base/error.h"
#include "base/memory.h"
#include "storage/postgres/parts.h"
#include "storage/sql/rows/words.h"

/* The server vacuums and analyzes by itself. */
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

static int postgres_space(struct storage *storage, struct space_op *op, ses_error *error)
{
    return ses__run_within(storage, &op->limits, TO_READ, run_space, op, error);
}

/* ------------------------------------------------------------------------------------ ending, telling */

static void postgres_interrupt(struct storage *base)
{
    for (struct postgres *side = (struct postgres *)base; side; side = side->replica) {
        (void)pthread_mutex_lock(&side->lock);
        for (struct pg *pg = side->all; pg; pg = pg->next_open) {
            if (atomic_load(&pg->interruptible))
                atomic_store(&pg->interrupted, true);
        }
        (void)pthread_mutex_unlock(&side->lock);
    }
}

static void postgres_describe(const struct storage *base, ses_info *info)
{
    const struct postgres *storage = (const struct postgres *)base;

    info->path = storage->config.name;
    info->schema_version = ses__postgres_latest();
    info->read_only = storage->config.read_only;
}

static void postgres_count(struct storage *base, ses_stats *counts)
{
    *counts = (ses_stats){.events = 0};
    for (struct postgres *side = (struct postgres *)base; side; side = side->replica) {
        (void)pthread_mutex_lock(&side->lock);
        counts->events += side->counts.events;
        counts->commits += side->counts.commits;
        counts->write_calls += side->counts.write_calls;
        counts->read_calls += side->counts.read_calls;
        counts->reader_waits += side->counts.reader_waits;
        counts->readers_open += side->open;
        counts->readers_in_use += side->in_use;
        (void)pthread_mutex_unlock(&side->lock);
    }
}

static void postgres_close(struct storage *base)
{
    for (struct postgres *side = (struct postgres *)base; side; side = side->replica)
        ses__pool_close(side);
}

static void postgres_release(struct storage *base)
{
    for (struct postgres *side = (struct postgres *)base, *next; side; side = next) {
        next = side->replica;
        ses__pool_close(side);
        (void)pthread_cond_destroy(&side->given_back);
        (void)pthread_mutex_destroy(&side->lock);
        ses__memory_free(side->config.allocator, side->connection);
        ses_free(side->name);
        ses__memory_free(side->config.allocator, side);
    }
}

/* Adds the weights of the words of one event, which come with a blank between them. */
static void weigh_words(struct query *query, const struct hash_seed *seed, uint64_t *sum)
{
    const int64_t session_id = ses__query_int(query, 1);
    const int64_t seq = ses__query_int(query, 2);
    const struct span words = ses__query_text(query, 3);
    const char *const end = words.ptr + words.len;

    for (const char *at = words.ptr; at < end;) {
        const char *blank = memchr(at, ' ', (size_t)(end - at));
        const struct span word = {at, (size_t)((blank ? blank : end) - at)};
        *sum += ses__word_weight(seed, session_id, seq, word);
        at += word.len + 1;
    }
}

static int weigh_tsvectors(struct db *db, const struct hash_seed *seed, uint64_t *sum, ses_error *error)
{
    enum { ROWS = 200 };
    int64_t after[3] = {-1, 0, 0};
    int64_t count = ROWS;
    int code = SES_OK;

    while (code == SES_OK && count == ROWS) {
        struct query query;
        count = 0;
        ses__query_open(&query, db, STATEMENT_WORDS_AFTER, error,
                        VALUES(INT(after[0]), INT(after[1]), INT(after[2]), INT(ROWS)));
        for (; ses__query_row(&query); count++) {
            weigh_words(&query, seed, sum);
            for (int i = 0; i < 3; i++)
                after[i] = ses__query_int(&query, i);
        }
        code = ses__query_end(&query);
    }
    return code;
}

/* https://www.postgresql.org/docs/current/datatype-textsearch.html#DATATYPE-TSQUERY; for L, see index_make. */
static const struct words_engine tsvector_words = {.syntax = {.begin = "('L' | (",
                                                              .end = "))",
                                                              .term_begin = "(",
                                                              .term_end = ")",
                                                              .word_begin = "'",
                                                              .word_end = "'",
                                                              .prefix_end = "':*",
                                                              .both = " & ",
                                                              .either = " | "},
                                                   .remove = STATEMENT_WORDS_DELETE,
                                                   .weigh = weigh_tsvectors,
                                                   .bytes_max = 500000 /* see words_add */};

static const struct engine postgres_engine = {
    .name = "postgresql",
    .run = ses__postgres_run,
    .start = ses__pg_start,
    .ask_last = ses__pg_ask_last,
    .row = ses__pg_row,
    .type = ses__pg_type,
    .int_of = ses__pg_int_of,
    .text_of = ses__pg_text_of,
    .words = &tsvector_words,
    .bytes_of = ses__pg_text_of, /* results are binary */
    .end = ses__pg_end,
    .changed = ses__pg_changed,
    .must_change = ses__pg_must_change,
    .given = ses__pg_given,
    .create = ses__postgres_create,
    .append = ses__postgres_append,
    .lock = ses__pg_lock,
    .run_delete = ses__postgres_run_delete,
    .check = ses__postgres_check,
    .maintain = maintain,
    .space = postgres_space,
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

/* One that has not been connected to. */
static int postgres_new(const struct postgres_config *config, struct postgres **storage, ses_error *error)
{
    const char *connection = config->connection;
    struct postgres *made = ses__memory_zeroed(config->allocator, sizeof *made);

    if (!made || !init_locks(made)) {
        ses__memory_free(config->allocator, made);
        return ses__error_nomem(error);
    }
    *storage = made;
    made->base = (struct storage){
        .engine = &postgres_engine, .allocator = config->allocator, .read_only = config->read_only};
    made->connection = ses__memory_copy(config->allocator, connection, strlen(connection));
    made->config = *config;
    made->config.engine = &postgres_engine;
    made->config.connection = made->connection;
    made->config.replica = NULL;
    if (!made->connection)
        return ses__error_nomem(error);
    const int code = ses__postgres_name(connection, &made->name, error);
    made->config.name = made->name;
    return code;
}

static int add_replica(struct postgres *storage, const char *connection, ses_error *error)
{
    struct postgres_config config = storage->config;

    config.connection = connection;
    config.read_only = true;
    const int code = postgres_new(&config, &storage->replica, error);
    if (code != SES_OK)
        ses__error_prefix(error, "replica: ");
    return code;
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
