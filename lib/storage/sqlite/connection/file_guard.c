/*
 * Whether the files of a store are still those that it has open. The file is looked at by its name before
 * each commit, which is one system call. Two further checks cost almost nothing:
 *
 *  - Whether the log or its index (-wal, -shm) was deleted or replaced. Then other programs use others. Any
 *    file that comes or goes in a folder changes the folder's time. So one look at the folder does, except
 *    for a while after a change, since its time moves in steps: then both files are looked at.
 *  - Whether another program has overwritten the file or cut it short. As long as the log is in use, only
 *    checkpoints write to the file, and the index says how far they have come
 *    (https://www.sqlite.org/walformat.html, "The WAL-Index Header"). If the file has changed and no
 *    checkpoint has run, its length and its change counter must be the same.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/error.h"
#include "storage/sqlite/connection/connection.h"

/* Longer than a step of a file system's time, which is two seconds at most. */
static const int64_t BUSY_US = 3000000;

#if defined(__APPLE__)
#define MODIFIED(status) ((status).st_mtimespec)
#define CHANGED(status) ((status).st_ctimespec)
#else
#define MODIFIED(status) ((status).st_mtim)
#define CHANGED(status) ((status).st_ctim)
#endif

static bool is_same_time(struct timespec left, struct timespec right)
{
    return left.tv_sec == right.tv_sec && left.tv_nsec == right.tv_nsec;
}

/* ------------------------------------------------------------------------------------------ which files */

/* The file at `path` with the suffix is the one that was opened. */
static int check_one(const char *path, const char *suffix, struct file_identity opened, struct stat *now,
                     ses_error *error)
{
    char name[PATH_MAX + sizeof "-wal"];
    const char *what = *suffix ? "the store's log, or the index of it," : "the file";

    (void)snprintf(name, sizeof name, "%s%s", path, suffix);
    const bool is_there = stat(name, now) == 0;
    if (is_there && ses__file_is_same((struct file_identity){now->st_dev, now->st_ino}, opened))
        return SES_OK;
    return ses__error_set(error, SES_IO, "%s: %s was %s while the store was open%s", name, what,
                          is_there ? "replaced" : "deleted or moved",
                          *suffix ? ": close the store in all programs, and open it again" : "");
}

static int guard_log(const struct sqlite_config *config, ses_error *error)
{
    const struct sqlite_file *file = config->file;
    struct stat now;
    int code = check_one(config->path, "-wal", file->log, &now, error);
    return code == SES_OK ? check_one(config->path, "-shm", file->log_index, &now, error) : code;
}

int ses__connection_check_file(const struct connection *db, ses_error *error)
{
    const struct sqlite_config *config = db->config;
    struct stat now;
    int code = SES_OK;

    if (config->file->known)
        code = check_one(config->path, "", config->file->identity, &now, error);
    return code == SES_OK && config->file->has_log ? guard_log(config, error) : code;
}

void ses__file_know_log(const char *path, struct sqlite_file *file)
{
    char log[PATH_MAX + sizeof "-wal"];
    char log_index[sizeof log];

    (void)snprintf(log, sizeof log, "%s-wal", path);
    (void)snprintf(log_index, sizeof log_index, "%s-shm", path);
    file->has_log = ses__file_identify(log, &file->log) && ses__file_identify(log_index, &file->log_index);
}

/* True if nothing has come or gone in the folder since the files in it were looked at. */
static bool is_folder_quiet(const char *path, struct file_guard *guard)
{
    const int64_t now_us = ses__clock_steady_us();
    const char *slash = strrchr(path, '/'); /* there is one: the path is absolute */
    char folder[PATH_MAX];
    struct stat status;

    if (now_us < guard->busy_until_us || !slash || (size_t)(slash - path) >= sizeof folder - 1)
        return false;
    (void)snprintf(folder, sizeof folder, "%.*s/", (int)(slash - path), path);
    if (stat(folder, &status) != 0)
        return false;
    const bool is_same = is_same_time(CHANGED(status), guard->folder_time);
    const bool was_quiet = guard->quiet;
    guard->quiet = is_same; /* at the look that follows, after which no change can be in the same step */
    if (!is_same) {
        guard->folder_time = CHANGED(status);
        guard->busy_until_us = now_us + BUSY_US;
    }
    return is_same && was_quiet;
}

/* ------------------------------------------------------------------------------------ what is in the file */

/* How far the checkpoints have come, in 32-bit words of the index: the log's salt, the pages that are copied,
 * and those of the copying under way. */
static bool read_progress(struct connection *db, struct checkpoint_progress *progress)
{
    enum { SHM_PAGE_BYTES = 32768, SALT = 8, COPIED = 24, ATTEMPTED = 32 };
    sqlite3_file *file = ses__connection_file(db, SQLITE_FCNTL_FILE_POINTER);
    void volatile *memory = NULL;

    if (!file || file->pMethods->iVersion < 2 ||
        file->pMethods->xShmMap(file, 0, SHM_PAGE_BYTES, 0, &memory) != SQLITE_OK || !memory)
        return false;
    const uint32_t volatile *words = memory;
    progress->salt[0] = words[SALT];
    progress->salt[1] = words[SALT + 1];
    progress->copied = words[COPIED];
    progress->attempted = words[ATTEMPTED];
    return true;
}

static bool is_same_progress(const struct checkpoint_progress *left, const struct checkpoint_progress *right)
{
    return memcmp(left, right, sizeof *left) == 0;
}

static bool is_copying(const struct checkpoint_progress *progress)
{
    return progress->attempted > progress->copied;
}

static int refuse_content(struct connection *db, ses_error *error)
{
    db->guard.overwritten = true; /* a later checkpoint would hide it */
    return ses__error_set(
        error, SES_IO,
        "%s: another program has overwritten the file, or cut it short, while the store was open: end all programs that have it open, and restore it from a backup then",
        db->config->path);
}

/* `before` was read before `now`. */
static int guard_content(struct connection *db, const struct checkpoint_progress *before,
                         const struct stat *now, ses_error *error)
{
    enum { COUNTER_AT = 24 }; /* the change counter and other numbers by which SQLite detects a change */
    struct file_guard *guard = &db->guard;
    struct checkpoint_progress after = *before;
    unsigned char counter[FILE_COUNTER_BYTES] = {0};
    const bool moved = !guard->sure || !is_same_progress(before, &guard->progress);
    const bool changed = now->st_size != guard->bytes || !is_same_time(MODIFIED(*now), guard->file_time);

    if (guard->overwritten || now->st_size == 0)
        return refuse_content(db, error);
    if (!moved && !changed)
        return SES_OK;
    sqlite3_file *file = ses__connection_file(db, SQLITE_FCNTL_FILE_POINTER);
    const bool is_read = file &&
                         file->pMethods->xRead(file, counter, sizeof counter, COUNTER_AT) == SQLITE_OK &&
                         read_progress(db, &after);
    const bool may_change = moved || is_copying(&after) || !is_same_progress(before, &after);
    if (!may_change &&
        (!is_read || now->st_size != guard->bytes || memcmp(counter, guard->counter, sizeof counter) != 0))
        return refuse_content(db, error);
    guard->bytes = now->st_size;
    guard->file_time = MODIFIED(*now);
    memcpy(guard->counter, counter, sizeof counter);
    guard->progress = *before;
    guard->sure = is_read && !is_copying(before) && is_same_progress(before, &after);
    return SES_OK;
}

/* ------------------------------------------------------------------------------- before each commit */

int ses__connection_guard_file(struct connection *db, ses_error *error)
{
    const struct sqlite_config *config = db->config;
    struct checkpoint_progress before;
    struct stat now;

    if (!config->file->known)
        return SES_OK;
    const bool counts = config->file->has_log && read_progress(db, &before);
    int code = check_one(config->path, "", config->file->identity, &now, error);
    if (code == SES_OK && now.st_nlink > 1 && !config->may_be_linked &&
        ses__file_check_names(config->allocator, config->path, error) != SES_OK)
        code = ses__error_set(
            error, SES_IO,
            "%s: the file got a second name (a hard link) while the store was open: remove that name; programs that use different names lose each other's writes",
            config->path);
    if (code == SES_OK && config->file->has_log && !is_folder_quiet(config->path, &db->guard))
        code = guard_log(config, error);
    return code == SES_OK && counts ? guard_content(db, &before, &now, error) : code;
}
