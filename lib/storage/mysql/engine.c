/* The engine: opens and closes stores, and describes itself. */
#include <mysqld_error.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "storage/mysql/parts.h"
#include "storage/server/operations.h"
#include "storage/sql/query.h"
#include "storage/sql/rows/words.h"

/* ------------------------------------------------------------------------------------ ending, telling */

static void mysql_count(struct storage *base, ses_stats *counts)
{
    *counts = (ses_stats){.events = 0};
    ses__server_count((struct server *)base, counts);
}

static void mysql_release(struct storage *base)
{
    struct mysql *storage = (struct mysql *)base;
    const ses_allocator *allocator = base->allocator;

    ses__server_close(base);
    ses__server_free(&storage->server);
    ses__mysql_address_free(&storage->config.address);
    ses__memory_free(allocator, storage->uri);
    ses_free(storage->name);
    ses__memory_free(allocator, storage);
}

/* ------------------------------------------------------------------------------------- words, connections */

static int weigh_nothing(struct db *db, const struct hash_seed *seed, uint64_t *sum, ses_error *error)
{
    (void)db;
    (void)seed;
    (void)sum;
    (void)error;
    return SES_OK;
}

static int drop_nothing(struct db *db, bool keeps_pages, ses_error *error)
{
    (void)keeps_pages;
    return ses__query_do(db, STATEMENT_INDEX_DROP, error, NULL);
}

/* There is no index of words: a search reads the events. */
static const struct words_engine no_words = {
    .remove = STATEMENT_WORDS_DELETE, .drop = drop_nothing, .weigh = weigh_nothing};

static const struct engine mysql_engine = {
    .name = "mysql",
    .traits = {.max_session_id = INT64_MAX,
               .page = ROWS_IN_PAGE,
               .page_bytes = BYTES_IN_PAGE,
               .enforces_keys = true,
               .only_owner_drops = true,
               .lease_now = STATEMENT_LEASE_NOW,
               .events_newest = STATEMENT_EVENTS_NEWEST},
    .run = ses__server_run,
    .start = ses__my_start,
    .ask_last = ses__remote_ask_last,
    .row = ses__my_row,
    .type = ses__my_type,
    .int_of = ses__my_int_of,
    .text_of = ses__my_text_of,
    .words = &no_words,
    .bytes_of = ses__my_text_of, /* results are bytes */
    .end = ses__my_end,
    .changed = ses__remote_changed,
    .must_change = ses__my_must_change,
    .given = ses__remote_given,
    .create = ses__server_create,
    .append = ses__mysql_append,
    .lock = ses__remote_lock,
    .run_delete = ses__server_run_delete,
    .check = ses__server_check,
    .maintain = ses__server_maintain,
    .space = ses__server_space,
    .watch = ses__mysql_watch,
    .interrupt = ses__server_interrupt,
    .describe = ses__server_describe,
    .count = mysql_count,
    .close = ses__server_close,
    .release = mysql_release,
};

static struct remote *make(struct server *server)
{
    return ses__my_new(&server->config, &((struct mysql *)server)->config);
}

static int settle(struct remote *remote)
{
    return ses__my_settle(ses__my_of(&remote->db));
}

/* A job has to look if the group of users has used all versions, and the new one is NULL, or if somebody has
 * deleted the user meanwhile. */
static int refuse_creation(struct db *db, const struct create_op *op, int code, ses_error *error)
{
    struct my *my = ses__my_of(db);
    const bool is_taken = my->number == ER_DUP_ENTRY; /* nothing but the session's name can be */

    if (code == SES_UNKNOWN || (!is_taken && my->number != ER_BAD_NULL_ERROR))
        return code;
    my->base.again = false;
    return is_taken && !op->get_existing ? ses__refuse_existing(op->key, error) : JOB_UNSUITED;
}

static const struct server_statements mysql_statements = {
    .locks = {[SCOPE_APP] = {STATEMENT_SHARE_APP, STATEMENT_LOCK_APP},
              [SCOPE_USER] = {STATEMENT_SHARE_USER, STATEMENT_LOCK_USER}},
    .create_session = STATEMENT_CREATE_SESSION,
    .space = STATEMENT_SPACE,
    .check_columns = STATEMENT_CHECK_COLUMNS,
    .check_indexes = STATEMENT_CHECK_INDEXES,
    .check_orphans = STATEMENT_CHECK_ORPHANS,
    .check_floors = STATEMENT_CHECK_FLOORS,
    .check_count = STATEMENT_CHECK_COUNT,
    .floor_of = "new sessions of some users begin",
};

static const struct remote_driver mysql_driver = {
    .statements = &mysql_statements,
    .make = make,
    .connect = ses__my_connect,
    .bring_up_to_date = ses__mysql_bring_up_to_date,
    .is_over = ses__my_is_over,
    .close = ses__my_close,
    .leave = ses__my_leave,
    .begin = ses__my_begin,
    .ask_commit = ses__my_ask_commit,
    .ask_same = ses__my_ask_same,
    .settle = settle,
    .send_end = ses__my_send_end,
    .drop = ses__my_drop,
    .end_queries = ses__my_end_queries,
    .refuse_creation = refuse_creation,
};

/* ------------------------------------------------------------------------------------------- opening */

/* Makes a storage that has not been connected to. */
static int mysql_new(const struct server_config *common, const struct mysql_config *config,
                     struct mysql **storage, ses_error *error)
{
    const char *uri = config->uri;
    struct mysql *made = ses__memory_zeroed(common->allocator, sizeof *made);
    struct server_config complete = *common;

    complete.engine = &mysql_engine;
    complete.driver = &mysql_driver;
    complete.first_version = ses__mysql_script(0)->version;
    complete.latest_version = ses__mysql_script(ses__mysql_script_count() - 1)->version;
    if (!made || !ses__server_init(&made->server, &complete)) {
        ses__memory_free(common->allocator, made);
        return ses__error_nomem(error);
    }
    *storage = made;
    made->uri = ses__memory_copy(common->allocator, uri, strlen(uri));
    made->config = *config;
    made->config.uri = made->uri;
    int code = ses__mysql_address_init(&made->config.address, common->allocator, uri, error);
    if (code == SES_OK && !made->uri)
        code = ses__error_nomem(error);
    if (code == SES_OK)
        code = ses__mysql_name(uri, &made->name, error);
    made->server.config.name = made->name;
    return code;
}

/* Refuses a store with a feature that this library does not know. */
static int check_features(struct db *db, void *context, ses_error *error)
{
    const struct mysql *storage = context;

    return ses__features_check(db, storage->server.config.read_only ? SES_OK : SES_READONLY, error);
}

int ses__mysql_open(const struct server_config *common, const struct mysql_config *config,
                    struct storage **storage, ses_error *error)
{
    struct mysql *opened = NULL;
    int code = mysql_new(common, config, &opened, error);

    *storage = NULL;
    if (code == SES_OK)
        code = ses__server_migrate(&opened->server, error);
    if (code == SES_OK)
        code = ses__run(&opened->server.base, TO_READ_BEFORE_WRITING, check_features, opened, error);
    if (code == SES_OK)
        *storage = &opened->server.base;
    else if (opened)
        mysql_release(&opened->server.base);
    return code;
}
