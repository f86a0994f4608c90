/*
 * SES_DELETE_SECURE: what was deleted is in none of the files afterwards. SQLite is told not to overwrite anything by
 * itself here, as it was built on some systems.
 */
#include "open.h"

#define SECRET "xyzzy-4711"

static const ses_key key = {"app", "user", SECRET "-session"};
static const ses_delete_options secure = {.size = sizeof secure, .flags = SES_DELETE_SECURE};

static int overwrite_nothing(sqlite3 *handle, char **message, const struct sqlite3_api_routines *api)
{
    (void)message;
    (void)api;
    return sqlite3_exec(handle, "PRAGMA secure_delete = OFF", NULL, NULL, NULL);
}

static int group_setup(void **state)
{
    (void)state;
    return sqlite3_auto_extension((void (*)(void))overwrite_nothing) == SQLITE_OK ? 0 : -1;
}

/* ---------------------------------------------------------------------------------------- looking */

static size_t count_in(const char *path, const char *suffix)
{
    char name[1024];
    size_t len = 0;
    size_t met = 0;

    snprintf(name, sizeof name, "%s%s", path, suffix);
    char *bytes = support_read_file(name, &len);
    for (size_t at = 0; bytes && at + strlen(SECRET) <= len; at++) {
        met += memcmp(bytes + at, SECRET, strlen(SECRET)) == 0;
    }
    free(bytes);
    return met;
}

static size_t count_secrets(const struct fixture *fixture)
{
    return count_in(fixture->path, "") + count_in(fixture->path, "-wal") +
           count_in(fixture->path, "-journal");
}

/* ---------------------------------------------------------------------------------------- writing */

/* An event whose id, body, keys and values hold the word, so long as the number says. */
static void append_about(ses_store *store, const ses_key *of, const char *word, int number)
{
    static char event[60000];
    const int len = number % 7 == 0 ? 20000 : number % 3 == 0 ? 1500 : 30;

    snprintf(
        event, sizeof event,
        "{\"id\":\"%s-%d\",\"invocationId\":\"%s-i%d\",\"author\":\"%s\",\"content\":{\"parts\":[{\"text\":"
        "\"%s%0*d%s\"}]},\"actions\":{\"stateDelta\":{\"%s-k%d\":\"%s%0*d\",\"%s\":\"%s%0*d\"}}}",
        word, number, word, number / 4, word, word, len, number, word, word, number % 20, word, len, number,
        word, word, number % 500, number);
    must_append_by_key(store, of, event);
}

/* The session with secrets, between others that go on meanwhile. */
static void fill(ses_store *store)
{
    static const ses_key before = {"app", "user", "before"};
    static const ses_key after = {"app", "user", "after"};

    must_create(store, &before, Q("{'a':1}"));
    must_create(store, &key, Q("{'" SECRET "':'" SECRET "'}"));
    must_create(store, &after, Q("{'a':1}"));
    for (int i = 0; i < 300; i++) {
        append_about(store, &before, "harmless", i);
        append_about(store, &key, SECRET, i);
        append_about(store, &after, "other", i);
    }
}

static void reopen_with(struct fixture *fixture, int journal)
{
    fixture->options.journal = journal;
    fixture->options.synchronous = SES_SYNC_NORMAL;
    fixture_reopen(fixture);
}

/* ------------------------------------------------------------------------------------------ tests */

static void delete_and_look(struct fixture *fixture)
{
    int64_t deleted = 0;
    ses_error error;

    fill(fixture->store);
    assert_true(count_secrets(fixture) > 1000);
    assert_ok(ses_delete(fixture->store, &key, &secure, &deleted, &error));
    assert_int_equal(deleted, 1);
    assert_int_equal(count_secrets(fixture), 0);
    assert_ok(ses_delete(fixture->store, &key, &secure, &deleted, &error));
    assert_int_equal(deleted, 0);
    assert_sound(fixture->path);
}

static void test_a_deleted_session_is_in_no_file(void **state)
{
    delete_and_look(*state);
}

static void test_a_deleted_session_is_in_no_file_with_a_rollback_journal(void **state)
{
    struct fixture *fixture = *state;
    reopen_with(fixture, SES_JOURNAL_ROLLBACK);
    delete_and_look(fixture);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_deleted_session_is_in_no_file),
        TEST(test_a_deleted_session_is_in_no_file_with_a_rollback_journal),
    };
    return cmocka_run_group_tests_name("secure deletion", tests, group_setup, NULL);
}
