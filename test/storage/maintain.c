/* Upkeep: free pages, statistics, the log. */
#include "open.h"

static const ses_key key = {"app", "user", "one"};
static const ses_key other = {"app", "user", "other"};

static int64_t number(const char *path, const char *sql)
{
    char *text = raw_text(path, sql);
    int64_t value = strtoll(text, NULL, 10);
    free(text);
    return value;
}

static int64_t size_of(const char *path, const char *suffix)
{
    char name[1024];
    struct stat status;
    snprintf(name, sizeof name, "%s%s", path, suffix);
    return stat(name, &status) == 0 ? (int64_t)status.st_size : -1;
}

static int maintain(ses_store *store, int64_t limit)
{
    const ses_maintain_options options = {.size = sizeof options, .limit = limit};
    ses_error error;
    int code = ses_store_maintain(store, &options, &error);

    if (code < 0)
        print_error("%s\n", error.message);
    return code;
}

static void append_much(ses_store *store, const ses_key *of)
{
    static char event[20100];

    must_create(store, of, Q("{'a':1}"));
    for (int i = 0; i < 100; i++) {
        snprintf(event, sizeof event, "{\"id\":\"e%d\",\"author\":\"%020000d\"}", i, i);
        must_append_by_key(store, of, event);
    }
}

static void assert_free_pages(ses_store *store, int64_t expected)
{
    ses_space space = {.size = sizeof space};
    ses_error error;

    assert_ok(ses_store_space(store, NULL, &space, &error));
    assert_int_equal(space.free_bytes, expected * 4096);
    assert_true(space.bytes > space.free_bytes);
}

TEST(free_pages_are_given_back)
{
    fixture->options.synchronous = SES_SYNC_NORMAL;
    fixture_reopen(fixture);
    append_much(fixture->store, &key);
    append_much(fixture->store, &other);
    must_delete(fixture->store, &key);
    int64_t before = number(fixture->path, "PRAGMA freelist_count");
    assert_true(before > 400);
    assert_free_pages(fixture->store, before);
    assert_int_equal(maintain(fixture->store, 100), SES_MORE);
    int64_t left = number(fixture->path, "PRAGMA freelist_count"); /* the statistics take some */
    assert_in_range(left, before - 104, before - 100);
    int64_t size = size_of(fixture->path, "");
    assert_int_equal(maintain(fixture->store, 0), SES_OK);
    assert_int_equal(number(fixture->path, "PRAGMA freelist_count"), 0);
    assert_true(size_of(fixture->path, "") < size - 400 * 4096 + 100 * 4096);
    assert_int_equal(maintain(fixture->store, 0), SES_OK);
    must_append_by_key(fixture->store, &other, "{}");
    assert_sound(fixture->path);
}

TEST(the_log_is_emptied)
{
    append_much(fixture->store, &key);
    assert_true(size_of(fixture->path, "-wal") > 0);
    assert_int_equal(maintain(fixture->store, 0), SES_OK);
    assert_int_equal(size_of(fixture->path, "-wal"), 0);
    must_append_by_key(fixture->store, &key, "{}");
}

TEST(a_reader_keeps_the_log)
{
    fixture->options.busy_timeout_ms = 200;
    fixture_reopen(fixture);
    append_much(fixture->store, &key);
    sqlite3 *reader = raw_open(fixture->path);
    raw_run(reader, "BEGIN; SELECT count(*) FROM events");
    must_append_by_key(fixture->store, &key, "{}");
    assert_int_equal(maintain(fixture->store, 0), SES_MORE);
    raw_run(reader, "COMMIT");
    assert_int_equal(maintain(fixture->store, 0), SES_OK);
    assert_int_equal(size_of(fixture->path, "-wal"), 0);
    assert_int_equal(sqlite3_close(reader), SQLITE_OK);
}

TEST(statistics_are_made_and_the_store_opens_with_them)
{
    append_much(fixture->store, &key);
    assert_int_equal(maintain(fixture->store, 0), SES_OK);
    assert_query(fixture->path, "SELECT count(*) FROM sqlite_stat1", "0\n"); /* all is small */
    fixture_reopen(fixture);
    for (int i = 0; i < 2000; i++)
        must_append_by_key(fixture->store, &key, "{}");
    assert_int_equal(maintain(fixture->store, 0), SES_OK);
    assert_query(fixture->path, "SELECT tbl, idx FROM sqlite_stat1", "events|events_by_id\n");
    fixture_reopen(fixture);
    ses_session *session = must_get(fixture->store, &key);
    assert_int_equal(ses_session_event_count(session), 2100);
    ses_session_close(session);
    must_append_by_key(fixture->store, &key, "{}");
    assert_int_equal(maintain(fixture->store, 0), SES_OK);
}

TEST(a_log_of_another_program_is_left_alone)
{
    must_create(fixture->store, &key, NULL);
    fixture->options.checkpoint = SES_CHECKPOINT_EXTERNAL;
    fixture_reopen(fixture);
    must_append_by_key(fixture->store, &key, "{}");
    int64_t before = size_of(fixture->path, "-wal");
    assert_true(before > 0);
    assert_int_equal(maintain(fixture->store, 0), SES_OK);
    assert_true(size_of(fixture->path, "-wal") >= before);
}

TEST(every_kind_of_store_is_maintained)
{
    fixture->options.journal = SES_JOURNAL_ROLLBACK;
    fixture_reopen(fixture);
    append_much(fixture->store, &key);
    must_delete(fixture->store, &key);
    assert_int_equal(maintain(fixture->store, 0), SES_OK);
    assert_int_equal(number(fixture->path, "PRAGMA freelist_count"), 0);
}

MEMORY_TEST(a_store_in_memory_is_maintained)
{
    append_much(fixture->store, &key);
    must_delete(fixture->store, &key);
    assert_int_equal(maintain(fixture->store, 10), SES_MORE);
    assert_int_equal(maintain(fixture->store, 0), SES_OK);
}

/* One that another program has written anew: it keeps no account of its pages. */
TEST(a_file_that_cannot_give_back_does_not_ask_for_more)
{
    append_much(fixture->store, &key);
    ses_close(fixture->store);
    fixture->store = NULL;
    raw_exec(fixture->path, "PRAGMA journal_mode = DELETE; PRAGMA auto_vacuum = NONE; VACUUM");
    assert_ok(ses_open(fixture->path, &fixture->options, &fixture->store, &error));
    must_delete(fixture->store, &key);
    assert_true(number(fixture->path, "PRAGMA freelist_count") > 100);
    assert_int_equal(maintain(fixture->store, 0), SES_OK);
}

TEST(wrong_arguments_are_refused)
{
    const ses_maintain_options options = {.size = sizeof options, .limit = -1};
    ses_space before = {.size = sizeof before};

    assert_ok(ses_store_space(fixture->store, NULL, &before, &error)); /* an upgrade may leave a page free */
    assert_code(SES_MISUSE, ses_store_maintain(NULL, NULL, &error));
    assert_code(SES_INVALID, ses_store_maintain(fixture->store, &options, &error));
    assert_code(SES_MISUSE, ses_store_space(fixture->store, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_store_space(fixture->store, NULL, &(ses_space){.size = 0}, &error));
    assert_code(SES_MISUSE, ses_store_space(NULL, NULL, NULL, &error));
    fixture->options.flags = SES_OPEN_READ_ONLY;
    fixture_reopen(fixture);
    assert_code(SES_READONLY, ses_store_maintain(fixture->store, NULL, &error));
    assert_free_pages(fixture->store, before.free_bytes / 4096);
}
