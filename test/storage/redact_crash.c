/*
 * The program stops at a disk operation of a secure redaction, at each of them in turn, until the file is opened again by an
 * ordinary program. Then the event is redacted everywhere or nowhere. The redaction that is called again leaves nothing of
 * what it replaced in the file or its log.
 */
#include "open.h"
#include "seslite_erase.h"
#include "seslite_search.h"

#include "../../tools/bench/over_vfs.h"

#define SECRET "xyzzy4711"

static const ses_key key = {"app", "user", "session"};
static const int64_t seqs[] = {0, 2, 3};

/* ------------------------------------------------------------------------------------------ the disk */

static struct {
    long operations; /* that change something */
    long stop_at;    /* from this one on nothing is changed; 0: never */
    bool stopped;
} disk;

static bool stops(bool *is_first)
{
    *is_first = false;
    if (!disk.stopped && ++disk.operations == disk.stop_at) {
        disk.stopped = true;
        *is_first = true;
    }
    return disk.stopped;
}

static int disk_write(sqlite3_file *file, const void *data, int bytes, sqlite3_int64 offset)
{
    bool is_first;
    const bool stopped = stops(&is_first);
    int rc = SQLITE_OK;

    /* The write at which it stops is torn: half of it is done. */
    if (!stopped || is_first)
        rc = over_file_of(file)->real->xWrite(file, data, is_first ? bytes / 2 : bytes, offset);
    return stopped ? SQLITE_IOERR_WRITE : rc;
}

static int disk_sync(sqlite3_file *file, int flags)
{
    bool is_first;
    return stops(&is_first) ? SQLITE_IOERR_FSYNC : over_file_of(file)->real->xSync(file, flags);
}

static int disk_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    bool is_first;
    return stops(&is_first) ? SQLITE_IOERR_TRUNCATE : over_file_of(file)->real->xTruncate(file, size);
}

static int disk_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    bool is_first;
    (void)vfs;
    return stops(&is_first) ? SQLITE_IOERR_DELETE : over_below->xDelete(over_below, name, sync);
}

static int disk_shm_unmap(sqlite3_file *file, int remove_it)
{
    return over_file_of(file)->real->xShmUnmap(file, remove_it && !disk.stopped);
}

static void make_disk(void)
{
    over_init("stopping", (sqlite3_io_methods){.xWrite = disk_write,
                                               .xTruncate = disk_truncate,
                                               .xSync = disk_sync,
                                               .xShmUnmap = disk_shm_unmap});
    over_vfs.xDelete = disk_delete;
}

/* ------------------------------------------------------------------------------------------- the store */

static void remove_files(const char *path)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    char name[1024];

    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        (void)unlink(name);
    }
}

static void append_about(ses_store *store, const char *word, int number)
{
    static char event[20000];

    snprintf(
        event, sizeof event,
        "{\"id\":\"e%d\",\"timestamp\":%d,\"content\":{\"parts\":[{\"text\":\"a %s%0*d\"}]},\"actions\":{"
        "\"stateDelta\":{\"k%d\":\"%s\",\"user:u%d\":\"%s\"}}}",
        number, number, word, number == 3 ? 9000 : 20, 0, number, word, number, word);
    must_append_by_key(store, &key, event);
}

/* Events 2 and 3, and the initial state, have the secret. */
static void fill(const char *path, int journal)
{
    const ses_open_options options = {.size = sizeof options, .journal = journal};
    ses_store *store = NULL;
    ses_error error;

    remove_files(path);
    assert_ok(ses_open(path, &options, &store, &error));
    must_create(store, &key, Q("{'first':'" SECRET "'}"));
    for (int i = 1; i <= 5; i++)
        append_about(store, i == 2 || i == 3 ? SECRET : "harmless", i);
    assert_ok(ses_store_index(store, NULL, NULL, &error));
    ses_close(store);
}

static int redact(const char *path, int journal, ses_error *error)
{
    const ses_redact_options secure = {.size = sizeof secure, .flags = SES_REDACT_STATE | SES_SECURE};
    const ses_open_options options = {.size = sizeof options, .journal = journal, .busy_timeout_ms = -1};
    ses_store *store = NULL;
    int code = ses_open(path, &options, &store, error);

    if (code == SES_OK)
        code = ses_redact_by_key(store, &key, seqs, sizeof seqs / sizeof seqs[0], &secure, NULL, error);
    ses_close(store);
    return code;
}

/* Whatever happened, all of it happened. */
static bool is_redacted(const char *path, int journal)
{
    const ses_open_options options = {.size = sizeof options, .journal = journal};
    ses_store *store = NULL;
    ses_session *session = NULL;
    ses_error error;
    int secrets = 0;

    assert_ok(ses_open(path, &options, &store, &error));
    assert_ok(ses_get(store, &key, NULL, &session, &error));
    assert_int_equal(ses_session_event_count(session), 5);
    for (size_t i = 0; i < 5; i++)
        secrets += strstr(ses_session_event(session, i)->json, SECRET) != NULL;
    assert_int_equal(strstr(support_state(session, NULL), SECRET) != NULL, secrets > 0);
    assert_true(secrets == 0 || secrets == 2);
    assert_int_equal(ses_session_version(session), secrets ? 5 : 6);
    ses_session_close(session);
    ses_close(store);
    assert_sound(path);
    return secrets == 0;
}

static size_t count_in(const char *path, const char *suffix)
{
    char name[1024];
    size_t len = 0;
    size_t met = 0;

    snprintf(name, sizeof name, "%s%s", path, suffix);
    char *bytes = support_read_file(name, &len);
    for (size_t i = 0; bytes && i + sizeof SECRET <= len; i++)
        met += memcmp(bytes + i, SECRET, sizeof SECRET - 1) == 0;
    free(bytes);
    return met;
}

static size_t count_secrets(const char *path)
{
    return count_in(path, "") + count_in(path, "-wal") + count_in(path, "-journal");
}

/* ------------------------------------------------------------------------------------------------ tests */

static int redact_until_it_stops(const char *path, int journal, long stop_at)
{
    ses_error error;

    memset(&disk, 0, sizeof disk);
    disk.stop_at = stop_at;
    assert_int_equal(sqlite3_vfs_register(&over_vfs, 1), SQLITE_OK);
    const int code = redact(path, journal, &error);
    assert_int_equal(sqlite3_vfs_unregister(&over_vfs), SQLITE_OK);
    if (code < 0 && code != SES_IO && code != SES_CANTOPEN && code != SES_UNKNOWN)
        fail_msg("%s: %s", ses_code_name(code), error.message);
    return code;
}

static void stop_everywhere(const struct folder *folder, int journal)
{
    int before = 0;
    int after = 0;
    ses_error error;

    fill(folder->path, journal);
    assert_true(count_secrets(folder->path) > 0);
    assert_int_equal(redact_until_it_stops(folder->path, journal, 0), SES_OK);
    assert_int_equal(count_secrets(folder->path), 0);
    const long operations = disk.operations;
    assert_in_range(operations, 10, 1000);
    for (long n = 1; n <= operations; n++) {
        fill(folder->path, journal);
        const int code = redact_until_it_stops(folder->path, journal, n);
        const bool redacted = is_redacted(folder->path, journal);
        if (code < 0 && code != SES_UNKNOWN)
            assert_false(redacted);
        before += !redacted;
        after += redacted;
        const int again = redact(folder->path, journal, &error);
        assert_int_equal(again, redacted ? SES_UNCHANGED : SES_OK);
        assert_int_equal(count_secrets(folder->path), 0);
        assert_true(is_redacted(folder->path, journal));
    }
    assert_true(before > 0 &&
                (after > 0 || journal == SES_JOURNAL_ROLLBACK)); /* there the last step commits */
}

static void test_a_redaction_that_stops_anywhere(void **state)
{
    stop_everywhere(*state, SES_JOURNAL_WAL);
}

static void test_a_redaction_that_stops_anywhere_with_a_rollback_journal(void **state)
{
    stop_everywhere(*state, SES_JOURNAL_ROLLBACK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_redaction_that_stops_anywhere, folder_setup, folder_teardown),
        cmocka_unit_test_setup_teardown(test_a_redaction_that_stops_anywhere_with_a_rollback_journal,
                                        folder_setup, folder_teardown),
    };
    make_disk();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
