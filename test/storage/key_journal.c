/* A journal or a log that a crash has left, which only a program with the key can play back. */
#include "key.h"
#include "storage/damage.h"

static const ses_key session = {"app", "user", "session"};

enum { EVENTS = 40 };

/* The files are kept as they are before the store is closed. */
static void make_store(const char *path, int journal, struct store_files *files)
{
    const ses_open_options options = {.size = sizeof options, .journal = journal};
    char event[3000];

    ses_store *store = must_open(path, &options);
    must_create(store, &session, "{\"k\":1}");
    for (int i = 0; i < EVENTS; i++) {
        snprintf(event, sizeof event, "{\"author\":\"%02000d\"}", i);
        must_append_by_key(store, &session, event);
    }
    store_files_read(files, path);
    ses_close(store);
}

/* The files as they are in the middle of a transaction, some pages of which are in the store's file. */
static void crash(const char *path, struct store_files *files)
{
    sqlite3 *db = raw_open(path);

    store_files_free(files);
    raw_run(db, "PRAGMA cache_size = 2; BEGIN; UPDATE events SET author = author || 'x';"
                "DELETE FROM session_state");
    store_files_read(files, path);
    raw_run(db, "ROLLBACK");
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_true(files->parts[STORE_JOURNAL].len > 4096);
}

static void assert_whole(const char *path)
{
    const ses_open_options options = {.size = sizeof options, .journal = SES_JOURNAL_ROLLBACK};
    const ses_check_options log = {.size = sizeof log, .level = SES_CHECK_LOG};
    int64_t problems = -1;
    ses_error error;

    ses_store *store = must_open(path, &options);
    ses_session *handle = must_get(store, &session);
    assert_int_equal(ses_session_event_count(handle), EVENTS);
    assert_string_equal(support_state(handle, NULL), "{\"k\":1}");
    ses_session_close(handle);
    assert_ok(ses_store_check(store, &log, &problems, &error));
    assert_int_equal(problems, 0);
    ses_close(store);
}

static void assert_same(const struct bytes *expected, const struct bytes *bytes)
{
    assert_int_equal(bytes->len, expected->len);
    if (bytes->len > 0)
        assert_memory_equal(bytes->data, expected->data, bytes->len);
}

/* With another key SQLite may already give the file the length that it had, but it cannot read the
 * journal. */
static void assert_refused(const char *path, const struct store_files *crashed, const void *key, bool is_same)
{
    struct store_files files = {.name = NULL};
    ses_store *store = NULL;
    ses_error error;

    store_files_write(crashed, path);
    assert_code(SES_KEY, key_open(path, key, &store, &error));
    assert_null(store);
    store_files_read(&files, path);
    assert_same(&crashed->parts[STORE_LOG], &files.parts[STORE_LOG]);
    assert_same(&crashed->parts[STORE_JOURNAL], &files.parts[STORE_JOURNAL]);
    if (is_same)
        assert_same(&crashed->parts[STORE_FILE], &files.parts[STORE_FILE]);
    store_files_free(&files);
}

/* Without a key SQLite would take the journal for one that is empty, and delete it. */
FOLDER_TEST(a_journal_waits_for_the_right_key)
{
    struct store_files crashed = {.name = NULL};

    key_need();
    make_store(folder->path, SES_JOURNAL_ROLLBACK, &crashed);
    crash(folder->path, &crashed);
#ifdef ON_ENCRYPTED_STORES
    assert_refused(folder->path, &crashed, NULL, true);
    assert_whole(folder->path);
    assert_refused(folder->path, &crashed, second_key, false);
    assert_whole(folder->path);
#else
    assert_refused(folder->path, &crashed, second_key, true);
    assert_whole(folder->path);
#endif
    store_files_free(&crashed);
}

FOLDER_TEST(a_log_waits_for_the_right_key)
{
    struct store_files crashed = {.name = NULL};

    key_need();
    make_store(folder->path, SES_JOURNAL_WAL, &crashed);
    assert_true(crashed.parts[STORE_LOG].len > 4096);
#ifdef ON_ENCRYPTED_STORES
    assert_refused(folder->path, &crashed, NULL, true);
#endif
    assert_refused(folder->path, &crashed, second_key, true);
    assert_whole(folder->path);
    store_files_free(&crashed);
}

/* An SQLite that knows no cipher plays no journal back, either. */
FOLDER_TEST(an_encrypted_file_with_a_journal_stays_as_it_is)
{
    static const unsigned char fractions[] = {64, 32, 32};
    struct store_files crashed = {.name = NULL};

    make_store(folder->path, SES_JOURNAL_ROLLBACK, &crashed);
    crash(folder->path, &crashed);
    memset(crashed.parts[STORE_FILE].data, 0x9c, 16);
    memcpy(crashed.parts[STORE_FILE].data + 21, fractions, sizeof fractions);
    assert_refused(folder->path, &crashed, NULL, true);
    store_files_free(&crashed);
}
