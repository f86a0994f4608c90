/*
 * SES_SECURE: what was deleted is in none of the files afterwards. SQLite is told not to overwrite anything
 * by itself here, as it was built on some systems.
 */
#include "open.h"
#include "seslite_erase.h"
#include "seslite_usage.h"
#include "unused_bytes.h"

#define SECRET "xyzzy-4711"

static const ses_key key = {"app", "user", SECRET "-session"};
static const ses_delete_options secure = {.size = sizeof secure, .flags = SES_SECURE};

static int overwrite_nothing(sqlite3 *handle, char **message, const struct sqlite3_api_routines *api)
{
    (void)message;
    (void)api;
    return sqlite3_exec(handle, "PRAGMA secure_delete = OFF", NULL, NULL, NULL);
}

static int group_setup(void **state)
{
    (void)state;
    support_folders_in_memory();
    return sqlite3_auto_extension((void (*)(void))overwrite_nothing) == SQLITE_OK ? 0 : -1;
}

/* ---------------------------------------------------------------------------------------- looking */

static size_t count_secrets(const struct fixture *fixture)
{
    return support_count_in_files(fixture->path, SECRET);
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

TEST(a_deleted_session_is_in_no_file)
{
    delete_and_look(fixture);
}

TEST(a_deleted_session_is_in_no_file_with_a_rollback_journal)
{
    reopen_with(fixture, SES_JOURNAL_ROLLBACK);
    delete_and_look(fixture);
}

TEST(a_deleted_user_is_in_no_file)
{
    static const ses_key of_user = {"app", SECRET "-user", "one"};

    must_create(fixture->store, &of_user, Q("{'user:" SECRET "':'" SECRET "'}"));
    for (int i = 0; i < 30; i++)
        append_about(fixture->store, &of_user, SECRET, i);
    assert_true(count_secrets(fixture) > 0);
    assert_ok(ses_delete_user(fixture->store, "app", of_user.user, &secure, NULL, NULL, &error));
    assert_int_equal(count_secrets(fixture), 0);
}

TEST(a_deleted_app_is_in_no_file)
{
    const ses_delete_options steps = {.size = sizeof steps, .flags = SES_SECURE, .limit = 2};
    int calls = 1;

    for (int s = 0; s < 5; s++) {
        char id[40];
        const ses_key of = {SECRET "-app", SECRET "-user", id};
        snprintf(id, sizeof id, SECRET "-%d", s);
        must_create(fixture->store, &of, Q("{'app:" SECRET "':'" SECRET "','user:" SECRET "':1}"));
        for (int i = 0; i < 10; i++)
            append_about(fixture->store, &of, SECRET, i);
    }
    while (ses_delete_app(fixture->store, SECRET "-app", &steps, NULL, &error) == SES_MORE)
        calls++;
    assert_int_equal(calls, 3);
    assert_int_equal(count_secrets(fixture), 0);
}

TEST(pruned_events_are_in_no_file)
{
    const ses_prune_options options = {
        .size = sizeof options, .which = SES_PRUNE_KEEP, .flags = SES_SECURE, .keep = 1, .limit = 20};
    static const ses_key plain = {"app", "user", "plain"};
    int code;

    must_create(fixture->store, &plain, NULL);
    for (int i = 0; i < 50; i++) {
        char event[200];
        snprintf(event, sizeof event, "{\"id\":\"" SECRET "-%d\",\"invocationId\":\"" SECRET "-%d\"}", i,
                 i / 2);
        must_append_by_key(fixture->store, &plain, event);
    }
    must_append_by_key(fixture->store, &plain, Q("{'id':'last'}"));
    assert_true(count_secrets(fixture) > 0);
    while ((code = ses_prune_by_key(fixture->store, &plain, &options, NULL, &error)) == SES_MORE) {
    }
    assert_int_equal(code, SES_OK);
    assert_int_equal(count_secrets(fixture), 0);
    assert_code(SES_UNCHANGED, ses_prune_by_key(fixture->store, &plain, &options, NULL, &error));
}

TEST(expired_sessions_are_in_no_file)
{
    const int64_t expires = fixture->now + 10;
    const ses_expire_options options = {.size = sizeof options, .now_us = &expires, .flags = SES_SECURE};
    int64_t deleted = 0;

    fill(fixture->store);
    assert_ok(ses_expiry_set_by_key(fixture->store, &key, &expires, NULL, &error));
    assert_ok(ses_store_expire(fixture->store, "app", &options, &deleted, &error));
    assert_int_equal(deleted, 1);
    assert_int_equal(count_secrets(fixture), 0);
    assert_ok(ses_store_expire(fixture->store, "app", &options, &deleted, &error));
    assert_int_equal(deleted, 0);
}

/* A value that was replaced leaves nothing behind, even on pages of its own. */
TEST(replaced_values_leave_nothing_behind)
{
    static const ses_key plain = {"app", "user", "plain"};
    static char event[30000];

    must_create(fixture->store, &plain, NULL);
    must_create(fixture->store, &key, NULL);
    snprintf(event, sizeof event, "{\"actions\":{\"stateDelta\":{\"k\":\"" SECRET "%020000d" SECRET "\"}}}",
             1);
    must_append_by_key(fixture->store, &key, event);
    must_append_by_key(fixture->store, &key, Q("{'actions':{'stateDelta':{'k':1}}}"));
    assert_ok(ses_delete(fixture->store, &key, &secure, NULL, &error));
    assert_int_equal(count_secrets(fixture), 0);
}

/* Deletions without the flag make SQLite move rows of others, of which the pages that become free have
 * copies. */
TEST(plain_deletions_leave_no_copies_of_others)
{
    const ses_key other = {"app", "others", "session"};
    static char event[30000];

    snprintf(event, sizeof event, "{\"content\":{\"parts\":[{\"text\":\"%020000d\"}]}}", 1);
    must_create(fixture->store, &key, NULL);
    for (int round = 0; round < 4; round++) {
        must_create(fixture->store, &other, NULL);
        for (int i = 0; i < 40; i++) {
            must_append_by_key(fixture->store, &other, event);
            must_append_by_key(fixture->store, &key, "{\"content\":{\"parts\":[{\"text\":\"" SECRET "\"}]}}");
        }
        assert_ok(ses_delete_user(fixture->store, "app", "others", NULL, NULL, NULL, &error));
    }
    assert_ok(ses_delete_user(fixture->store, "app", "user", &secure, NULL, NULL, &error));
    assert_int_equal(count_secrets(fixture), 0);
}

/* ---- names that a redaction removes */

static int find_secret(void *context, const char *text, size_t len, size_t from, size_t *begin, size_t *end,
                       ses_error *error)
{
    (void)context, (void)error;
    for (size_t at = from; at + strlen(SECRET) <= len; at++)
        if (memcmp(text + at, SECRET, strlen(SECRET)) == 0) {
            *begin = at;
            *end = at + strlen(SECRET);
            return 1;
        }
    return 0;
}

/* Names of every kind, short and long, in rows between those of others; many were replaced before. */
static void fill_names(ses_store *store, const ses_key *of)
{
    static const ses_key others[] = {{"app", "user", "before"}, {"app", "user", "after"}};
    const ses_label labels[] = {{SECRET, "x"}, {"by", SECRET}, {"stays", "x"}};
    const ses_create_options options = {
        .size = sizeof options, .title = "about " SECRET, .labels = labels, .label_count = 3};
    const ses_prune_options prune = {.size = sizeof prune, .which = SES_PRUNE_SEQ, .last_seq = 40};
    char event[1200];
    ses_error error;

    must_create(store, &others[0], Q("{'a':1}"));
    assert_ok(ses_create(store, of, Q("{'" SECRET "':1,'app:" SECRET "':2,'user:" SECRET "':3}"), SES_NUL,
                         &options, NULL, &error));
    must_create(store, &others[1], Q("{'a':1}"));
    for (int i = 0; i < 120; i++) {
        const char *scope = i % 10 == 0 ? "app:" : i % 10 == 1 ? "user:" : "";
        snprintf(
            event, sizeof event,
            "{\"id\":\"e%d\",\"usageMetadata\":{\"totalTokenCount\":1},\"content\":{\"parts\":[{\"text\":"
            "\"" SECRET "\"}]},\"actions\":{\"stateDelta\":{\"%s" SECRET "-%0*d\":%d,\"" SECRET "\":%d}}}",
            i, scope, i % 7 == 0 ? 400 : 3, i % 60, i, i);
        must_append_by_key(store, of, event);
        append_about(store, &others[i % 2], "harmless", i);
        snprintf(event, sizeof event, SECRET " %0*d", i % 3 == 0 ? 900 : 10, i);
        assert_ok(ses_title_set_by_key(store, of, event, NULL, &error));
        assert_ok(ses_labels_set_by_key(store, of, &(ses_label){"value", event + (i % 3 == 0 ? 800 : 0)}, 1,
                                        NULL, &error));
    }
    assert_ok(ses_title_set_by_key(store, of, "about " SECRET, NULL, &error));
    assert_ok(ses_prune_by_key(store, of, &prune, NULL, &error));
}

static void redact_names_and_look(struct fixture *fixture)
{
    const ses_redact_options names = {
        .size = sizeof names, .flags = SES_REDACT_STATE | SES_REDACT_NAMES | SES_SECURE, .find = find_secret};
    static const ses_key plain = {"app", "user", "plain"};
    static const ses_key gone = {"app", "gone", "plain"};
    ses_erased erased = {.size = sizeof erased};
    ses_error error;

    fill_names(fixture->store, &gone); /* what it leaves is on free pages, and between rows */
    support_make_index(fixture->store);
    assert_ok(ses_store_tally(fixture->store, NULL, NULL, &error));
    assert_ok(ses_delete_app(fixture->store, "app", NULL, NULL, &error));
    fill_names(fixture->store, &plain);
    assert_true(count_secrets(fixture) > 100);
    assert_ok(ses_redact_by_key(fixture->store, &plain, NULL, 0, &names, &erased, &error));
    assert_true(erased.names > 60);
    assert_int_equal(erased.names_left, 0);
    assert_int_equal(count_secrets(fixture), 0);
    assert_sound(fixture->path);
    assert_code(SES_UNCHANGED, ses_redact_by_key(fixture->store, &plain, NULL, 0, &names, &erased, &error));
}

TEST(redacted_names_are_in_no_file)
{
    redact_names_and_look(fixture);
}

TEST(redacted_names_are_in_no_file_with_a_rollback_journal)
{
    reopen_with(fixture, SES_JOURNAL_ROLLBACK);
    redact_names_and_look(fixture);
}

/* Those that an earlier deletion left, too. */
TEST(copies_in_unused_bytes)
{
    leave_copies(fixture->store, SECRET);
    fixture_reopen(fixture);
    assert_true(count_secrets(fixture) > 0);
    assert_ok(ses_delete(fixture->store, &key, &secure, NULL, &error));
    assert_int_equal(count_secrets(fixture), 0);
    assert_sound(fixture->path);
}

/* Another program has the pages in memory, and writes some after they were overwritten. */
static void other_program_writes(struct fixture *fixture)
{
    ses_error error;

    leave_copies(fixture->store, SECRET);
    fixture_reopen(fixture);
    sqlite3 *other = raw_open(fixture->path);
    raw_run(other, "SELECT sum(length(value)) FROM user_state");
    assert_ok(ses_delete(fixture->store, &key, &secure, NULL, &error));
    assert_int_equal(count_secrets(fixture), 0);
    raw_run(other, "UPDATE user_state SET value = '1' WHERE value <> 'null'");
    assert_int_equal(sqlite3_close(other), SQLITE_OK);
    assert_int_equal(count_secrets(fixture), 0);
    assert_sound(fixture->path);
}

TEST(another_program_does_not_bring_them_back)
{
    other_program_writes(fixture);
}

TEST(another_program_does_not_bring_them_back_with_a_rollback_journal)
{
    reopen_with(fixture, SES_JOURNAL_ROLLBACK);
    other_program_writes(fixture);
}

TEST(a_reader_keeps_the_log_from_being_emptied)
{
    int64_t deleted = 0;

    fixture->options.busy_timeout_ms = 300;
    reopen_with(fixture, SES_JOURNAL_WAL);
    fill(fixture->store);
    sqlite3 *reader = raw_open(fixture->path);
    raw_run(reader, "BEGIN; SELECT count(*) FROM events");
    assert_code(SES_MORE, ses_delete(fixture->store, &key, &secure, &deleted, &error));
    assert_int_equal(deleted, 1);
    assert_code(SES_NOTFOUND, ses_append_by_key(fixture->store, &key, "{}", SES_NUL, NULL, NULL, &error));
    assert_code(SES_MORE, ses_delete(fixture->store, &key, &secure, &deleted, &error));
    assert_int_equal(deleted, 0);
    assert_true(count_secrets(fixture) > 0);
    raw_run(reader, "COMMIT");
    assert_ok(ses_delete(fixture->store, &key, &secure, &deleted, &error));
    assert_int_equal(count_secrets(fixture), 0);
    assert_int_equal(sqlite3_close(reader), SQLITE_OK);
}

TEST(the_log_of_another_program_is_left_to_it)
{
    fixture->options.checkpoint = SES_CHECKPOINT_EXTERNAL;
    reopen_with(fixture, SES_JOURNAL_WAL);
    fill(fixture->store);
    assert_code(SES_MORE, ses_delete(fixture->store, &key, &secure, NULL, &error));
    raw_exec(fixture->path, "PRAGMA wal_checkpoint(TRUNCATE)");
    assert_ok(ses_delete(fixture->store, &key, &secure, NULL, &error));
    assert_int_equal(count_secrets(fixture), 0);
}

MEMORY_TEST(a_store_in_memory_has_no_files)
{
    int64_t deleted = 0;

    must_create(fixture->store, &key, NULL);
    assert_ok(ses_delete(fixture->store, &key, &secure, &deleted, &error));
    assert_int_equal(deleted, 1);
}

TEST_GROUP(group_setup, NULL)
