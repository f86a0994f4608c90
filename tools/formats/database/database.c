#include "formats/database/database.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "formats/bytes.h"
#include "formats/database/rows.h"

enum { BUSY_MS = 5000 };

/* ---------------------------------------------------------------------------------------- companion files */

/* The size of the file PATH with this suffix, or -1 if it does not exist. */
static int64_t size_of(const char *path, const char *suffix)
{
    struct text name = {NULL, 0, 0};
    struct stat info;

    text_puts(&name, path);
    text_puts(&name, suffix);
    const int64_t size = stat(name.data, &info) == 0 ? (int64_t)info.st_size : -1;
    text_free(&name);
    return size;
}

static void take_stamp(const char *path, int64_t stamp[4])
{
    struct stat info = {.st_size = -1};

    (void)stat(path, &info);
    stamp[0] = (int64_t)info.st_ino;
    stamp[1] = (int64_t)info.st_size;
    stamp[2] = (int64_t)info.st_mtime;
#if defined(__APPLE__)
    stamp[3] = (int64_t)info.st_mtimespec.tv_nsec;
#else
    stamp[3] = (int64_t)info.st_mtim.tv_nsec;
#endif
}

int foreign_changed(const struct foreign_database *database, ses_error *error)
{
    int64_t stamp[4];

    if (!database->watched)
        return SES_OK;
    take_stamp(database->path, stamp);
    if (memcmp(stamp, database->stamp, sizeof stamp) == 0 && size_of(database->path, "-wal") <= 0)
        return SES_OK;
    return ses__error_set(error, SES_BUSY,
                          "another program began to write to %s while it was being read: try again",
                          database->path);
}

/* ------------------------------------------------------------------------------------------------- copies */

static bool copy_bytes(int from, int to)
{
    char data[65536];
    ssize_t len;

    while ((len = read(from, data, sizeof data)) != 0)
        if (len < 0 ? errno != EINTR : !write_whole(to, data, (size_t)len))
            return false;
    return true;
}

/* Copies the file PATH with this suffix, if it exists. */
static int copy_file(const char *path, const char *folder, const char *suffix, ses_error *error)
{
    struct text from = {NULL, 0, 0};
    struct text to = {NULL, 0, 0};
    int code = SES_OK;

    text_print(&from, "%s%s", path, suffix);
    text_print(&to, "%s/copy.db%s", folder, suffix);
    int in = open(from.data, O_RDONLY | O_CLOEXEC);
    int out = in < 0 ? -1 : open(to.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (in < 0 ? errno != ENOENT : out < 0 || !copy_bytes(in, out))
        code = ses__error_set(error, errno == ENOSPC ? SES_FULL : SES_IO, "cannot copy %s to %s: %s",
                              from.data, to.data, strerror(errno));
    if (in >= 0)
        (void)close(in);
    if (out >= 0 && close(out) != 0 && code == SES_OK)
        code = ses__error_set(error, SES_IO, "cannot write %s: %s", to.data, strerror(errno));
    text_free(&from);
    text_free(&to);
    return code;
}

static void remove_copy(char *folder)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};

    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        struct text name = {NULL, 0, 0};
        text_print(&name, "%s/copy.db%s", folder, suffixes[i]);
        (void)unlink(name.data);
        text_free(&name);
    }
    (void)rmdir(folder);
    free(folder);
}

/* The copy must be consistent: the files must not change while they are copied. */
static int copy_database(struct foreign_database *database, ses_error *error)
{
    static const char *const suffixes[] = {"", "-wal", "-journal"};
    const char *place = getenv("TMPDIR");
    struct text folder = {NULL, 0, 0};
    int64_t stamp[4];
    int code = SES_OK;

    text_print(&folder, "%s/seslite-import-XXXXXX", place && *place ? place : "/var/tmp");
    if (!mkdtemp(folder.data)) {
        code = ses__error_set(error, SES_CANTOPEN, "cannot create a temporary folder (%s): %s", folder.data,
                              strerror(errno));
        text_free(&folder);
        return code;
    }
    database->copy = folder.data;
    take_stamp(database->path, database->stamp);
    const int64_t log = size_of(database->path, "-wal");
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0] && code == SES_OK; i++)
        code = copy_file(database->path, folder.data, suffixes[i], error);
    take_stamp(database->path, stamp);
    if (code == SES_OK &&
        (memcmp(stamp, database->stamp, sizeof stamp) != 0 || log != size_of(database->path, "-wal")))
        code = ses__error_set(error, SES_BUSY,
                              "another program wrote to %s while it was being copied: try again",
                              database->path);
    return code;
}

/* ------------------------------------------------------------------------------------------------ opening */

static void add_uri(struct text *uri, const char *path)
{
    text_puts(uri, "file:");
    for (; *path; path++) {
        if (*path == '%' || *path == '?' || *path == '#')
            text_print(uri, "%%%02X", (unsigned char)*path);
        else
            text_add(uri, path, 1);
    }
}

/* The content of the file must not make SQLite do anything but read tables. */
static int restrain(sqlite3 *db, size_t max_bytes)
{
    static const int off[] = {SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW,
                              SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION};
    int ok = SQLITE_OK;

    for (size_t i = 0; i < sizeof off / sizeof off[0] && ok == SQLITE_OK; i++)
        ok = sqlite3_db_config(db, off[i], 0, (int *)NULL);
    if (ok == SQLITE_OK)
        ok = sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
    if (ok == SQLITE_OK)
        ok = sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)NULL);
    /* Leaves some room for the other columns of a row with a long text. */
    (void)sqlite3_limit(db, SQLITE_LIMIT_LENGTH,
                        max_bytes < 500000000 ? (int)(max_bytes * 2 + 1000000) : 1000000000);
    return ok == SQLITE_OK ? sqlite3_busy_timeout(db, BUSY_MS) : ok;
}

static int begin(sqlite3 *db)
{
    return sqlite3_exec(db,
                        "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = FILE; "
                        "PRAGMA cache_size = -16000; BEGIN; SELECT count(*) FROM main.sqlite_schema",
                        NULL, NULL, NULL);
}

static int try_to_open(struct foreign_database *database, const char *path, int flags, const char *query,
                       size_t max_bytes)
{
    struct text uri = {NULL, 0, 0};

    add_uri(&uri, path);
    text_puts(&uri, query);
    int engine_code =
        sqlite3_open_v2(uri.data, &database->db, flags | SQLITE_OPEN_URI | SQLITE_OPEN_PRIVATECACHE, NULL);
    text_free(&uri);
    if (engine_code == SQLITE_OK)
        engine_code = restrain(database->db, max_bytes);
    return engine_code == SQLITE_OK ? begin(database->db) : engine_code;
}

static bool uses_log(const char *path)
{
    unsigned char head[20] = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t len = fd < 0 ? -1 : read(fd, head, sizeof head);

    if (fd >= 0)
        (void)close(fd);
    return len == (ssize_t)sizeof head && (head[18] == 2 || head[19] == 2);
}

/* SQLite looks for the WAL and the journal next to the target of a symbolic link. */
static char *without_links(const char *path)
{
    char *real = realpath(path, NULL);
    return real ? real : copy_text(path);
}

/* Opens the file in place. Returns SQLITE_CANTOPEN if it has to be copied first. */
static int open_in_place(struct foreign_database *database, size_t max_bytes)
{
    const char *path = database->path;
    const bool log = uses_log(path);
    const bool shared = size_of(path, "-shm") >= 0 && size_of(path, "-wal") >= 0;

    if (log && !shared && size_of(path, "-wal") > 0)
        return SQLITE_CANTOPEN;
    database->watched = log && !shared;
    if (database->watched)
        take_stamp(path, database->stamp);
    return try_to_open(database, path, SQLITE_OPEN_READONLY, database->watched ? "?immutable=1" : "?mode=ro",
                       max_bytes);
}

static bool needs_copy(int engine_code)
{
    const int plain = engine_code & 0xff;
    return plain == SQLITE_CANTOPEN || plain == SQLITE_READONLY;
}

int foreign_open_database(const char *path, size_t max_bytes, struct foreign_database *database,
                          ses_error *error)
{
    *database = (struct foreign_database){.db = NULL};
    database->path = without_links(path);
    int engine_code = open_in_place(database, max_bytes);
    if (needs_copy(engine_code)) {
        (void)sqlite3_close(database->db);
        database->db = NULL;
        database->watched = false;
        int code = copy_database(database, error);
        if (code != SES_OK)
            return code;
        struct text copy = {NULL, 0, 0};
        text_print(&copy, "%s/copy.db", database->copy);
        engine_code = try_to_open(database, copy.data, SQLITE_OPEN_READWRITE, "", max_bytes);
        text_free(&copy);
    }
    return engine_code == SQLITE_OK ? SES_OK : rows_failed(database->db, "opening the file", error);
}

void foreign_close_database(struct foreign_database *database)
{
    (void)sqlite3_close(database->db);
    if (database->copy)
        remove_copy(database->copy);
    free(database->path);
    *database = (struct foreign_database){.db = NULL};
}
