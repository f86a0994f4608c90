/* The files of an open store: what happens to them from outside is noticed by the next write, and upkeep is
 * none of it. */
#include "open.h"

#include <signal.h>

static const ses_key key = {"app", "user", "session"};

enum { EVENTS = 20, QUIET_PAUSE_US = 3300000 /* the files are looked at one by one for three seconds */ };

static ses_store *open_with_events(const char *path)
{
    ses_store *store = must_open(path, NULL);
    must_create(store, &key, NULL);
    for (int i = 0; i < EVENTS; i++)
        must_append_by_key(store, &key, Q("{'author':'user'}"));
    return store;
}

static int64_t count_events(const char *path)
{
    ses_error error;
    int64_t count = -1;

    ses_store *store = must_open(path, NULL);
    assert_ok(ses_event_count_by_key(store, &key, NULL, &count, NULL, &error));
    ses_close(store);
    return count;
}

static void run(const char *format, const char *path)
{
    char command[1200];
    int status = 1;

    snprintf(command, sizeof command, format, path, path, path, path);
    char *said = support_run(command, &status);
    assert_int_equal(status, 0);
    free(said);
}

static void assert_refused(ses_store *store, const char *words)
{
    ses_error error;

    for (int i = 0; i < 2; i++) {
        assert_code(SES_IO, ses_append_by_key(store, &key, "{}", 2, NULL, NULL, &error));
        assert_message(words);
    }
}

/* ---------------------------------------------------------------------------------------- the log */

/* After `pause_us`, the files are looked at through their folder. */
static void assert_log_is_missed(const struct folder *folder, const char *command, const char *words,
                                 long pause_us)
{
    ses_store *store = open_with_events(folder->path);
    int events = EVENTS;

    for (int i = 0; i < 2 && pause_us; i++, events++) {
        support_pause_us(pause_us);
        must_append_by_key(store, &key, "{}");
    }
    run(command, folder->path);
    assert_refused(store, words);
    ses_close(store); /* which copies its log, as no other program has the file open */
    run("rm -f '%s-wal' '%s-shm'", folder->path);
    assert_int_equal(count_events(folder->path), events);
}

FOLDER_TEST(log_is_deleted)
{
    assert_log_is_missed(folder, "rm '%s-wal' '%s-shm'", "deleted or moved", 0);
}

FOLDER_TEST(log_alone_is_deleted)
{
    assert_log_is_missed(folder, "rm '%s-wal'", "store.db-wal: the store's log", 0);
}

FOLDER_TEST(index_of_the_log_is_deleted)
{
    assert_log_is_missed(folder, "rm '%s-shm'", "store.db-shm", 0);
}

FOLDER_TEST(index_of_the_log_is_replaced)
{
    assert_log_is_missed(folder, "cp '%s-shm' '%s-shm2' && mv '%s-shm2' '%s-shm'", "replaced", 0);
}

FOLDER_TEST(log_is_deleted_when_the_folder_was_quiet)
{
    assert_log_is_missed(folder, "rm '%s-wal'", "deleted or moved", QUIET_PAUSE_US);
}

/* A log that was moved away and comes back is the same. */
FOLDER_TEST(log_comes_back)
{
    ses_store *store = open_with_events(folder->path);

    run("mv '%s-wal' '%s-aside'", folder->path);
    assert_refused(store, "deleted or moved");
    run("mv '%s-aside' '%s-wal'", folder->path);
    must_append_by_key(store, &key, "{}");
    ses_close(store);
    assert_int_equal(count_events(folder->path), EVENTS + 1);
}

/* ---------------------------------------------------------------------------------------- the file */

static void assert_content_is_missed(const struct folder *folder, const char *command)
{
    ses_store *store = open_with_events(folder->path);

    run(command, folder->path);
    assert_refused(store, "overwritten the file");
    ses_close(store);
}

FOLDER_TEST(file_is_emptied)
{
    assert_content_is_missed(folder, ": >'%s'");
}

FOLDER_TEST(file_is_cut_short)
{
    assert_content_is_missed(folder, "dd if=/dev/null of='%s' bs=4096 seek=5 2>/dev/null");
}

FOLDER_TEST(file_becomes_longer)
{
    assert_content_is_missed(folder, "echo more >>'%s'");
}

/* `cp` leaves the file where it is and writes other bytes into it. */
FOLDER_TEST(backup_is_copied_over_the_file)
{
    static const unsigned flags[] = {0, SES_BACKUP_COMPACT};

    for (int i = 0; i < 2; i++) {
        const ses_backup_options options = {.size = sizeof options, .flags = flags[i]};
        char *copy = support_path(folder->folder, i ? "compact.db" : "copy.db");
        ses_store *store = open_with_events(folder->path);
        assert_ok(ses_store_backup(store, copy, &options, &error));
        for (int event = 0; event < EVENTS; event++)
            must_append_by_key(store, &key, "{}");
        run(i ? "cp \"$(dirname '%s')/compact.db\" '%s'" : "cp \"$(dirname '%s')/copy.db\" '%s'",
            folder->path);
        assert_refused(store, "overwritten the file");
        ses_close(store);
        run("rm -f '%s' '%s-wal' '%s-shm'", folder->path);
        free(copy);
    }
}

FOLDER_TEST(times_alone_do_no_harm)
{
    ses_store *store = open_with_events(folder->path);

    run("touch '%s' '%s-wal' '%s-shm'", folder->path);
    must_append_by_key(store, &key, "{}");
    run("chmod 640 '%s'", folder->path);
    must_append_by_key(store, &key, "{}");
    ses_close(store);
    assert_int_equal(count_events(folder->path), EVENTS + 2);
}

FOLDER_TEST(second_name_is_made)
{
    ses_store *store = open_with_events(folder->path);

    run("ln '%s' '%s-other'", folder->path);
    assert_refused(store, "second name");
    run("rm '%s-other'", folder->path);
    must_append_by_key(store, &key, "{}");
    ses_close(store);
    assert_int_equal(count_events(folder->path), EVENTS + 1);
}

/* ----------------------------------------------------------------------------------- none of these */

/* Upkeep by another program, until it is killed: with SQLite alone, and through the library. */
static int run_upkeep(void *context)
{
    static const char *const work[] = {
        "VACUUM",
        "PRAGMA incremental_vacuum",
        "PRAGMA wal_checkpoint(PASSIVE)",
        "CREATE TABLE own AS SELECT randomblob(3000) AS blob FROM events LIMIT 200; DROP TABLE own",
        "PRAGMA wal_checkpoint(TRUNCATE)",
        "PRAGMA wal_checkpoint(RESTART)",
    };
    const struct folder *folder = context;
    char name[1100];

    for (unsigned i = 0;; i++) {
        sqlite3 *db = NULL;
        ses_store *store = NULL;
        ses_error error;
        if (sqlite3_open_v2(folder->path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK)
            (void)sqlite3_busy_timeout(db, 100);
        (void)sqlite3_exec(db, work[i % (sizeof work / sizeof work[0])], NULL, NULL, NULL); /* may be BUSY */
        (void)sqlite3_close(db);
        if (ses_open(folder->path, NULL, &store, &error) == SES_OK) {
            (void)ses_store_maintain(store, NULL, &error);
            ses_close(store);
        }
        snprintf(name, sizeof name, "%s-noise", folder->path);
        const int noise = open(name, O_CREAT | O_WRONLY, 0600);
        (void)close(noise);
        (void)unlink(name);
    }
    return 0;
}

FOLDER_TEST(upkeep_beside_writers)
{
    enum { APPENDS = 3000 };
    char event[3000];
    int64_t count = 0;

    ses_close(open_with_events(folder->path));
    snprintf(event, sizeof event, "{\"text\":\"%02500d\"}", 0);
    const pid_t child = child_start(run_upkeep, folder);
    ses_store *store = must_open(folder->path, NULL);
    for (int i = 0; i < APPENDS; i++) {
        must_append_by_key(store, &key, event);
        if (i % 500 == 499) { /* free pages, which the other program gives back */
            must_delete(store, &key);
            must_create(store, &key, NULL);
        }
    }
    assert_ok(ses_store_maintain(store, NULL, &error));
    assert_ok(ses_event_count_by_key(store, &key, NULL, &count, NULL, &error));
    assert_int_equal(count, 0);
    assert_int_equal(kill(child, SIGKILL), 0);
    (void)waitpid(child, NULL, 0);
    ses_close(store);
}
