/*
 * A backup is written to a temporary file in the folder of its target, so that one rename puts it in place.
 *
 * The files that a killed process left there must be removed, but never one that is still being written. So a
 * backup holds a shared lock (flock) on the folder while it has a temporary file in it, and removes old
 * files, whatever their target, only under an exclusive lock. A lock on the temporary file itself would not
 * do: reading it means opening it, and closing it again drops the locks that SQLite holds on it by then, if
 * this process has opened it as a store.
 */
#include "storage/sqlite/backup/backup_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"

/* -------------------------------------------------------------------------------------------- folder */

static bool is_temporary_name(const char *name)
{
    const char *mark = strstr(name, BACKUP_FILE_MARK);

    if (!mark || mark == name)
        return false;
    const char *rest = mark + strlen(BACKUP_FILE_MARK);
    if (strnlen(rest, FILE_MARK_LETTERS) < FILE_MARK_LETTERS)
        return false;
    bool is = rest[FILE_MARK_LETTERS] == '\0';
    for (size_t i = 0; i < COMPANIONS; i++)
        is = is || strcmp(rest + FILE_MARK_LETTERS, ses__companions[i]) == 0;
    return is;
}

static int resolve_target(struct backup_file *file, char *path, ses_error *error)
{
    char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;

    if (slash)
        *slash = '\0';
    const char *folder = !slash ? "." : path[0] ? path : "/";
    int code = ses__file_resolve(file->allocator, folder, &file->folder, error);
    if (code == SES_OK && (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0))
        code = ses__error_set(error, SES_CANTOPEN, "%s: this is a folder, not a file", folder);
    if (code == SES_OK && is_temporary_name(name))
        code = ses__error_set(
            error, SES_INVALID,
            "%s: a name of this form is that of a temporary file, which the next backup removes", name);
    if (code != SES_OK)
        return code;
    file->target =
        ses__file_join(file->allocator, strcmp(file->folder, "/") == 0 ? "" : file->folder, "/", name);
    return file->target ? SES_OK : ses__error_nomem(error);
}

int ses__backup_file_open(struct backup_file *file, const struct sqlite_config *config, const char *path,
                          ses_error *error)
{
    char *target = NULL;

    *file = (struct backup_file){.allocator = config->allocator, .folder_descriptor = -1, .descriptor = -1};
    int code = ses__file_follow_links(file->allocator, path, &target, error);
    if (code == SES_OK)
        code = resolve_target(file, target, error);
    ses__memory_free(file->allocator, target);
    if (code != SES_OK)
        return code;
    file->folder_descriptor = open(file->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return file->folder_descriptor >= 0
               ? SES_OK
               : ses__file_refuse(file->folder, "cannot open the folder", errno, error);
}

/* ------------------------------------------------------------------------------------ temporary files */

/* A file that cannot be removed stays. It does no harm. */
static void remove_leftovers(const struct backup_file *file)
{
    DIR *folder = opendir(file->folder);
    const struct dirent *entry;

    while (folder && (entry = readdir(folder)) != NULL) {
        if (is_temporary_name(entry->d_name))
            (void)unlinkat(file->folder_descriptor, entry->d_name, 0);
    }
    if (folder)
        (void)closedir(folder);
}

/* Without locks in this file system, nothing is removed either. */
static int lock_folder(struct backup_file *file, int64_t busy_timeout_us, const struct limits *limits,
                       ses_error *error)
{
    const int64_t begun_us = ses__clock_steady_us();
    const int64_t deadline = ses__limits_until(limits, begun_us + busy_timeout_us);
    const struct timespec pause = {0, CONNECTION_LONGEST_PAUSE_US * 1000L};

    if (flock(file->folder_descriptor, LOCK_EX | LOCK_NB) == 0)
        remove_leftovers(file);
    while (flock(file->folder_descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        if (ses__limits_cancelled(limits))
            return ses__limits_refuse(file->folder, error);
        if (ses__clock_steady_us() >= deadline)
            return ses__error_set(error, SES_BUSY, "%s: another program has locked the folder for %lld ms",
                                  file->folder, (long long)((deadline - begun_us + 500) / 1000));
        (void)nanosleep(&pause, NULL); /* a signal may cut it short: then the next try comes sooner */
    }
    return SES_OK;
}

/* After a failure `path` is NULL, as there is nothing to be removed. */
static int make_temporary(const struct backup_file *file, char **path, int *descriptor, ses_error *error)
{
    *path = ses__file_join(file->allocator, file->target, BACKUP_FILE_MARK, "XXXXXX");
    if (!*path)
        return ses__error_nomem(error);
    *descriptor = mkstemp(*path); /* mode 0600, as POSIX says */
    if (*descriptor < 0) {
        int code = ses__file_refuse(file->target, "cannot create a temporary file next to it", errno, error);
        ses__memory_free(file->allocator, *path);
        *path = NULL;
        return code;
    }
    (void)fcntl(*descriptor, F_SETFD, FD_CLOEXEC);
    (void)fchmod(*descriptor, S_IRUSR | S_IWUSR); /* a umask may take even the owner's rights away */
    return SES_OK;
}

int ses__backup_file_make(struct backup_file *file, int64_t busy_timeout_us, const struct limits *limits,
                          ses_error *error)
{
    int code = lock_folder(file, busy_timeout_us, limits, error);
    return code == SES_OK ? make_temporary(file, &file->temporary, &file->descriptor, error) : code;
}

int ses__backup_file_make_empty(const struct backup_file *file, char **path, ses_error *error)
{
    int descriptor = -1;
    int code = make_temporary(file, path, &descriptor, error);

    if (code == SES_OK)
        (void)close(descriptor); /* nothing was written that could be lost */
    return code;
}

/* ----------------------------------------------------------------------------------------- into place */

static int flush(int descriptor, const char *path, ses_error *error)
{
#if defined(F_FULLFSYNC)
    if (fcntl(descriptor, F_FULLFSYNC) == 0)
        return SES_OK;
#endif
    if (fsync(descriptor) == 0)
        return SES_OK;
    return ses__error_set(error, errno == ENOSPC || errno == EDQUOT ? SES_FULL : SES_IO,
                          "%s: it could not be flushed to the disk", path);
}

int ses__backup_file_flush(struct backup_file *file, ses_error *error)
{
    int code = flush(file->descriptor, file->temporary, error);

    (void)close(file->descriptor); /* nothing is left that could be lost */
    file->descriptor = -1;
    return code;
}

static int flush_folder(struct backup_file *file, ses_error *error)
{
    return flush(file->folder_descriptor, file->folder, error);
}

int ses__backup_file_remove_companions(struct backup_file *file, ses_error *error)
{
    int code = SES_OK;
    bool removed = false;

    for (size_t i = 0; i < COMPANIONS && code == SES_OK; i++) {
        char *path = ses__file_join(file->allocator, file->target, ses__companions[i], "");
        if (!path)
            code = ses__error_nomem(error);
        else if (unlink(path) == 0)
            removed = true;
        else if (errno != ENOENT)
            code = ses__file_refuse(path, "cannot remove it", errno, error);
        ses__memory_free(file->allocator, path);
    }
    return code == SES_OK && removed ? flush_folder(file, error) : code;
}

int ses__backup_file_place(struct backup_file *file, bool replaces, ses_error *error)
{
    /* A link replaces nothing. Where the file system has none, looking for the target must do. */
    if (!replaces && link(file->temporary, file->target) == 0)
        (void)unlink(file->temporary); /* otherwise the next backup removes it */
    else if (!replaces && (errno == EEXIST || access(file->target, F_OK) == 0))
        return ses__error_set(error, SES_EXISTS, "%s: the file already exists; pass SES_BACKUP_REPLACE",
                              file->target);
    else if (rename(file->temporary, file->target) != 0)
        return ses__file_refuse(file->target, "cannot put the backup in place", errno, error);
    ses__memory_free(file->allocator, file->temporary);
    file->temporary = NULL;
    const int code = flush_folder(file, error);
    if (code == SES_OK)
        return code;
    if (replaces)
        return ses__error_set(error, SES_UNKNOWN,
                              "%s: the backup is in place, but the folder could not be flushed to the disk: "
                              "after a power failure the file may be the old one again",
                              file->target);
    (void)unlink(file->target); /* it may not survive, and the call has failed */
    return code;
}

void ses__backup_file_close(struct backup_file *file)
{
    if (file->descriptor >= 0)
        (void)close(file->descriptor);
    if (file->temporary)
        (void)unlink(file->temporary);
    for (size_t i = 0; file->temporary && i < COMPANIONS; i++) {
        char *path = ses__file_join(file->allocator, file->temporary, ses__companions[i], "");
        if (path)
            (void)unlink(path);
        ses__memory_free(file->allocator, path);
    }
    if (file->folder_descriptor >= 0)
        (void)close(file->folder_descriptor); /* with its lock */
    ses__memory_free(file->allocator, file->temporary);
    ses__memory_free(file->allocator, file->target);
    ses__memory_free(file->allocator, file->folder);
}
