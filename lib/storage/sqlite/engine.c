/* Opening, closing and describing; reading and writing are in readers.c and writer.c. */
#include "storage/sqlite/connection/config.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "storage/sqlite/connection/file.h"
#include "storage/sqlite/connection/key.h"
#include "base/memory.h"
#include "storage/sqlite/connection/schema.h"
#include "storage/sqlite/parts.h"

/* ------------------------------------------------------------------------------------------- opening */

#define WAL_RESET                                                                                      \
    "WAL-reset (https://www.sqlite.org/wal.html#walresetbug): if two connections checkpoint or write " \
    "at the same moment, the file can, very rarely, be damaged. "                                      \
    "Fixed in SQLite 3.51.3, 3.50.7 and 3.44.6. "                                                      \
    "Within one process a store avoids it: its writing connection checkpoints between commits, "       \
    "and a read transaction keeps the log from being reset during any other checkpoint"
#define WAL_SAVEPOINT                                                                                     \
    "WAL-savepoint: if a program undoes a part of a large transaction (ROLLBACK TO, or a statement that " \
    "fails) and commits the rest, that commit and all later ones can be lost when a process is killed. "  \
    "Fixed in SQLite 3.50.2. From 0.3.0 on, seslite commits no such transaction; other programs may"

/* Bugs of SQLite that can damage a store. (3.52.0, which has the fix of the first, too, was withdrawn.) */
static const char *known_bugs(int version)
{
    const bool resets = version < 3044006 || (version >= 3045000 && version < 3050007) ||
                        (version >= 3051000 && version < 3051003);
    const bool savepoint = version < 3050002;

    return resets && savepoint ? WAL_RESET ". " WAL_SAVEPOINT
           : resets            ? WAL_RESET
           : savepoint         ? WAL_SAVEPOINT
                               : "";
}

static int check_sqlite(ses_error *error)
{
    int code = SES_OK;
    /* SQLite does it by itself, unless it was built with SQLITE_OMIT_AUTOINIT. */
    if (sqlite3_initialize() != SQLITE_OK)
        code = ses__error_nomem(error);
    else if (sqlite3_libversion_number() < 3037000)
        code = ses__error_set(error, SES_MISUSE, "SQLite %s is linked; seslite needs 3.37.0 or newer",
                              sqlite3_libversion());
    else if (sqlite3_threadsafe() == 0)
        code = ses__error_set(error, SES_MISUSE, "the SQLite that is linked was built without thread safety");
    return code;
}

/* A reader of a file without log and journal makes none, and misses none, so the name does not matter. */
static int check_file_names(const struct sqlite_config *config, ses_error *error)
{
    bool log = !config->read_only;
    bool journal = log;
    int code = SES_OK;

    if (config->may_be_linked)
        return SES_OK;
    if (config->read_only)
        code = ses__file_find_journals(config->allocator, config->path, &log, &journal, error);
    return code == SES_OK && (log || journal) ? ses__file_check_names(config->allocator, config->path, error)
                                              : code;
}

int ses__sqlite_check_file(const struct sqlite_config *config, enum file_kind kind, ses_error *error)
{
    if (ses__registry_is_inherited(config->path))
        return ses__error_set(
            error, SES_MISUSE,
            "%s: this process was forked while the file was open, and SQLite's locks do not survive that; fork before opening, or exec",
            config->path);
    int code = ses__file_check_companions(config->allocator, config->path, error);
    if (code == SES_OK)
        code = ses__file_check_js_lock(config->allocator, config->path, error);
    if (code == SES_OK && kind != FILE_ABSENT)
        code = check_file_names(config, error);
    if (code == SES_OK && kind == FILE_STUB)
        return ses__error_set(error, SES_NOTASTORE, "%s: this is not an SQLite database", config->path);
    return code == SES_OK && kind == FILE_FILLED ? ses__schema_peek(config, error) : code;
}

/* A file that no program can write and that has no log or journal is complete, and SQLite needs no
 * companion files to read it. */
static int check_immutable(struct sqlite *storage, ses_error *error)
{
    const struct sqlite_config *config = &storage->config;
    bool log = false;
    bool journal = false;
    int code = SES_OK;

    if (!config->read_only || !ses__file_system_is_read_only(config->path))
        return SES_OK;
    code = ses__file_find_journals(config->allocator, config->path, &log, &journal, error);
    storage->file.immutable = code == SES_OK && !log && !journal;
    return code;
}

/* Checks the file, creates it if that is allowed, and makes sure that every later connection is on this very
 * one. */
static int settle_file(struct sqlite *storage, ses_error *error)
{
    struct sqlite_config *config = &storage->config;
    enum file_kind kind = FILE_ABSENT;
    char *target = NULL;
    int code = ses__file_follow_links(config->allocator, storage->given_path, &target, error);

    config->path = target;
    if (code == SES_OK)
        code = ses__file_look(target, &kind, error);
    if (code == SES_OK)
        code = ses__sqlite_check_file(config, kind, error);
    if (code == SES_OK && kind == FILE_ABSENT)
        code = config->read_only || config->must_exist
                   ? ses__error_set(error, SES_NOTFOUND, "%s: there is no such file", target)
                   : ses__file_create_private(config->allocator, target, error);
    if (code == SES_OK)
        code = ses__file_resolve(config->allocator, target, &storage->path, error);
    ses__memory_free(config->allocator, target);
    config->path = storage->path;
    if (code != SES_OK)
        return code;
    storage->file.known = ses__file_identify(config->path, &storage->file.identity);
    return storage->file.known
               ? check_immutable(storage, error)
               : ses__error_set(error, SES_IO, "%s: the file was deleted while it was being opened",
                                config->path);
}

static int set_durability(struct sqlite *storage, ses_error *error)
{
    /* With a rollback journal FULL can still lose the last commit with the power, and NORMAL the whole file:
     * EXTRA can neither (https://www.sqlite.org/pragma.html#pragma_synchronous). */
    bool wal = strcmp(storage->journal_mode, "wal") == 0;
    bool normal = storage->config.synchronous == SES_SYNC_NORMAL;
    const char *sql = !wal     ? "PRAGMA synchronous = EXTRA"
                      : normal ? "PRAGMA synchronous = NORMAL"
                               : "PRAGMA synchronous = FULL";
    return ses__connection_execute(storage->writer.db, sql, "setting the durability", error);
}

/* Refuses a store that may only be read, unless this library can read it as it is. */
static int check_read_only(struct sqlite *storage, ses_error *error)
{
    const char *path = storage->config.path;
    int version = 0;
    int code = ses__schema_version(storage->writer.db, &version, error);

    if (code == SES_READONLY && error && error->engine_code == SQLITE_READONLY_ROLLBACK)
        code = ses__error_set(
            error, SES_CANTOPEN,
            "%s: a program ended while it wrote, and its rollback journal must be played back first: open the store once for writing, or run seslite migrate",
            path);
    else if (code == SES_CANTOPEN || code == SES_READONLY)
        code = ses__error_set(
            error, SES_CANTOPEN,
            "%s: SQLite creates files next to a store with a write-ahead log, even to read it: make the folder writable, or copy the file (and its -wal file) to one that is",
            path);
    else if (code == SES_OK && version == 0)
        code = ses__error_set(
            error, SES_READONLY,
            "%s: the file is empty: run seslite migrate, or open it for writing, to make it a store", path);
    else if (code == SES_OK && version < ses__schema_latest())
        code = ses__error_set(
            error, SES_READONLY,
            "%s: the store has schema version %d and must be migrated to %d first: run seslite migrate, or open it once for writing",
            path, version, ses__schema_latest());
    return code;
}

static int open_writer(struct sqlite *storage, ses_error *error)
{
    const struct sqlite_config *config = &storage->config;
    const bool read_only = config->read_only;
    struct connection *db = NULL;
    int64_t version = 0;
    int code = ses__connection_open(config, CONNECTION_WRITER, NULL, &db, error);

    storage->writer.db = db;
    if (code == SES_OK && config->fill)
        code = config->fill(config->fill_context, db, error);
    if (code == SES_OK)
        code = read_only ? check_read_only(storage, error) : ses__schema_migrate(db, error);
    if (code == SES_OK)
        code = ses__schema_check(db, error);
    if (code == SES_OK)
        code = ses__transaction_check_features(db, error);
    if (code == SES_OK)
        code = ses__journal_set(storage, error);
    if (code == SES_OK && storage->file.known && strcmp(storage->journal_mode, "wal") == 0) {
        /* SQLite makes the log's index when it first reads. */
        code = ses__connection_read_int(db, "PRAGMA schema_version", &version, error);
        ses__file_know_log(config->path, &storage->file);
    }
    if (code == SES_OK)
        code = ses__key_check_file(db, error);
    if (code == SES_OK && !read_only)
        code = ses__connection_guard_file(db, error); /* and remembers the state of the files */
    if (code == SES_OK && !read_only)
        code = set_durability(storage, error);
    if (code == SES_OK && !read_only)
        code = ses__erase_setup(db, error);
    if (code == SES_OK) {
        ses__connection_limit_work(db, WORK_OF_STATEMENTS);
        code = ses__checkpoint_setup(storage, error);
    }
    if (code == SES_OK && read_only && !config->in_memory)
        ses__readers_adopt(storage);
    return code;
}

static bool init_locks(struct sqlite *storage)
{
    bool lock = pthread_mutex_init(&storage->lock, NULL) == 0;
    bool given_back = lock && ses__condition_init(&storage->readers.given_back);
    bool company = given_back && ses__condition_init(&storage->writer.company);
    bool wake = company && ses__condition_init(&storage->checkpointer.wake);

    if (!wake && company)
        (void)pthread_cond_destroy(&storage->writer.company);
    if (!wake && given_back)
        (void)pthread_cond_destroy(&storage->readers.given_back);
    if (!wake && lock)
        (void)pthread_mutex_destroy(&storage->lock);
    return wake;
}

void ses__sqlite_interrupt(struct storage *base)
{
    struct sqlite *storage = (struct sqlite *)base;

    (void)pthread_mutex_lock(&storage->lock);
    for (struct connection *reader = storage->readers.all; reader; reader = reader->next_open)
        ses__connection_interrupt(reader);
    if (storage->writer.db)
        ses__connection_interrupt(storage->writer.db);
    (void)pthread_mutex_unlock(&storage->lock);
}

/* ------------------------------------------------------------------------------------------- closing */

static void sqlite_close_all(struct storage *base)
{
    struct sqlite *storage = (struct sqlite *)base;

    ses__checkpoint_stop(storage);
    ses__readers_close(storage);
    ses__connection_close(storage->writer.db); /* the last: it is the one that checkpoints */
    storage->writer.db = NULL;
    ses__registry_remove(storage->registry_entry);
    storage->registry_entry = NULL;
}

static void sqlite_release(struct storage *base)
{
    struct sqlite *storage = (struct sqlite *)base;

    sqlite_close_all(base);
    (void)pthread_cond_destroy(&storage->checkpointer.wake);
    (void)pthread_cond_destroy(&storage->writer.company);
    (void)pthread_cond_destroy(&storage->readers.given_back);
    (void)pthread_mutex_destroy(&storage->lock);
    ses__memory_free(storage->config.allocator, storage->path);
    ses__key_wipe(storage->key, sizeof storage->key);
    ses__memory_free(storage->config.allocator, storage);
}

/* ----------------------------------------------------------------------------------------- describing */

void ses__sqlite_describe(const struct storage *base, ses_info *info)
{
    const struct sqlite *storage = (const struct sqlite *)base;

    info->path = storage->given_path;
    info->sqlite.journal_mode = storage->journal_mode;
    info->sqlite.journal_reason = storage->journal_reason;
    info->schema_version = ses__schema_latest();
    info->read_only = storage->config.read_only;
    info->sqlite.version = sqlite3_libversion();
    info->sqlite.bugs = known_bugs(sqlite3_libversion_number());
}

static int64_t file_size(const struct sqlite *storage, const char *suffix)
{
    char path[4096];
    struct stat status;
    int len = snprintf(path, sizeof path, "%s%s", storage->config.path, suffix);
    bool there =
        !storage->config.in_memory && len > 0 && (size_t)len < sizeof path && stat(path, &status) == 0;
    return there ? (int64_t)status.st_size : 0;
}

void ses__sqlite_count(struct storage *base, ses_stats *counts)
{
    struct sqlite *storage = (struct sqlite *)base;

    (void)pthread_mutex_lock(&storage->lock);
    *counts = storage->counts;
    counts->readers_open = storage->readers.open;
    counts->readers_in_use = storage->readers.in_use;
    (void)pthread_mutex_unlock(&storage->lock);
    counts->sqlite.file_bytes = file_size(storage, "");
    counts->sqlite.wal_bytes = file_size(storage, "-wal");
}

/* -------------------------------------------------------------------------------------------- running */

static int read_as(struct sqlite *storage, enum job_kind kind, const struct limits *limits, storage_job *job,
                   void *context, ses_error *error)
{
    /* A store in memory is seen by one connection only. */
    return storage->config.in_memory ? ses__writer_run(storage, job, context, 0, kind, limits, error)
                                     : ses__readers_run(storage, job, context, kind, limits, error);
}

static int sqlite_run(struct storage *base, const struct manner *manner, storage_job *job, void *context,
                      ses_error *error)
{
    struct sqlite *storage = (struct sqlite *)base;
    const struct limits *limits = ses__limits_given(manner->limits);

    if (!manner->writes) {
        const enum job_kind kind = manner->uninterruptible                      ? JOB_READS_TO_WRITE
                                   : manner->alone && storage->config.in_memory ? JOB_READS_BY_ITSELF
                                                                                : JOB_READS;
        return read_as(storage, kind, limits, job, context, error);
    }
    if (storage->config.read_only)
        return ses__error_set(error, SES_READONLY, "%s: the store was opened read-only",
                              storage->config.path);
    const enum job_kind kind = manner->alone ? JOB_WRITES_BY_ITSELF : JOB_WRITES;
    const int result = ses__writer_run(storage, job, context, manner->bytes, kind, limits, error);
    ses__checkpoint_start(storage);
    return result;
}

int ses__sqlite_run_watch(struct storage *base, storage_job *job, void *context, ses_error *error)
{
    return read_as((struct sqlite *)base, JOB_WATCHES, NULL, job, context, error);
}

/* Removes a damaged table from the schema. SQLite lets a row of the schema be deleted only on request.
 * It then reads the schema again, here and, because its number changes, everywhere else. */
static int sqlite_unlink_table(struct db *base, const char *name, ses_error *error)
{
    static const char doing[] = "unlinking a damaged table";
    struct connection *db = ses__connection_of(base);
    int64_t version = 0;
    int rc = SQLITE_OK;
    int code = ses__connection_read_int(db, "PRAGMA main.schema_version", &version, error);
    char *sql = sqlite3_mprintf("PRAGMA writable_schema = ON;"
                                "DELETE FROM main.sqlite_schema WHERE tbl_name = %Q COLLATE NOCASE;"
                                "PRAGMA main.schema_version = %lld;"
                                "PRAGMA writable_schema = RESET;",
                                name, (version + 1) & 0x7fffffff);

    if (!sql && code == SES_OK)
        code = ses__error_nomem(error);
    if (code == SES_OK)
        rc = sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
    if (rc != SQLITE_OK)
        code = ses__connection_error(db, rc, doing, error);
    if (code == SES_OK)
        code = ses__connection_execute(db, sql, doing, error);
    (void)sqlite3_exec(db->handle, "PRAGMA writable_schema = OFF", NULL, NULL, NULL); /* after a failure */
    /* Cannot fail: it could be switched off. */
    (void)sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_free(sql);
    return code;
}

/* -------------------------------------------------------------------------------------------- the table */

/* 2^31 - 1 sessions and 2^32 - 1 events in each is what fits into the key of the events table. */
#define MAX_SESSION_ID INT64_C(0x7FFFFFFF)

static const struct engine sqlite_engine = {
    .name = "sqlite",
    .traits = {.max_session_id = MAX_SESSION_ID,
               .packs_events = true,
               .keeps_table_sql = true,
               .has_filters = true},
    .run = sqlite_run,
    .start = ses__sqlite_start,
    .row = ses__sqlite_row,
    .type = ses__sqlite_type,
    .int_of = ses__sqlite_int_of,
    .text_of = ses__sqlite_text_of,
    .bytes_of = ses__sqlite_bytes_of,
    .end = ses__sqlite_end,
    .changed = ses__sqlite_changed,
    .given = ses__sqlite_given,
    .unlink_table = sqlite_unlink_table,
    .words = &ses__sqlite_words,
    .close = sqlite_close_all,
    .release = sqlite_release,
};

/* ------------- why opening failed, where SQLite only says that it could not open, read or write some file */

/* The index of the log has 32 KiB, and the log, or a journal, is not empty either. */
enum { ROOM_TO_OPEN = 64 * 1024 };

/* If memory runs out, the folder counts as writable. */
static bool may_write_folder(const struct sqlite_config *config)
{
    char *folder = ses__file_join(config->allocator, config->path, "", "");
    char *slash = folder ? strrchr(folder, '/') : NULL; /* the path is absolute */

    if (slash)
        slash[1] = '\0';
    const bool may = !slash || access(folder, W_OK | X_OK) == 0;
    ses__memory_free(config->allocator, folder);
    return may;
}

static const char *find_reason(const struct sqlite *storage, int *code)
{
    const struct sqlite_config *config = &storage->config;

    if (*code == SES_CORRUPT)
        return storage->writer.db && ses__connection_is_cut_short(storage->writer.db)
                   ? "the file was cut short: it has fewer pages than it says; restore a backup"
                   : NULL;
    if (*code != SES_CANTOPEN && *code != SES_READONLY && *code != SES_IO && *code != SES_FULL)
        return NULL;
    if (access(config->path, R_OK) != 0)
        return "this user has no right to read the file";
    if (ses__file_room(config->path) < ROOM_TO_OPEN && !ses__file_system_is_read_only(config->path)) {
        *code = SES_FULL;
        return "no space is left on the disk";
    }
    if (config->read_only)
        return NULL;
    if (ses__file_system_is_read_only(config->path))
        return "the file system is mounted read-only: open the store for reading only";
    if (access(config->path, W_OK) != 0)
        return "this user has no right to write the file: open the store for reading only";
    return may_write_folder(config)
               ? NULL
               : "this user has no right to write to the folder, where SQLite makes the log or journal";
}

/* Puts the reason into the message if it can be seen. Returns the code, or FULL. */
static int explain_failure(const struct sqlite *storage, int code, ses_error *error)
{
    const int engine_code = error->engine_code;
    const char *reason = storage->config.in_memory || engine_code == 0 ? NULL : find_reason(storage, &code);

    if (reason) {
        (void)ses__error_set(error, code, "%s: the store cannot be opened: %s", storage->config.path, reason);
        error->engine_code = engine_code;
    }
    return code;
}

/* ------------------------------------------------------------------------------------------- opening */

static int storage_new(const struct sqlite_config *config, struct sqlite **storage, ses_error *error)
{
    struct sqlite *fresh = ses__memory_zeroed(config->allocator, sizeof *fresh);

    if (!fresh || !init_locks(fresh)) {
        ses__memory_free(config->allocator, fresh);
        return ses__error_nomem(error);
    }
    fresh->base = (struct storage){
        .engine = &sqlite_engine, .allocator = config->allocator, .read_only = config->read_only};
    fresh->config = *config;
    fresh->config.file = &fresh->file;
    fresh->config.engine = &sqlite_engine;
    fresh->given_path = config->path;
    if (config->key)
        fresh->config.key = memcpy(fresh->key, config->key, sizeof fresh->key);
    *storage = fresh;
    return SES_OK;
}

bool ses__sqlite_has(const struct storage *storage)
{
    return storage->engine->name == sqlite_engine.name;
}

int ses__sqlite_open(const struct sqlite_config *config, struct storage **storage, ses_error *error)
{
    struct sqlite *opened = NULL;
    ses_error own; /* its engine_code decides on the code of a failure */

    ses__error_clear(&own);
    error = error ? error : &own;
    int code = check_sqlite(error);
    *storage = NULL;
    if (code == SES_OK && config->key)
        code = ses__key_check_cipher(config, error);
    if (code == SES_OK)
        code = storage_new(config, &opened, error);
    if (code == SES_OK && !config->in_memory) {
        code = settle_file(opened, error);
        if (code == SES_OK)
            code = ses__registry_add(opened->config.path, &opened->registry_entry, error);
    }
    if (code == SES_OK)
        code = open_writer(opened, error);
    if (code != SES_OK && opened)
        code = explain_failure(opened, code, error);
    /* Again: Node makes its lock, and looks for SQLite's, which are there now. */
    if (code == SES_OK && !config->in_memory)
        code = ses__file_check_js_lock(opened->config.allocator, opened->config.path, error);
    if (code == SES_OK)
        *storage = &opened->base;
    else if (opened)
        sqlite_release(&opened->base);
    return code;
}
