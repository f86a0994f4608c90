#include "whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "leftover.h"

/* -------------------------------------------------------------------------------------------------- errors */

static int refuse(ses_error *error, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

static int refuse(ses_error *error, int code, const char *format, ...)
{
    va_list arguments;

    *error = (ses_error){.code = code, .version = -1, .offset = -1, .index = -1};
    va_start(arguments, format);
    (void)vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return code;
}

static int refuse_file(const struct whole_file *file, const char *what, int number, ses_error *error)
{
    const int code = number == ENOSPC || number == EDQUOT || number == EFBIG ? SES_FULL
                     : number == EEXIST                                      ? SES_EXISTS
                     : number == EIO                                         ? SES_IO
                                                                             : SES_CANTOPEN;
    return refuse(error, code, "%s: %s: %s", file->path, what, strerror(number));
}

/* --------------------------------------------------------------------------------------------------- files */

static int give_up(struct whole_file *file, int code)
{
    text_free(&file->temporary);
    free(file->path);
    *file = (struct whole_file){.fd = -1};
    return code;
}

static int open_temporary(struct whole_file *file, ses_error *error)
{
    text_print(&file->temporary, "%s.seslite-XXXXXX", file->path);
    file->fd = mkstemp(file->temporary.data);
    if (file->fd < 0)
        return refuse_file(file, "no file can be made beside it", errno, error);
    leftover_watch(file->temporary.data);
    return SES_OK;
}

static int open_other(struct whole_file *file, ses_error *error)
{
    file->fd = open(file->path, O_WRONLY | O_CLOEXEC);
    return file->fd < 0 ? refuse_file(file, "it cannot be written", errno, error) : SES_OK;
}

int whole_file_begin(struct whole_file *file, const char *path, bool replaces, ses_error *error)
{
    struct stat info;
    const bool is_there = stat(path, &info) == 0;
    char *resolved = is_there ? realpath(path, NULL) : NULL;

    *file =
        (struct whole_file){.path = resolved ? resolved : copy_text(path), .replaces = replaces, .fd = -1};
    if (is_there && S_ISREG(info.st_mode) && !replaces)
        return give_up(file, refuse(error, SES_EXISTS,
                                    "%s is there already: name another file, or pass --replace", path));
    int code = is_there && !S_ISREG(info.st_mode) ? open_other(file, error) : open_temporary(file, error);
    return code == SES_OK ? code : give_up(file, code);
}

int whole_file_write(struct whole_file *file, const char *data, size_t len, ses_error *error)
{
    while (len > 0) {
        const ssize_t written = write(file->fd, data, len);
        if (written < 0 && errno != EINTR)
            return refuse_file(file, "it cannot be written", errno, error);
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

/* A link() decides, so that nothing is replaced by accident. */
static int put_in_place(struct whole_file *file, ses_error *error)
{
    if (fsync(file->fd) != 0)
        return refuse_file(file, "it cannot be flushed to the disk", errno, error);
    if (file->replaces ? rename(file->temporary.data, file->path) != 0
                       : link(file->temporary.data, file->path) != 0)
        return refuse_file(file, "it cannot be put in its place", errno, error);
    if (!file->replaces)
        (void)unlink(file->temporary.data);
    flush_folder(file->path);
    return SES_OK;
}

int whole_file_end(struct whole_file *file, int code, ses_error *error)
{
    const bool is_temporary = file->temporary.len > 0;

    if (file->fd < 0)
        return code;
    if (code == SES_OK && is_temporary)
        code = put_in_place(file, error);
    if (code != SES_OK && is_temporary)
        (void)unlink(file->temporary.data);
    if (close(file->fd) != 0 && code == SES_OK)
        code = refuse_file(file, "it cannot be written", errno, error);
    if (is_temporary)
        leftover_forget();
    return give_up(file, code);
}
