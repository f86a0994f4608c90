/* Backups: a copy of the store as of one moment, complete in its place or not there at all. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "storage/sqlite/backup/backup_file.h"
#include "storage/sqlite/connection/key.h"
#include "storage/sqlite/connection/schema.h"

struct backup_run {
    struct backup_op *op;
    struct private_connection private; /* to the store that is copied */
    struct backup_file file;
    struct backup_target target; /* the file that is replaced */
    int64_t pages;
    int64_t page_bytes;
    const unsigned char *key; /* of the copy; NULL: none */
    bool rewrites;            /* all content is rewritten */
};

/* ---------------------------------------------------------------------------------------- the target */

static int check_is_other(const struct sqlite *storage, const char *target, ses_error *error)
{
    const char *store = storage->config.path;
    const size_t len = strlen(store);
    struct file_identity identity;

    if (!storage->file.known)
        return SES_OK;
    bool is_own =
        ses__file_identify(target, &identity) && ses__file_is_same(identity, storage->file.identity);
    for (size_t i = 0; i < COMPANIONS; i++)
        is_own =
            is_own || (strncmp(target, store, len) == 0 && strcmp(target + len, ses__companions[i]) == 0);
    return is_own ? ses__error_set(error, SES_INVALID,
                                   "%s: this is the store itself, or a file of it; a backup needs another",
                                   target)
                  : SES_OK;
}

/* SQLite would read an old log or journal with the new file. */
static int check_is_new(const struct backup_file *file, ses_error *error)
{
    enum file_kind kind = FILE_ABSENT;
    bool log = false;
    bool journal = false;
    int code = ses__file_look(file->target, &kind, error);

    if (code == SES_OK)
        code = ses__file_find_journals(file->allocator, file->target, &log, &journal, error);
    if (code != SES_OK || (kind == FILE_ABSENT && !log && !journal))
        return code;
    return ses__error_set(error, SES_EXISTS, "%s: %s already exists; pass SES_BACKUP_REPLACE", file->target,
                          kind != FILE_ABSENT ? "the file"
                          : log               ? "the log of an earlier store (-wal)"
                                              : "the journal of an earlier store (-journal)");
}

/* ------------------------------------------------------------------------------------------- the copy */

static struct sqlite_config config_of_copy(const struct backup_run *run, const struct sqlite_file *file)
{
    struct sqlite_config config =
        ses__config_for_file(&run->private.storage->base, run->file.temporary, file);
    config.key = run->key;
    return config;
}

static int copy_to_file(struct db *base, void *context, ses_error *error)
{
    struct connection *db = ses__connection_of(base);
    struct backup_run *run = context;
    const struct copy_progress progress = {run->op->progress, run->op->progress_context};
    struct sqlite_file file = {.known = false};
    const struct sqlite_config config = config_of_copy(run, &file);
    struct connection *copy = NULL;
    int code = ses__pages_count(db, &run->pages, error); /* reads, with which the transaction begins */

    if (code == SES_OK)
        code = ses__connection_open(&config, CONNECTION_WRITER, NULL, &copy, error);
    if (code != SES_OK)
        return code;
    /* A failed copy is thrown away, and a complete one is flushed as a whole in the end. */
    code = ses__connection_execute(copy, "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF",
                                   "preparing the copy", error);
    if (code == SES_OK)
        code = ses__pages_copy(db, copy, "main", &progress, error);
    ses__connection_close(copy);
    return code;
}

/* Called by SQLite from time to time. The length of the file shows the progress. A file that keeps growing
 * comes from damage. */
static int on_vacuum(void *context)
{
    struct backup_run *run = context;
    const struct backup_op *op = run->op;
    struct stat status = {.st_size = 0};

    (void)fstat(run->file.descriptor, &status);
    int64_t done = (int64_t)status.st_size / run->page_bytes;
    run->private.db->endless = done > 2 * run->pages + 1000;
    return run->private.db->endless || ses__connection_must_end(run->private.db) ||
           (op->progress &&
            op->progress(op->progress_context, done < run->pages ? done : run->pages, run->pages) != 0);
}

static int vacuum(struct backup_run *run, struct connection *db, const char *sql, ses_error *error)
{
    enum { STEPS = 20000 };
    sqlite3_stmt *statement = NULL;

    sqlite3_progress_handler(db->handle, STEPS, on_vacuum, run);
    int rc = sqlite3_prepare_v2(db->handle, sql, -1, &statement, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_text64(statement, 1, run->file.temporary, strlen(run->file.temporary),
                                 SQLITE_STATIC, SQLITE_UTF8);
    if (rc == SQLITE_OK)
        rc = ses__connection_must_end(run->private.db) ? SQLITE_INTERRUPT : sqlite3_step(statement);
    int code = rc == SQLITE_OK || rc == SQLITE_DONE ? SES_OK
                                                    : ses__statement_error(db, rc, "writing the copy", error);
    (void)sqlite3_finalize(statement); /* repeats the failure of the step */
    return code;
}

static int attach_store(struct connection *db, const struct sqlite_config *store, ses_error *error)
{
    const unsigned char *key = store->in_memory ? NULL : store->key;
    unsigned char text[KEY_TEXT_BYTES];
    sqlite3_stmt *attach = NULL;
    int rc = sqlite3_prepare_v2(db->handle, "ATTACH ?1 AS source KEY ?2", -1, &attach, NULL);

    if (key)
        ses__key_text(key, text);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_text64(attach, 1, store->path, strlen(store->path), SQLITE_STATIC, SQLITE_UTF8);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_blob64(attach, 2, text, key ? sizeof text : 0, SQLITE_STATIC);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(attach);
    const int code = rc == SQLITE_DONE ? SES_OK : ses__statement_error(db, rc, "attaching the store", error);
    (void)sqlite3_finalize(attach); /* repeats the failure of the step */
    ses__key_wipe(text, sizeof text);
    return code;
}

/*
 * Pages of a file with a key are laid out differently from those without one, so they cannot be copied as
 * they are. And VACUUM INTO writes with the key of the main database, whichever database it reads. So the
 * main database is an empty one with the wanted key, and the store is attached to it. (A URI that names a key
 * would also do, but SQLite would show it in messages and to listeners of its log.)
 */
static int recode_to_file(struct backup_run *run, ses_error *error)
{
    const struct sqlite_config *store = run->private.db->config;
    struct sqlite_file file = {.known = false};
    struct sqlite_config config = ses__config_for_file(&run->private.storage->base, run->file.target, &file);
    struct connection *db = NULL;
    char *path = NULL;
    int code = SES_OK;

    /* A database in memory has no key. An empty file has one as soon as it is open, and then needs no
     * name. */
    config.key = run->key;
    config.in_memory = !run->key;
    if (run->key)
        code = ses__backup_file_make_empty(&run->file, &path, error);
    config.path = path ? path : ":memory:";
    if (code == SES_OK)
        code = ses__connection_open(&config, CONNECTION_WRITER, NULL, &db, error);
    if (path)
        (void)unlink(path);         /* otherwise the next backup removes it */
    config.path = run->file.target; /* in messages */
    if (code == SES_OK)
        code = ses__key_set_cipher(db, error); /* for the store, if the copy has no key */
    if (code == SES_OK)
        code = attach_store(db, store, error);
    if (code == SES_OK && store->in_memory)
        code = ses__pages_copy(run->private.db, db, "source", NULL, error);
    if (code == SES_OK)
        code = ses__connection_execute(db, "PRAGMA synchronous = OFF", "preparing the copy", error);
    if (code == SES_OK)
        code = vacuum(run, db, "VACUUM source INTO ?1", error);
    ses__connection_close(db);
    ses__memory_free(run->file.allocator, path);
    return code;
}

/* VACUUM INTO writes with the key that it reads with. */
static bool is_recoded(const struct backup_run *run)
{
    const struct sqlite_config *config = &run->private.storage->config;
    const unsigned char *own = config->in_memory ? NULL : config->key;

    if (!own || !run->key)
        return own != run->key;
    return run->op->compact && memcmp(own, run->key, SES_KEY_BYTES) != 0;
}

/* SQLite reads the whole store in one transaction of its own. */
static int rewrite_to_file(struct backup_run *run, ses_error *error)
{
    struct connection *db = run->private.db;
    int64_t all = 0;
    int64_t unused = 0;
    int code = ses__pages_count(db, &all, error);

    if (code == SES_OK)
        code = ses__connection_read_int(db, "PRAGMA freelist_count", &unused, error);
    if (code == SES_OK)
        code = ses__connection_read_int(db, "PRAGMA page_size", &run->page_bytes, error);
    run->pages = all - unused;
    if (code == SES_OK)
        code = ses__connection_execute(db, "PRAGMA query_only = OFF; PRAGMA synchronous = OFF",
                                       "preparing the copy", error);
    if (code == SES_OK)
        code = is_recoded(run) ? recode_to_file(run, error) : vacuum(run, db, "VACUUM main INTO ?1", error);
    if (code == SES_OK && run->op->progress &&
        run->op->progress(run->op->progress_context, run->pages, run->pages) != 0)
        code = ses__refuse_interrupted("the backup", error);
    return code;
}

/* ------------------------------------------------------------------------------------------ its check */

static int look_at_copy(const struct backup_run *run, struct connection *copy, ses_error *error)
{
    int version = 0;
    int64_t pages = 0;
    int code = ses__schema_version(copy, &version, error);

    if (code == SES_OK)
        code = ses__schema_check(copy, error);
    if (code == SES_OK)
        code = ses__key_check_file(copy, error);
    if (code == SES_OK)
        code = ses__pages_count(copy, &pages, error);
    if (code == SES_OK && (version != ses__schema_latest() || (!run->rewrites && pages != run->pages)))
        code = ses__error_set(error, SES_CORRUPT, "%s: the copy is not whole", copy->config->path);
    return code;
}

/* No other process knows the file, so it is opened as immutable: without locks and without a journal. */
static int check_copy(const struct backup_run *run, ses_error *error)
{
    struct sqlite_file file = {.known = false, .immutable = true};
    const struct sqlite_config config = config_of_copy(run, &file);
    struct connection *copy = NULL;
    int code = ses__connection_open(&config, CONNECTION_READER, NULL, &copy, error);
    if (code != SES_OK)
        return code;
    code = look_at_copy(run, copy, error);
    ses__connection_close(copy);
    /* The store was damaged while it was open, so its copy is not a store either. */
    if (code == SES_NOTASTORE || code == SES_TOONEW || code == SES_KEY)
        code = ses__error_set(error, SES_CORRUPT, "%s: the copy is no store", run->file.temporary);
    return code;
}

/* ----------------------------------------------------------------------------------------- the backup */

static int run_backup(struct backup_run *run, ses_error *error)
{
    const struct storage *storage = &run->private.storage->base;
    const bool replaces = run->op->replaces;

    run->target.key = run->key;
    run->rewrites = run->op->compact || is_recoded(run);
    int code = replaces ? ses__backup_target_lock(&run->target, &run->file, storage, &run->op->limits, error)
                        : check_is_new(&run->file, error);

    if (code == SES_OK)
        code = ses__backup_file_make(&run->file, run->private.storage->config.busy_timeout_us,
                                     &run->op->limits, error);
    if (code == SES_OK)
        code = run->rewrites ? rewrite_to_file(run, error)
                             : ses__transaction_read(run->private.db, copy_to_file, run, error);
    if (code == SES_OK)
        code = check_copy(run, error);
    if (code == SES_OK)
        code = ses__backup_file_flush(&run->file, error);
    if (code == SES_OK && replaces)
        code = ses__backup_target_check(&run->target, error);
    if (code == SES_OK)
        code = ses__backup_file_place(&run->file, run->target.db != NULL, error);
    if (code == SES_EXISTS && replaces) /* since just now */
        code = ses__backup_target_check(&run->target, error);
    ses__backup_target_unlock(&run->target);
    return code;
}

int ses__sqlite_backup(struct storage *storage, struct backup_op *op, ses_error *error)
{
    struct sqlite *own = (struct sqlite *)storage;
    struct backup_run run = {.op = op, .key = op->plain ? NULL : op->key ? op->key : own->config.key};
    int code = ses__backup_file_open(&run.file, &own->config, op->path, error);

    if (code == SES_OK && run.key)
        code = ses__key_check_cipher(&own->config, error);
    if (code == SES_OK)
        code = check_is_other(own, run.file.target, error);
    if (code == SES_OK)
        code = ses__private_connection_open(storage, &op->limits, &run.private, error);
    if (code == SES_OK) {
        code = run_backup(&run, error);
        ses__private_connection_close(&run.private);
    }
    ses__backup_file_close(&run.file);
    return code;
}
