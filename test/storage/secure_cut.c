/* SES_SECURE: what was cut is in none of the files afterwards, in its events nor in the state that it had led
 * to. */
#include "open.h"

#define SECRET "xyzzy-4711"

static const ses_key key = {"app", "user", "session"};

static size_t count_secrets(const struct fixture *fixture)
{
    return support_count_in_files(fixture->path, SECRET);
}

static void append_about(ses_store *store, const char *word, int number)
{
    char event[4000];

    int len = snprintf(event, sizeof event,
                       "{\"invocationId\":\"%s-%d\",\"author\":\"user\",\"text\":\"%s%0*d%s\",\"actions\":{"
                       "\"stateDelta\":{\"k%d\":\"%s%0*d\",\"%s-k%d\":1}}}",
                       word, number, word, number * 9, number, word, number % 20, word, number, number, word,
                       number % 30);
    assert_true(len > 0 && (size_t)len < sizeof event);
    must_append_by_key(store, &key, event);
}

TEST(cut_events_are_in_no_file)
{
    const ses_cut_options secure = {.size = sizeof secure, .flags = SES_SECURE};
    const ses_point point = {.size = sizeof point, .kind = SES_POINT_SEQ, .seq = 200};
    int64_t deleted = 0;

    must_create(fixture->store, &key, NULL);
    for (int i = 0; i < 200; i++)
        append_about(fixture->store, "harmless", i);
    for (int i = 0; i < 200; i++)
        append_about(fixture->store, SECRET, i);
    assert_true(count_secrets(fixture) > 1000);
    assert_ok(ses_cut_by_key(fixture->store, &key, &point, &secure, &deleted, &error));
    assert_int_equal(deleted, 200);
    assert_int_equal(count_secrets(fixture), 0);
    assert_code(SES_UNCHANGED, ses_cut_by_key(fixture->store, &key, &point, &secure, &deleted, &error));
    assert_sound(fixture->path);
}

/* The cut still stands. */
TEST(a_reader_keeps_the_log)
{
    const ses_cut_options secure = {.size = sizeof secure, .flags = SES_SECURE};
    const ses_point beginning = {.size = sizeof beginning, .kind = SES_POINT_SEQ};
    int64_t deleted = 0;

    fixture->options.busy_timeout_ms = 300;
    fixture_reopen(fixture);
    must_create(fixture->store, &key, NULL);
    append_about(fixture->store, SECRET, 1);
    sqlite3 *reader = raw_open(fixture->path);
    raw_run(reader, "BEGIN; SELECT count(*) FROM events");
    assert_code(SES_MORE, ses_cut_by_key(fixture->store, &key, &beginning, &secure, &deleted, &error));
    assert_int_equal(deleted, 1);
    assert_true(count_secrets(fixture) > 0);
    raw_run(reader, "COMMIT");
    assert_int_equal(sqlite3_close(reader), SQLITE_OK);
    assert_code(SES_UNCHANGED, ses_cut_by_key(fixture->store, &key, &beginning, &secure, &deleted, &error));
    assert_int_equal(count_secrets(fixture), 0);
}
