#include "foreign/export_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

/* ------------------------------------------------------------------------------------------------- signals */

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
static char leftover[4096]; /* what a signal has to remove */

static void remove_leftover(int number)
{
    if (leftover[0])
        (void)unlink(leftover);
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

static void watch_signals(const char *path)
{
    if (strlen(path) >= sizeof leftover)
        return;
    memcpy(leftover, path, strlen(path) + 1);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        (void)signal(signals[i], remove_leftover);
}

static void forget_signals(void)
{
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        (void)signal(signals[i], SIG_DFL);
    leftover[0] = '\0';
}

/* --------------------------------------------------------------------------------------------------- files */

static int refuse_file(const char *path, const char *what, int number, ses_error *error)
{
    const int code = number == ENOSPC || number == EDQUOT || number == EFBIG ? SES_FULL
                     : number == EEXIST                                      ? SES_EXISTS
                     : number == EIO                                         ? SES_IO
                                                                             : SES_CANTOPEN;
    return ses__error_set(error, code, "%s: %s: %s", path, what, strerror(number));
}

/* The log of a database that was there would be taken for one of the new file. */
static int check_companions(const char *path, ses_error *error)
{
    static const char *const endings[] = {"-wal", "-journal"};
    int code = SES_OK;

    for (size_t i = 0; i < 2 && code == SES_OK; i++) {
        struct text name = {NULL, 0, 0};
        struct stat info;
        text_print(&name, "%s%s", path, endings[i]);
        if (lstat(name.data, &info) == 0)
            code = ses__error_set(error, SES_EXISTS,
                                  "%s is there: it belongs to a database that is open, or was not closed; "
                                  "choose another file",
                                  name.data);
        text_free(&name);
    }
    return code;
}

int export_file_begin(struct export_file *file, const char *path, bool replace, ses_error *error)
{
    struct stat info;
    const bool is_there = lstat(path, &info) == 0;

    *file = (struct export_file){.path = path, .fd = -1};
    if (is_there && !replace)
        return ses__error_set(error, SES_EXISTS,
                              "%s is there already; --replace puts the export in its place", path);
    if (is_there && !S_ISREG(info.st_mode))
        return ses__error_set(error, SES_EXISTS, "%s is no regular file, and is not replaced", path);
    int code = check_companions(path, error);
    if (code != SES_OK)
        return code;
    text_print(&file->temporary, "%s.seslite-export-XXXXXX", path);
    file->fd = mkstemp(file->temporary.data);
    if (file->fd < 0) {
        code = refuse_file(path, "no file can be made beside it", errno, error);
        text_free(&file->temporary);
        return code;
    }
    watch_signals(file->temporary.data);
    return SES_OK;
}

int export_file_write(struct export_file *file, const char *data, size_t len, ses_error *error)
{
    while (len > 0) {
        const ssize_t written = write(file->fd, data, len);
        if (written < 0 && errno != EINTR)
            return refuse_file(file->path, "it cannot be written", errno, error);
        if (written > 0) {
            data += written;
            len -= (size_t)written;
        }
    }
    return SES_OK;
}

/* The name has to reach the disk as well. */
static void flush_folder(const char *path)
{
    struct text folder = {NULL, 0, 0};
    const char *slash = strrchr(path, '/');

    if (slash)
        text_add(&folder, path, (size_t)(slash - path) + 1);
    else
        text_puts(&folder, ".");
    int fd = open(folder.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd); /* some file systems cannot */
        (void)close(fd);
    }
    text_free(&folder);
}

static int put_in_place(struct export_file *file, bool replace, ses_error *error)
{
    if (fsync(file->fd) != 0)
        return refuse_file(file->path, "it cannot be flushed to the disk", errno, error);
    if (replace) {
        if (rename(file->temporary.data, file->path) != 0)
            return refuse_file(file->path, "it cannot be put in its place", errno, error);
    } else {
        if (link(file->temporary.data, file->path) != 0)
            return refuse_file(file->path, "it cannot be put in its place", errno, error);
        (void)unlink(file->temporary.data);
    }
    flush_folder(file->path);
    return SES_OK;
}

int export_file_end(struct export_file *file, bool replace, int code, ses_error *error)
{
    if (file->fd < 0)
        return code;
    if (code == SES_OK)
        code = put_in_place(file, replace, error);
    if (code != SES_OK)
        (void)unlink(file->temporary.data);
    (void)close(file->fd);
    forget_signals();
    text_free(&file->temporary);
    file->fd = -1;
    return code;
}
