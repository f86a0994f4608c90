/* The engine: opens and closes stores, and describes itself. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "storage/postgres/parts.h"
#include "storage/server/operations.h"
#include "storage/sql/rows/words.h"

static int run(struct storage *storage, const struct manner *manner, storage_job *job, void *context,
               ses_error *error)
{
    struct postgres *side = (struct postgres *)storage;
    int code = SES_OK;

    if (manner->may_be_behind && side->replica)
        side = side->replica;
    /* Before the first read of a replica: rows of another database, or the absence of rows where the store
     * does not exist yet, must not be taken for the store's. */
    if (side != (struct postgres *)storage && !atomic_load(&side->looked_at)) {
        code = ses__server_migrate(&side->server, error);
        if (code == SES_NOTFOUND || code == SES_NOTASTORE || code == SES_TOONEW || code == SES_READONLY) {
            code = SES_CANTOPEN;
            if (error)
                error->code = code;
        }
        if (code == SES_OK)
            atomic_store(&side->looked_at, true);
    }
    return code == SES_OK ? ses__server_run(&side->server.base, manner, job, context, error) : code;
}

/* ------------------------------------------------------------------------------------ ending, telling */

static void postgres_interrupt(struct storage *base)
{
    for (struct postgres *side = (struct postgres *)base; side; side = side->replica)
        ses__server_interrupt(&side->server.base);
}

static void postgres_count(struct storage *base, ses_stats *counts)
{
    *counts = (ses_stats){.events = 0};
    for (struct postgres *side = (struct postgres *)base; side; side = side->replica)
        ses__server_count(&side->server, counts);
}

static void close_side(struct postgres *side)
{
    ses__server_close(&side->server.base);
    ses__pg_leaving_close(&side->leaving);
}

static void postgres_close(struct storage *base)
{
    for (struct postgres *side = (struct postgres *)base; side; side = side->replica)
        close_side(side);
}

static void postgres_release(struct storage *base)
{
    const ses_allocator *allocator = base->allocator;

    for (struct postgres *side = (struct postgres *)base, *next; side; side = next) {
        next = side->replica;
        close_side(side);
        ses__server_free(&side->server);
        ses__memory_free(allocator, side->connection);
        ses_free(side->name);
        ses__memory_free(allocator, side);
    }
}

/* ------------------------------------------------------------------------------------- words, connections */

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

static int drop_tsvectors(struct db *db, bool keeps_pages, ses_error *error)
{
    (void)keeps_pages; /* the server's own concern */
    return ses__query_do(db, STATEMENT_INDEX_DROP, error, NULL);
}

/* https://www.postgresql.org/docs/current/datatype-textsearch.html#DATATYPE-TSQUERY; for L, see
 * index_make. */
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
                                                   .drop = drop_tsvectors,
                                                   .weigh = weigh_tsvectors,
                                                   .bytes_max = 500000 /* see words_add */};

static const struct engine postgres_engine = {
    .name = "postgresql",
    .traits = {.max_session_id = INT64_MAX,
               .page = ROWS_IN_PAGE,
               .page_bytes = BYTES_IN_PAGE,
               .enforces_keys = true,
               .only_owner_drops = true,
               .lease_now = STATEMENT_LEASE_NOW,
               .events_newest = STATEMENT_EVENTS_NEWEST},
    .run = run,
    .start = ses__pg_start,
    .ask_last = ses__remote_ask_last,
    .row = ses__pg_row,
    .type = ses__pg_type,
    .int_of = ses__pg_int_of,
    .text_of = ses__pg_text_of,
    .words = &tsvector_words,
    .bytes_of = ses__pg_text_of, /* results are binary */
    .end = ses__pg_end,
    .changed = ses__remote_changed,
    .must_change = ses__pg_must_change,
    .given = ses__remote_given,
    .create = ses__server_create,
    .append = ses__postgres_append,
    .lock = ses__remote_lock,
    .run_delete = ses__server_run_delete,
    .check = ses__server_check,
    .maintain = ses__server_maintain,
    .space = ses__server_space,
    .watch = ses__postgres_watch,
    .interrupt = postgres_interrupt,
    .describe = ses__server_describe,
    .count = postgres_count,
    .close = postgres_close,
    .release = postgres_release,
};

static struct remote *make(struct server *server)
{
    struct postgres *storage = (struct postgres *)server;

    return ses__pg_new(&server->config, &storage->config, &storage->host);
}

static bool leave(struct server *server, struct remote *remote)
{
    return ses__pg_leave(ses__pg_of(&remote->db), &((struct postgres *)server)->leaving);
}

static unsigned left(struct server *server)
{
    return ses__pg_leaving_forget(&((struct postgres *)server)->leaving);
}

static int settle(struct remote *remote)
{
    return ses__pg_settle(ses__pg_of(&remote->db));
}

/* JOB_UNSUITED, too, if the shard has used all versions, which a job reports. */
static int refuse_creation(struct db *db, const struct create_op *op, int code, ses_error *error)
{
    struct pg *pg = ses__pg_of(db);

    /* The user has a session of this name. (A partition has an index of its own, which the server names after
     * the table's columns.) */
    const bool is_taken = strstr(pg->constraint, "_shard_user_id_name_") != NULL;

    if (code == SES_UNKNOWN || !is_taken)
        return code;
    pg->base.again = false;
    return op->get_existing ? JOB_UNSUITED : ses__refuse_existing(op->key, error);
}

static const struct server_statements postgres_statements = {
    .locks = {[SCOPE_APP] = {STATEMENT_SHARE_APP, STATEMENT_LOCK_APP},
              [SCOPE_USER] = {STATEMENT_SHARE_USER, STATEMENT_LOCK_USER}},
    .create_session = STATEMENT_CREATE_SESSION,
    .space = STATEMENT_SPACE,
    .check_columns = STATEMENT_CHECK_COLUMNS,
    .check_indexes = STATEMENT_CHECK_INDEXES,
    .check_orphans = STATEMENT_CHECK_ORPHANS,
    .check_shards = STATEMENT_CHECK_SHARDS,
    .check_floors = STATEMENT_CHECK_FLOORS,
    .check_count = STATEMENT_CHECK_COUNT,
    .floor_of = "new sessions of a shard begin",
};

static const struct remote_driver postgres_driver = {
    .statements = &postgres_statements,
    .make = make,
    .connect = ses__pg_connect,
    .bring_up_to_date = ses__postgres_bring_up_to_date,
    .is_over = ses__pg_is_over,
    .close = ses__pg_close,
    .leave = leave,
    .left = left,
    .begin = ses__pg_begin,
    .ask_commit = ses__pg_ask_commit,
    .ask_same = ses__pg_ask_same,
    .settle = settle,
    .send_end = ses__pg_send_end,
    .drop = ses__pg_drop,
    .end_queries = ses__pg_end_queries,
    .refuse_creation = refuse_creation,
};

/* ------------------------------------------------------------------------------------------- opening */

/* Makes a storage that has not been connected to. */
static int postgres_new(const struct server_config *common, const struct postgres_config *config,
                        struct postgres **storage, ses_error *error)
{
    const char *connection = config->connection;
    struct postgres *made = ses__memory_zeroed(common->allocator, sizeof *made);
    struct server_config complete = *common;

    complete.engine = &postgres_engine;
    complete.driver = &postgres_driver;
    complete.first_version = ses__postgres_script(0)->version;
    complete.latest_version = ses__postgres_script(ses__postgres_script_count() - 1)->version;
    if (!made || !ses__server_init(&made->server, &complete)) {
        ses__memory_free(common->allocator, made);
        return ses__error_nomem(error);
    }
    *storage = made;
    made->connection = ses__memory_copy(common->allocator, connection, strlen(connection));
    made->config = *config;
    made->config.connection = made->connection;
    made->config.replica = NULL;
    if (!made->connection)
        return ses__error_nomem(error);
    const int code = ses__postgres_name(connection, &made->name, error);
    made->server.config.name = made->name;
    return code;
}

int ses__postgres_open(const struct server_config *common, const struct postgres_config *config,
                       struct storage **storage, ses_error *error)
{
    struct server_config of_replica = *common;
    struct postgres_config replica = *config;
    struct postgres *opened = NULL;
    int code = postgres_new(common, config, &opened, error);

    *storage = NULL;
    if (code == SES_OK && config->replica) {
        replica.connection = config->replica;
        of_replica.read_only = true;
        code = postgres_new(&of_replica, &replica, &opened->replica, error);
        if (code != SES_OK)
            ses__error_prefix(error, "replica: ");
    }
    if (code == SES_OK)
        code = ses__server_migrate(&opened->server, error);
    if (code == SES_OK)
        *storage = &opened->server.base;
    else if (opened)
        postgres_release(&opened->server.base);
    return code;
}
