/* Opening where little may be written: read-only media and files, pipes in the way, a limit of the file's
 * size. */
#define _GNU_SOURCE
#include "released.h"

#include <signal.h>
#include <sys/resource.h>

#if defined(__linux__)
#include <sched.h>
#include <sys/mount.h>
#endif

static const ses_key key = {"app", "user", "session"};

static int make_store(const char *path)
{
    ses_store *store = NULL;
    ses_error error;
    int code = ses_open(path, NULL, &store, &error);
    if (code == SES_OK)
        code = ses_create(store, &key, Q("{'k':1}"), SES_NUL, NULL, NULL, &error);
    ses_close(store);
    return code;
}

/* Opens to read and reads the key; writes no file. */
static int read_store(const char *path, ses_error *error)
{
    const ses_open_options options = {.size = sizeof options, .flags = SES_OPEN_READ_ONLY};
    ses_store *store = NULL;
    char *json = NULL;
    int code = ses_open(path, &options, &store, error);

    if (code == SES_OK)
        code = ses_state_get_by_key(store, &key, "k", NULL, &json, NULL, error);
    if (code == SES_OK && strcmp(json, "1") != 0)
        code = SES_INTERNAL;
    ses_free(json);
    ses_close(store);
    return code;
}

enum { CANNOT = 100, WRONG_MESSAGE = 101 };

static int told(int code, const ses_error *error, const char *words)
{
    if (words && !strstr(error->message, words)) {
        fprintf(stderr, "the message \"%s\" does not say \"%s\"\n", error->message, words);
        return WRONG_MESSAGE;
    }
    return -code;
}

/* ------------------------------------------------------------------------------------- read-only media */

struct medium {
    const char *folder;
    bool with_log; /* a log with something in it lies beside the file */
    bool is_old;   /* version 0.2.0 made it */
    const char *words;
};

#if defined(__linux__)
/* In a child, with mounts of its own. */
static int run_on_read_only_medium(void *context)
{
    const struct medium *medium = context;
    char path[512];
    char kept[640];
    char log[520];
    ses_store *store = NULL;
    ses_error error = {.message = ""};

    snprintf(path, sizeof path, "%s/store.db", medium->folder);
    snprintf(log, sizeof log, "%s-wal", path);
    snprintf(kept, sizeof kept, "%s-kept", log);
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", medium->folder, "tmpfs", 0, NULL) != 0)
        return CANNOT;
    if (medium->is_old)
        released_make("0.2.0", path);
    else if (make_store(path) != SES_OK)
        return 1;
    if (medium->with_log) {
        if (ses_open(path, NULL, &store, &error) < 0 ||
            ses_append_by_key(store, &key, "{}", 2, NULL, NULL, &error) < 0 || link(log, kept) != 0)
            return 2;
        ses_close(store);
        if (rename(kept, log) != 0)
            return 3;
    }
    if (mount("none", medium->folder, NULL, MS_REMOUNT | MS_RDONLY, NULL) != 0)
        return CANNOT;
    int code = read_store(path, &error);
    return told(code, &error, medium->words);
}

static void assert_medium(struct medium medium, int expected)
{
    int result = child_run(run_on_read_only_medium, &medium);
    if (result == CANNOT)
        print_message("skipped: nothing can be mounted here\n");
    else
        assert_int_equal(-result, expected);
}

FOLDER_TEST(read_only_medium)
{
    assert_medium((struct medium){.folder = folder->folder}, SES_OK);
}

FOLDER_TEST(read_only_medium_with_a_log)
{
    assert_medium(
        (struct medium){folder->folder, .with_log = true, .words = "copy the file (and its -wal file)"},
        SES_CANTOPEN);
}

FOLDER_TEST(older_store_on_a_read_only_medium)
{
    assert_medium((struct medium){folder->folder, .is_old = true, .words = "run seslite migrate"},
                  SES_READONLY);
}
#endif

/* --------------------------------------------------------------------------------- files without rights */

struct unwritable {
    const char *path;
    const char *words;
};

static int run_without_rights(void *context)
{
    const struct unwritable *file = context;
    ses_error error = {.message = ""};

    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
        return CANNOT;
    int code = read_store(file->path, &error);
    return told(code, &error, file->words);
}

static void assert_unwritable(const struct folder *folder, mode_t folder_mode, int expected,
                              const char *words)
{
    struct unwritable file = {folder->path, words};

    assert_int_equal(make_store(folder->path), SES_OK);
    assert_int_equal(chmod(folder->path, 0444), 0);
    assert_int_equal(chmod(folder->folder, folder_mode), 0);
    int result = child_run(run_without_rights, &file);
    (void)chmod(folder->folder, 0700);
    if (result == CANNOT)
        print_message("skipped: the rights of root cannot be given up\n");
    else
        assert_int_equal(-result, expected);
}

FOLDER_TEST(file_that_nobody_may_write)
{
    assert_unwritable(folder, 0777, SES_OK, NULL);
}

FOLDER_TEST(file_and_folder_that_nobody_may_write)
{
    assert_unwritable(folder, 0555, SES_CANTOPEN, "make the folder writable, or copy the file");
}

/* ------------------------------------------------------------------------------------- pipes in the way */

FOLDER_TEST(pipes_beside_the_file)
{
    static const char *const suffixes[] = {"-journal", "-wal", "-shm"};

    assert_int_equal(make_store(folder->path), SES_OK);
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        char companion[512];
        ses_store *store = NULL;
        snprintf(companion, sizeof companion, "%s%s", folder->path, suffixes[i]);
        assert_int_equal(mkfifo(companion, 0600), 0);
        alarm(10); /* a hang ends the test */
        assert_code(SES_CANTOPEN, ses_open(folder->path, NULL, &store, &error));
        alarm(0);
        assert_message(companion);
        assert_int_equal(unlink(companion), 0);
    }
    assert_int_equal(make_store(folder->path), SES_EXISTS);
}

/* ------------------------------------------------------------------------------------- a limit of size */

/* In a child, because the limit is the process's. A write that does not fit is FULL, and stored events
 * stay. */
static int run_into_a_limit(void *context)
{
    const struct folder *folder = context;
    const struct rlimit limit = {400 * 1024, 400 * 1024};
    ses_store *store = NULL;
    ses_session *session = NULL;
    ses_error error;
    char event[4096];
    int stored = 0;
    int code = SES_OK;

    memset(event, 'x', sizeof event);
    memcpy(event, "{\"text\":\"", 9);
    memcpy(event + sizeof event - 2, "\"}", 2);
    if (signal(SIGXFSZ, SIG_IGN) == SIG_ERR || setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return CANNOT;
    if (ses_open(folder->path, NULL, &store, &error) < 0)
        return 1;
    while (code == SES_OK && stored < 1000) {
        code = ses_append_by_key(store, &key, event, sizeof event, NULL, NULL, &error);
        stored += code == SES_OK;
    }
    if (code != SES_FULL || stored == 0) {
        fprintf(stderr, "after %d events: %s\n", stored, error.message);
        return -code;
    }
    if (ses_get(store, &key, NULL, &session, &error) < 0 ||
        ses_session_event_count(session) != (size_t)stored)
        return 2;
    ses_session_close(session);
    ses_close(store);
    return 0;
}

FOLDER_TEST(limit_of_the_file_size)
{
    assert_int_equal(make_store(folder->path), SES_OK);
    assert_int_equal(child_run(run_into_a_limit, folder), 0);
    assert_sound(folder->path);
}

/* --------------------------------------------------------------------------------------- starting SQLite */

int __real_sqlite3_initialize(void);
int __wrap_sqlite3_initialize(void);
static int initialized;

int __wrap_sqlite3_initialize(void)
{
    initialized++;
    return __real_sqlite3_initialize();
}

/* An SQLite that was built with SQLITE_OMIT_AUTOINIT does not start by itself. */
FOLDER_TEST(sqlite_is_started)
{
    initialized = 0;
    assert_int_equal(make_store(folder->path), SES_OK);
    assert_int_not_equal(initialized, 0);
}
