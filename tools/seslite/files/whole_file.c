#include "files/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/signals.h"
#include "formats/bytes.h"
#include "text/refuse.h"

/* ------------------------------------------------------------------------------------------------- errors */

static int refuse_file(const struct whole_file *file, const char *what, int number, ses_error *error)
{
    return refuse(error, file_code(number), "%s: %s: %s", file->path, what, strerror(number));
}

/* -------------------------------------------------------------------------------------------------- files */

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
        return refuse_file(file, "cannot create a temporary file next to it", errno, error);
    leftover_watch(file->temporary.data);
    return SES_OK;
}

static int open_other(struct whole_file *file, ses_error *error)
{
    file->fd = open(file->path, O_WRONLY | O_CLOEXEC);
    return file->fd < 0 ? refuse_file(file, "cannot be written", errno, error) : SES_OK;
}

/* The sixteen bytes at the beginning of every database (sqlite.org/fileformat.html), and the application id
 * at offset 68. A database with a key has only three bytes to know it by; it is taken for a store. */
static bool is_database(const char *path, bool *is_store)
{
    static const unsigned char store_id[] = {0x53, 0x45, 0x53, 0x4c};
    static const unsigned char fractions[] = {64, 32, 32};
    unsigned char head[72] = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, head, sizeof head) : -1;

    *is_store = false;
    if (fd >= 0)
        (void)close(fd);
    if (got != (ssize_t)sizeof head)
        return false;
    const bool is_plain = memcmp(head, "SQLite format 3", 16) == 0;
    *is_store = is_plain ? memcmp(head + 68, store_id, sizeof store_id) == 0
                         : memcmp(head + 21, fractions, sizeof fractions) == 0;
    return is_plain || *is_store;
}

/* Guards against mistyped names: only a database can replace a database, and nothing replaces a store. */
static int check_replaced(const char *path, enum whole_content content, ses_error *error)
{
    bool is_store = false;

    if (!is_database(path, &is_store) || (content == WHOLE_DATABASE && !is_store))
        return SES_OK;
    return refuse(error, SES_EXISTS, "%s is a %s and is not replaced by %s: name another file, or remove it",
                  path, is_store ? "store" : "database",
                  content == WHOLE_DATABASE ? "another database" : "something else");
}

int whole_file_begin(struct whole_file *file, const char *path, enum whole_content content, bool replaces,
                     ses_error *error)
{
    struct stat info;
    const bool is_there = stat(path, &info) == 0;
    char *resolved = is_there ? realpath(path, NULL) : NULL;

    *file =
        (struct whole_file){.path = resolved ? resolved : copy_text(path), .replaces = replaces, .fd = -1};
    if (is_there && S_ISREG(info.st_mode) && !replaces)
        return give_up(
            file, refuse(error, SES_EXISTS, "%s already exists: name another file, or pass --replace", path));
    int code = is_there && S_ISREG(info.st_mode) ? check_replaced(file->path, content, error) : SES_OK;
    if (code == SES_OK)
        code = is_there && !S_ISREG(info.st_mode) ? open_other(file, error) : open_temporary(file, error);
    return code == SES_OK ? code : give_up(file, code);
}

int whole_file_write(struct whole_file *file, const char *data, size_t len, ses_error *error)
{
    return write_whole(file->fd, data, len) ? SES_OK : refuse_file(file, "cannot be written", errno, error);
}

/* The directory entry has to reach the disk as well. */
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
        (void)fsync(fd); /* not supported by some file systems */
        (void)close(fd);
    }
    text_free(&folder);
}

/* link() fails if the name exists, so that nothing is replaced by accident. */
static int put_in_place(struct whole_file *file, ses_error *error)
{
    if (fsync(file->fd) != 0)
        return refuse_file(file, "cannot be flushed to the disk", errno, error);
    if (file->replaces ? rename(file->temporary.data, file->path) != 0
                       : link(file->temporary.data, file->path) != 0)
        return refuse_file(file, "cannot be moved into place", errno, error);
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
        code = refuse_file(file, "cannot be written", errno, error);
    if (is_temporary)
        leftover_forget();
    return give_up(file, code);
}
