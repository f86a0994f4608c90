#include "storage.h"

#include <pthread.h>
#include <string.h>

#include "clock.h"
#include "connection.h"
#include "error.h"
#include "file.h"
#include "memory.h"
#include "schema.h"

/*
 * One connection writes, under `turn`; some others read. This file decides who runs when. Jobs that wait for
 * the writer wait in storage_write, and nowhere else.
 */
struct storage {
    struct storage_config config;
    pthread_mutex_t lock;    /* guards everything below it */
    pthread_cond_t changed;  /* a connection was given back, or the storage was closed */
    struct db *writer;
    bool writer_taken;
    struct db *idle_readers;
    unsigned readers;        /* open, idle or in use */
    unsigned in_use;         /* connections handed out, the writer among them */
    bool closed;
    char journal_mode[16];
    const char *journal_reason;
};

/* ------------------------------------------------------------------------------------------- opening */

/* Bugs of SQLite that can damage a store. (3.52.0, which has the fix too, was withdrawn.) */
static const char *known_bugs(int version)
{
    bool fixed = version >= 3051003 || (version >= 3050007 && version < 3051000) ||
                 (version >= 3044006 && version < 3045000);
    return fixed ? ""
                 : "WAL-reset (https://www.sqlite.org/wal.html#walresetbug): when two connections checkpoint or "
                   "write at the very same moment the file can, very rarely, be damaged. Fixed in SQLite "
                   "3.51.3, 3.50.7 and 3.44.6. In one process a store checkpoints with one connection only";
}

static int check_sqlite(ses_error *error)
{
    int code = SES_OK;
    if (sqlite3_libversion_number() < 3037000)
        code = error_set(error, SES_MISUSE, "SQLite %s is linked; seslite needs 3.37.0 or newer",
                         sqlite3_libversion());
    else if (sqlite3_threadsafe() == 0)
        code = error_set(error, SES_MISUSE, "the SQLite that is linked was built without thread safety");
    return code;
}

static int check_file(const struct storage_config *config, ses_error *error)
{
    enum file_kind kind = FILE_ABSENT;
    int code = file_look(config->path, &kind, error);

    if (code == SES_OK && kind == FILE_ABSENT) {
        if (config->read_only || config->must_exist)
            code = error_set(error, SES_NOTFOUND, "%s: there is no such file", config->path);
        else
            code = file_create_private(config->allocator, config->path, error);
    } else if (code == SES_OK && kind == FILE_FILLED && !file_has_journal(config->allocator, config->path)) {
        /* A journal beside the file is one that a crash left: what the file says counts after recovery. */
        code = schema_peek(config, error);
    }
    return code;
}

/* Asks for a journal mode until it is granted, the time is over, or SQLite keeps another: that is told. */
static int ask_journal_mode(struct db *db, const char *sql, char mode[16], ses_error *error)
{
    sqlite3_stmt *statement = NULL;
    int rc;
    int tries = 0;

    mode[0] = '\0';
    do {
        rc = sqlite3_prepare_v2(db->handle, sql, -1, &statement, NULL);
        if (rc == SQLITE_OK) {
            rc = sqlite3_step(statement);
            const unsigned char *text = rc == SQLITE_ROW ? sqlite3_column_text(statement, 0) : NULL;
            if (text)
                (void)strncpy(mode, (const char *)text, 15);
            mode[15] = '\0';
            if (rc == SQLITE_ROW || rc == SQLITE_DONE)
                rc = SQLITE_OK;
        }
        (void)sqlite3_finalize(statement); /* repeats the failure of the step */
        statement = NULL;
    } while ((rc & 0xFF) == SQLITE_BUSY && connection_wait(db, tries++));
    return rc == SQLITE_OK ? SES_OK : connection_error(db, rc, "setting the journal mode", error);
}

static int set_journal(struct storage *storage, ses_error *error)
{
    const struct storage_config *config = &storage->config;
    bool remote = config->journal == SES_JOURNAL_AUTO && !config->in_memory && file_is_remote(config->path);
    bool want_wal = config->journal != SES_JOURNAL_ROLLBACK && !remote;
    const char *sql = config->read_only || config->in_memory ? "PRAGMA journal_mode"
                      : want_wal                             ? "PRAGMA journal_mode = WAL"
                                                             : "PRAGMA journal_mode = DELETE";
    int code = ask_journal_mode(storage->writer, sql, storage->journal_mode, error);

    storage->journal_reason = "";
    if (strcmp(storage->journal_mode, "wal") != 0) {
        if (config->in_memory)
            storage->journal_reason = "the store is in memory";
        else if (remote)
            storage->journal_reason = "the file is on a network or virtual file system, where WAL is not safe";
        else if (!want_wal)
            storage->journal_reason = "a rollback journal was asked for";
        else
            storage->journal_reason = "SQLite does not use WAL here";
    }
    return code;
}

static int set_durability(struct storage *storage, ses_error *error)
{
    /* With a rollback journal FULL can still lose the last commit with the power: EXTRA cannot
     * (https://www.sqlite.org/pragma.html#pragma_synchronous). */
    bool wal = strcmp(storage->journal_mode, "wal") == 0;
    const char *sql = storage->config.synchronous == SES_SYNC_NORMAL ? "PRAGMA synchronous = NORMAL"
                      : wal                                          ? "PRAGMA synchronous = FULL"
                                                                     : "PRAGMA synchronous = EXTRA";
    int code = connection_execute(storage->writer, sql, "setting the durability", error);

    if (code == SES_OK) /* the write-ahead file gives back what a rare large transaction made of it */
        code = connection_execute(storage->writer, "PRAGMA journal_size_limit = 16777216", "setting up the writer",
                                  error);
    return code;
}

static int open_writer(struct storage *storage, ses_error *error)
{
    int version = 0;
    int code = connection_open(&storage->config, CONNECTION_WRITER, &storage->writer, error);

    if (code == SES_OK && !storage->config.read_only)
        code = schema_migrate(storage->writer, error);
    else if (code == SES_OK)
        code = schema_version(storage->writer, &version, error);
    if (code == SES_OK && storage->config.read_only && version < schema_latest())
        code = error_set(error, SES_READONLY,
                         "%s: the store has schema version %d and must be brought to %d first: open it once for "
                         "writing",
                         storage->config.path, version, schema_latest());
    if (code == SES_OK)
        code = set_journal(storage, error);
    if (code == SES_OK && !storage->config.read_only)
        code = set_durability(storage, error);
    return code;
}

static bool init_locks(struct storage *storage)
{
    bool ok = pthread_mutex_init(&storage->lock, NULL) == 0;
    if (ok) {
        pthread_condattr_t attributes;
        ok = pthread_condattr_init(&attributes) == 0;
        if (ok) {
#if !defined(__APPLE__) /* which has no such clock for conditions: waits follow the wall clock there */
            ok = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0;
#endif
            ok = ok && pthread_cond_init(&storage->changed, &attributes) == 0;
            (void)pthread_condattr_destroy(&attributes);
        }
        if (!ok)
            (void)pthread_mutex_destroy(&storage->lock);
    }
    return ok;
}

int storage_open(const struct storage_config *config, struct storage **storage, ses_error *error)
{
    int code = check_sqlite(error);
    struct storage *opened = NULL;

    *storage = NULL;
    if (code == SES_OK && !config->in_memory)
        code = check_file(config, error);
    if (code == SES_OK) {
        opened = memory_zeroed(config->allocator, sizeof *opened);
        if (!opened || !init_locks(opened)) {
            memory_free(config->allocator, opened);
            code = error_nomem(error);
        }
    }
    if (code == SES_OK) {
        opened->config = *config;
        code = open_writer(opened, error);
        if (code == SES_OK)
            *storage = opened;
        else
            storage_free(opened);
    }
    return code;
}

/* ------------------------------------------------------------------------------------- taking turns */

static void deadline_to_timespec(int64_t deadline_us, struct timespec *time)
{
#if defined(__APPLE__)
    deadline_us += clock_wall_us(NULL) - clock_steady_us();
#endif
    time->tv_sec = (time_t)(deadline_us / 1000000);
    time->tv_nsec = (long)(deadline_us % 1000000 * 1000);
}

static int refuse_closed(const struct storage *storage, ses_error *error)
{
    return error_set(error, SES_MISUSE, "%s: the store is closed", storage->config.path);
}

/* With the lock held: waits for a change. False when the deadline has passed. */
static bool wait_for_change(struct storage *storage, int64_t deadline_us)
{
    struct timespec deadline;
    deadline_to_timespec(deadline_us, &deadline);
    return pthread_cond_timedwait(&storage->changed, &storage->lock, &deadline) == 0 ||
           clock_steady_us() < deadline_us;
}

static int refuse_busy(const struct storage *storage, const char *what, ses_error *error)
{
    return error_set(error, SES_BUSY, "%s: waited %lld ms for %s in use by other threads", storage->config.path,
                     (long long)(storage->config.busy_timeout_us / 1000), what);
}

static int take_writer(struct storage *storage, struct db **db, ses_error *error)
{
    int64_t deadline = clock_steady_us() + storage->config.busy_timeout_us;
    bool in_time = true;
    int code = SES_OK;

    (void)pthread_mutex_lock(&storage->lock);
    while (!storage->closed && storage->writer_taken && in_time)
        in_time = wait_for_change(storage, deadline);
    if (storage->closed) {
        code = refuse_closed(storage, error);
    } else if (storage->writer_taken) {
        code = refuse_busy(storage, "the writing connection,", error);
    } else {
        storage->writer_taken = true;
        storage->in_use++;
        *db = storage->writer;
        (*db)->busy_deadline = deadline;
    }
    (void)pthread_mutex_unlock(&storage->lock);
    return code;
}

static void give_writer(struct storage *storage)
{
    (void)pthread_mutex_lock(&storage->lock);
    storage->writer_taken = false;
    storage->in_use--;
    (void)pthread_cond_broadcast(&storage->changed);
    (void)pthread_mutex_unlock(&storage->lock);
}

/* Reserves a reader: an idle one, or (then *db is NULL) the right to open one. */
static int reserve_reader(struct storage *storage, struct db **db, int64_t deadline, ses_error *error)
{
    bool in_time = true;
    int code = SES_OK;

    *db = NULL;
    (void)pthread_mutex_lock(&storage->lock);
    while (!storage->closed && !storage->idle_readers && storage->readers >= storage->config.max_readers &&
           in_time)
        in_time = wait_for_change(storage, deadline);
    if (storage->closed) {
        code = refuse_closed(storage, error);
    } else if (storage->idle_readers) {
        *db = storage->idle_readers;
        storage->idle_readers = (*db)->next_idle;
        storage->in_use++;
    } else if (storage->readers < storage->config.max_readers) {
        storage->readers++;
        storage->in_use++;
    } else {
        code = refuse_busy(storage, "a reading connection, all", error);
    }
    (void)pthread_mutex_unlock(&storage->lock);
    return code;
}

/* `db` NULL: the one that was reserved could not be opened. */
static void give_reader(struct storage *storage, struct db *db)
{
    (void)pthread_mutex_lock(&storage->lock);
    storage->in_use--;
    if (db) {
        db->next_idle = storage->idle_readers;
        storage->idle_readers = db;
    } else {
        storage->readers--;
    }
    (void)pthread_cond_broadcast(&storage->changed);
    (void)pthread_mutex_unlock(&storage->lock);
}

static int take_reader(struct storage *storage, struct db **db, ses_error *error)
{
    int64_t deadline = clock_steady_us() + storage->config.busy_timeout_us;
    int code = reserve_reader(storage, db, deadline, error);

    if (code == SES_OK && !*db) {
        code = connection_open(&storage->config, CONNECTION_READER, db, error);
        if (code != SES_OK)
            give_reader(storage, NULL);
    }
    if (code == SES_OK)
        (*db)->busy_deadline = deadline;
    return code;
}

/* -------------------------------------------------------------------------------------- transactions */

static int begin(struct db *db, enum statement_id how, ses_error *error)
{
    int code;
    int tries = 0;
    /* SQLite may answer BUSY at once where waiting could be a deadlock; we hold nothing, so we wait. */
    do {
        code = query_run(db, how, error);
    } while (code == SES_BUSY && connection_wait(db, tries++));
    return code;
}

static void roll_back(struct db *db)
{
    /* Some failures (a full disk) have rolled back already; and when even this fails, SQLite does it when
     * the connection is next used or closed. The failure that led here is the one to tell. */
    if (!sqlite3_get_autocommit(db->handle))
        (void)query_run(db, STATEMENT_ROLLBACK, NULL);
}

/* Begins, runs, and commits or rolls back. */
static int run_job(struct db *db, enum statement_id how, storage_job *job, void *context, ses_error *error)
{
    int result = begin(db, how, error);
    if (result == SES_OK) {
        result = job(db, context, error);
        if (result >= 0) {
            int code = query_run(db, STATEMENT_COMMIT, error);
            if (code == SES_OK && !sqlite3_get_autocommit(db->handle))
                code = error_set(error, SES_INTERNAL, "%s: the commit left its transaction open",
                                 db->config->path);
            if (code != SES_OK)
                result = code;
        }
        if (result < 0)
            roll_back(db);
    }
    return result;
}

int storage_write(struct storage *storage, storage_job *job, void *context, ses_error *error)
{
    struct db *db = NULL;
    int result;

    if (storage->config.read_only) {
        result = error_set(error, SES_READONLY, "%s: the store was opened read-only", storage->config.path);
    } else {
        result = take_writer(storage, &db, error);
        if (result == SES_OK) {
            result = run_job(db, STATEMENT_BEGIN_WRITE, job, context, error);
            give_writer(storage);
        }
    }
    return result;
}

int storage_read(struct storage *storage, storage_job *job, void *context, ses_error *error)
{
    /* A store in memory is seen by one connection only. */
    bool one_connection = storage->config.in_memory;
    struct db *db = NULL;
    int result = one_connection ? take_writer(storage, &db, error) : take_reader(storage, &db, error);

    if (result == SES_OK) {
        result = run_job(db, STATEMENT_BEGIN_READ, job, context, error);
        if (one_connection)
            give_writer(storage);
        else
            give_reader(storage, db);
    }
    return result;
}

/* ------------------------------------------------------------------------------------ ending, telling */

void storage_close(struct storage *storage)
{
    (void)pthread_mutex_lock(&storage->lock);
    storage->closed = true;
    (void)pthread_cond_broadcast(&storage->changed);
    while (storage->in_use > 0)
        (void)pthread_cond_wait(&storage->changed, &storage->lock);
    while (storage->idle_readers) {
        struct db *reader = storage->idle_readers;
        storage->idle_readers = reader->next_idle;
        connection_close(reader);
    }
    /* The writer last: it is the one that checkpoints. */
    connection_close(storage->writer);
    storage->writer = NULL;
    (void)pthread_mutex_unlock(&storage->lock);
}

void storage_free(struct storage *storage)
{
    if (storage) {
        storage_close(storage);
        (void)pthread_cond_destroy(&storage->changed);
        (void)pthread_mutex_destroy(&storage->lock);
        memory_free(storage->config.allocator, storage);
    }
}

int storage_describe(struct storage *storage, ses_info *info, ses_error *error)
{
    int code = SES_OK;

    (void)pthread_mutex_lock(&storage->lock);
    if (storage->closed)
        code = refuse_closed(storage, error);
    (void)pthread_mutex_unlock(&storage->lock);
    if (code == SES_OK) {
        info->path = storage->config.path;
        info->journal_mode = storage->journal_mode;
        info->journal_reason = storage->journal_reason;
        info->schema_version = schema_latest();
        info->read_only = storage->config.read_only;
        info->sqlite_version = sqlite3_libversion();
        info->sqlite_bugs = known_bugs(sqlite3_libversion_number());
    }
    return code;
}
