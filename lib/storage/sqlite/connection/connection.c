/* Opening and closing a connection; how long it waits and works. */
#include "storage/sqlite/connection/connection.h"

#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "storage/sqlite/connection/key.h"

/* ----------------------------------------------------------------------------------------------- work */

/*
 * The limit of a statement: `steps` for each `bytes` of the file. A row takes thirty bytes or more, and a
 * statement makes a hundred steps or fewer for it. For a row of the schema it makes twenty, but SQLite also
 * parses the row's SQL. A schema that leads in circles would take seconds for each megabyte of the file, and
 * a file grows at no cost. So a schema has only the steps that are free, which are enough for 4,000 rows.
 */
struct work_limit {
    int steps;
    int64_t bytes;
};

static const struct work_limit work_limits[] = {
    [WORK_OF_STATEMENTS] = {1000000, 128 * 1024},
    [WORK_OF_OPENING] = {10000, INT64_MAX},
};

/* A statement may make this many times the steps, whatever the length of the file. */
static const int64_t FREE_TIMES = 8;

/* The steps between two looks at a statement. They take some ten microseconds, a look some nanoseconds. */
enum { LOOK_STEPS = 1000 };

static int on_work(void *context)
{
    struct connection *db = context;
    const struct work_limit *limit = &work_limits[db->limit];

    if (ses__limits_passed(db->base.limits))
        return 1;
    db->work += LOOK_STEPS;
    const int64_t times = db->work / limit->steps;
    if (times > FREE_TIMES && db->work % limit->steps == 0 &&
        !db->config->in_memory) /* others write to files only */
        db->endless = times > FREE_TIMES + ses__connection_file_bytes(db) / limit->bytes;
    return db->endless ? 1 : 0;
}

void ses__connection_limit_work(struct connection *db, enum work work)
{
    db->limit = work;
    sqlite3_progress_handler(db->handle, LOOK_STEPS, on_work, db);
}

void ses__connection_start_work(struct connection *db)
{
    db->work = 0;
    db->endless = false;
}

/* -------------------------------------------------------------------------------------------- waiting */

void ses__connection_start_call(struct connection *db, int64_t deadline_us, bool interruptible,
                                const struct limits *limits)
{
    db->base.deadline_us = deadline_us;
    db->base.limits = limits;
    (void)pthread_mutex_lock(&db->interrupting);
    db->interruptible = interruptible;
    atomic_store(&db->interrupted, false);
    (void)pthread_mutex_unlock(&db->interrupting);
}

void ses__connection_end_call(struct connection *db)
{
    ses__connection_start_call(db, db->base.deadline_us, false, NULL);
}

void ses__connection_interrupt(struct connection *db)
{
    /* SQLite knows of an interrupt only while a statement runs; the flag covers the time between. Under the
     * lock, so that both are over when the call is: SQLite's could meet the statement that ends the
     * transaction, or the next call. */
    (void)pthread_mutex_lock(&db->interrupting);
    if (db->interruptible) {
        atomic_store(&db->interrupted, true);
        sqlite3_interrupt(db->handle);
    }
    (void)pthread_mutex_unlock(&db->interrupting);
}

static int64_t take_status(struct connection *db, int which)
{
    int current = 0;
    int highest = 0;
    /* Fails only for a number that SQLite does not know: then it counts nothing. */
    (void)sqlite3_db_status(db->handle, which, &current, &highest, 1);
    return current;
}

void ses__connection_count(struct connection *db, ses_stats *counts)
{
    counts->sqlite.cache_hits += take_status(db, SQLITE_DBSTATUS_CACHE_HIT);
    counts->sqlite.cache_misses += take_status(db, SQLITE_DBSTATUS_CACHE_MISS);
    counts->sqlite.busy_waits += db->busy_waits;
    counts->sqlite.busy_us += db->busy_us;
    counts->events += db->base.events;
    db->busy_waits = 0;
    db->busy_us = 0;
    db->base.events = 0;
}

bool ses__connection_wait(struct connection *db, int tries)
{
    /* Short at first, as most waits are for one commit; then so long that waiting costs little, but not so
     * long that a lock which is left free is missed. */
    static const int64_t pauses_us[] = {50, 100, 200, 500, CONNECTION_LONGEST_PAUSE_US};
    const int last = (int)(sizeof pauses_us / sizeof pauses_us[0]) - 1;
    const int64_t begun = ses__clock_steady_us();
    int64_t left = db->base.deadline_us - begun;
    int64_t pause = pauses_us[tries < last ? tries : last];

    if (left > 0) {
        if (pause > left)
            pause = left;
        const struct timespec time = {0, (long)(pause * 1000)};
        (void)nanosleep(&time, NULL); /* a signal may cut it short: then the next try comes sooner */
        db->busy_waits++;
        db->busy_us += ses__clock_steady_us() - begun; /* on a busy machine longer than the pause */
        ses__limits_waited(db->base.limits, begun);
    }
    return left > 0 && !ses__limits_passed(db->base.limits);
}

/* ------------------------------------------------------------------------------------------ execution */

int ses__connection_execute(struct connection *db, const char *sql, const char *doing, ses_error *error)
{
    ses__connection_start_work(db);
    db->work = INT64_MIN; /* without a limit */
    db->reshaped = true;  /* perhaps: it may be a PRAGMA that gives pages back */
    int rc = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? SES_OK : ses__connection_error(db, rc, doing, error);
}

int ses__connection_visit(struct connection *db, const char *sql, connection_visit *visit, void *context,
                          ses_error *error)
{
    sqlite3_stmt *row = NULL;
    int code = SES_OK;

    ses__connection_start_work(db);
    int rc = sqlite3_prepare_v2(db->handle, sql, -1, &row, NULL);
    if (rc == SQLITE_OK) {
        db->reshaped = db->reshaped || !sqlite3_stmt_readonly(row); /* ANALYZE, say */
        rc = SQLITE_ROW;
    }
    while (rc == SQLITE_ROW && code == SES_OK) {
        rc = atomic_load(&db->interrupted) ? SQLITE_INTERRUPT : sqlite3_step(row);
        if (rc == SQLITE_ROW)
            code = visit(context, row, error);
    }
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        code = ses__statement_error(db, rc, sql, error);
    (void)sqlite3_finalize(row); /* repeats the failure of the step, which was reported already */
    return code;
}

static int keep_int(void *context, sqlite3_stmt *row, ses_error *error)
{
    int64_t *value = context;
    (void)error;
    *value = sqlite3_column_int64(row, 0);
    return SES_OK;
}

int ses__connection_read_int(struct connection *db, const char *sql, int64_t *value, ses_error *error)
{
    *value = 0;
    return ses__connection_visit(db, sql, keep_int, value, error);
}

/* -------------------------------------------------------------------------------- opening and closing */

static int on_busy(void *context, int tries)
{
    return ses__connection_wait(context, tries) ? 1 : 0;
}

/* The settings of every connection. Those that belong to the file are set by the schema and the writer. */
static const char *const SETTINGS = "PRAGMA foreign_keys = ON;"
                                    "PRAGMA trusted_schema = OFF;"
                                    "PRAGMA cell_size_check = ON;"
                                    "PRAGMA fullfsync = ON;"
                                    "PRAGMA checkpoint_fullfsync = ON;"
                                    "PRAGMA temp_store = MEMORY;";

static int configure(struct connection *db, enum connection_role role, ses_error *error)
{
    int rc = sqlite3_extended_result_codes(db->handle, 1);
    if (rc == SQLITE_OK)
        rc = sqlite3_busy_handler(db->handle, on_busy, db);
    if (rc == SQLITE_OK)
        rc = sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    if (rc == SQLITE_OK) /* the triggers are for other programs; see the schema */
        rc = sqlite3_db_config(db->handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    if (rc == SQLITE_OK) /* and so are the views: one in place of a table must not be run */
        rc = sqlite3_db_config(db->handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    if (rc == SQLITE_OK)
        rc = ses__id_list_register(db->handle);

    int code = rc == SQLITE_OK ? SES_OK : ses__connection_error(db, rc, "configuring the connection", error);
    if (code == SES_OK)
        code = ses__connection_execute(db, SETTINGS, "configuring the connection", error);
    if (code == SES_OK && role == CONNECTION_READER)
        code = ses__connection_execute(db, "PRAGMA query_only = ON;", "configuring the connection", error);
    return code;
}

static int open_handle(struct connection *db, ses_error *error)
{
    const struct sqlite_config *config = db->config;
    /* A reader opens for writing too: in WAL mode readers take part in recovery. query_only guards it. */
    int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE |
                (config->read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE);
    char *uri = NULL;

    /* By its path: with SQLITE_OPEN_MEMORY, what VACUUM INTO writes would be in memory too. */
    if (config->in_memory)
        flags |= SQLITE_OPEN_CREATE;
    if (config->file->immutable) {
        flags |= SQLITE_OPEN_URI;
        uri = ses__file_immutable_uri(config->allocator, config->path);
        if (!uri)
            return ses__error_nomem(error);
    }
    int rc = sqlite3_open_v2(uri ? uri : config->path, &db->handle, flags, NULL);
    ses__memory_free(config->allocator, uri);
    return rc == SQLITE_OK ? SES_OK : ses__connection_error(db, rc, "opening the file", error);
}

int ses__connection_open(const struct sqlite_config *config, enum connection_role role,
                         const struct limits *limits, struct connection **db, ses_error *error)
{
    struct connection *opened = ses__memory_zeroed(config->allocator, sizeof *opened);
    int moved = 0;
    int code = SES_OK;

    if (!opened || pthread_mutex_init(&opened->interrupting, NULL) != 0) {
        ses__memory_free(config->allocator, opened);
        opened = NULL;
        code = ses__error_nomem(error);
    }
    if (code == SES_OK) {
        opened->base = (struct db){.engine = config->engine,
                                   .traits = &config->engine->traits,
                                   .allocator = config->allocator,
                                   .name = config->path,
                                   .timeout_us = config->busy_timeout_us};
        opened->config = config;
        opened->is_writer = role == CONNECTION_WRITER && !config->read_only;
        ses__connection_start_call(
            opened, ses__limits_until(limits, ses__clock_steady_us() + config->busy_timeout_us), false,
            limits);
        code = ses__connection_check_file(opened, error);
    }
    if (code == SES_OK)
        code = open_handle(opened, error);
    /* The path still names the store's file, and the connection is on it. (If the file system cannot tell,
     * the path is trusted.) */
    if (code == SES_OK)
        code = ses__connection_check_file(opened, error);
    if (code == SES_OK &&
        sqlite3_file_control(opened->handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved)
        code = ses__error_set(error, SES_IO, "%s: the file was replaced while it was being opened",
                              config->path);
    if (code == SES_OK)
        code = ses__key_apply(opened, error);
    if (code == SES_OK)
        code = configure(opened, role, error);
    if (code == SES_OK)
        ses__connection_limit_work(opened, role == CONNECTION_WRITER ? WORK_OF_OPENING : WORK_OF_STATEMENTS);
    if (code == SES_OK)
        *db = opened;
    else
        ses__connection_close(opened);
    return code;
}

void ses__connection_close(struct connection *db)
{
    if (db) {
        for (size_t i = 0; i < STATEMENT_COUNT; i++)
            (void)sqlite3_finalize(db->statements[i]); /* a failure was reported when it ran */
        (void)sqlite3_close_v2(db->handle);            /* cannot fail: no statement is left */
        (void)pthread_mutex_destroy(&db->interrupting);
        ses__memory_free(db->config->allocator, db);
    }
}
