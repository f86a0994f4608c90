#include "formats/formats.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "formats/database/database.h"
#include "formats/json/members.h"
#include "formats/looks.h"
#include "formats/read/table.h"

enum { HEAD = 65536 };
/* The longest event or state that the store accepts: the default of ses_open. */
enum { MAX_BYTES = 16 * 1024 * 1024 };

/* 'SESL' */
static const int APPLICATION_ID = 1397052236;

static int read_head(struct opened_file *opened, ses_error *error)
{
    size_t len = 0;

    opened->head = allocate(HEAD + 1);
    while (len < HEAD) {
        ssize_t got = pread(opened->file.fd, opened->head + len, HEAD - len, (off_t)len);
        if (got < 0 && errno != EINTR)
            return ses__error_set(error, SES_IO, "cannot read %s: %s", opened->file.path, strerror(errno));
        if (got == 0)
            break;
        len += got > 0 ? (size_t)got : 0;
    }
    opened->file.head = (struct span){opened->head, len};
    opened->file.whole = len < HEAD || (int64_t)len == opened->bytes;
    return SES_OK;
}

static int open_path(struct opened_file *opened, ses_error *error)
{
    const char *path = opened->file.path;
    struct stat info;

    opened->file.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (opened->file.fd < 0)
        return ses__error_set(error, errno == ENOENT ? SES_NOTFOUND : SES_CANTOPEN, "cannot open %s: %s",
                              path, strerror(errno));
    if (fstat(opened->file.fd, &info) != 0 || !S_ISREG(info.st_mode))
        return ses__error_set(error, SES_CANTOPEN,
                              "%s is not a regular file; use \"-\" to read JSON lines from standard input",
                              path);
    opened->bytes = (int64_t)info.st_size;
    return read_head(opened, error);
}

/* ---------------------------------------------------------------------------------------------- databases */

static bool is_database(const struct opened_file *opened)
{
    static const char magic[] = "SQLite format 3";
    struct text log = {NULL, 0, 0};
    struct stat info;

    if (opened->file.head.len >= sizeof magic)
        return memcmp(opened->file.head.ptr, magic, sizeof magic) == 0;
    /* The first pages may still be in the WAL. */
    text_print(&log, "%s-wal", opened->file.path);
    const bool has_log = opened->file.head.len == 0 && stat(log.data, &info) == 0 && info.st_size > 0;
    text_free(&log);
    return has_log;
}

static bool is_store(sqlite3 *db)
{
    sqlite3_stmt *statement = NULL;
    bool is = sqlite3_prepare_v2(db, "PRAGMA main.application_id", -1, &statement, NULL) == SQLITE_OK &&
              sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_int(statement, 0) == APPLICATION_ID;

    (void)sqlite3_finalize(statement);
    return is;
}

static int open_as_database(struct opened_file *opened, ses_error *error)
{
    /* Closed before SQLite opens the file: a later close would drop SQLite's locks on it. */
    (void)close(opened->file.fd);
    opened->file.fd = -1;
    opened->database = allocate(sizeof *opened->database);
    int code = foreign_open_database(opened->file.path, opened->file.max_bytes, opened->database, error);
    if (code != SES_OK)
        return code;
    opened->file.db = opened->database->db;
    if (is_store(opened->file.db)) {
        opened->kind = OPENED_STORE;
        opened->file.db = NULL;
        foreign_close_database(opened->database);
    }
    return SES_OK;
}

/* ------------------------------------------------------------------------------------------------ telling */

/* True if the first line is an object of kind "seslite". */
static bool is_lines(struct span head)
{
    const char *end = head.len > 0 ? memchr(head.ptr, '\n', head.len) : NULL;
    const struct span line = {head.ptr, end ? (size_t)(end - head.ptr) : head.len};
    struct members members;

    if (line.len == 0 || ses__json_check(line.ptr, line.len, NULL) != SES_OK)
        return false;
    members_read(&members, ses__json_trim(line));
    return member_is(&members, "kind", "seslite");
}

static int refuse_unknown(const struct opened_file *opened, ses_error *error)
{
    struct text words = {NULL, 0, 0};

    if (opened->file.db)
        text_puts(&words, "a database, but not of a program listed in seslite help import");
    else
        looks_add(&words, opened->file.head);
    const int code =
        ses__error_set(error, SES_NOTASTORE, "cannot import %s: %s", opened->file.path, words.data);
    text_free(&words);
    return code;
}

/* The more specific ones come first. */
static const struct foreign_format *const formats[] = {
    &foreign_python_v1, &foreign_javascript,   &foreign_python_sqlite,   &foreign_rust,
    &foreign_python_v0, &foreign_go,           &foreign_openai_branches, &foreign_openai,
    &foreign_vertex,    &foreign_session_json,
};

static int find_format(struct opened_file *opened, ses_error *error)
{
    if (!opened->file.db && looks_like_sessions(opened->file.head))
        return refuse_unknown(opened, error);
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (formats[i]->text != (opened->file.db == NULL))
            continue;
        int code = formats[i]->recognizes(&opened->file, error);
        opened->format = formats[i];
        if (code != 0)
            return code > 0 ? SES_OK : code;
    }
    return refuse_unknown(opened, error);
}

/* A database with a key has three bytes to know it by. Only a store is opened with one. */
static bool is_encrypted(const struct opened_file *opened)
{
    static const unsigned char fractions[] = {64, 32, 32};
    const struct span head = opened->file.head;

    return head.len >= 24 && memcmp(head.ptr + 21, fractions, sizeof fractions) == 0;
}

static int recognize(struct opened_file *opened, ses_error *error)
{
    int code = SES_OK;

    if (is_database(opened)) {
        code = open_as_database(opened, error);
    } else if (is_encrypted(opened)) {
        (void)close(opened->file.fd); /* as above */
        opened->file.fd = -1;
        opened->kind = OPENED_STORE;
    } else if (is_lines(opened->file.head)) {
        opened->kind = OPENED_LINES;
    }
    return code == SES_OK && opened->kind == OPENED_FOREIGN ? find_format(opened, error) : code;
}

int file_open(const char *path, bool zone_is_set, struct foreign_notes *notes, struct opened_file *opened,
              ses_error *error)
{
    *opened = (struct opened_file){.kind = OPENED_FOREIGN, .bytes = -1};
    opened->file = (struct foreign_file){
        .path = path, .fd = -1, .zone_is_set = zone_is_set, .max_bytes = MAX_BYTES, .notes = notes};
    if (strcmp(path, "-") == 0) {
        opened->kind = OPENED_LINES;
        opened->file.fd = STDIN_FILENO;
        return SES_OK;
    }
    int code = open_path(opened, error);
    if (code == SES_OK)
        code = recognize(opened, error);
    if (code != SES_OK)
        file_close(opened);
    return code;
}

void file_close(struct opened_file *opened)
{
    if (opened->file.fd > STDIN_FILENO)
        (void)close(opened->file.fd);
    if (opened->database)
        foreign_close_database(opened->database);
    free(opened->database);
    opened->database = NULL;
    free(opened->head);
    opened->head = NULL;
    opened->file.fd = -1;
}

/* They are the rows of the temporary table `place`, if the format has one. */
int64_t file_events(const struct opened_file *opened)
{
    sqlite3_stmt *statement = NULL;
    int64_t count = 0;

    if (opened->file.db &&
        sqlite3_prepare_v2(opened->file.db, "SELECT count(*) FROM temp.place", -1, &statement, NULL) ==
            SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        count = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    return count;
}
