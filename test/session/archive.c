/* The archive: sessions go in and out of it, it is shown, and what other operations make of it. */
#include "lines_text.h"

static const ses_key key = {"app", "user", "session"};

static int64_t archived_us(ses_store *store, const ses_key *of)
{
    ses_session *session = must_get(store, of);
    const int64_t time_us = ses_session_archived_us(session);

    ses_session_close(session);
    return time_us;
}

static void assert_store_sound(ses_store *store)
{
    const ses_check_options whole = {.size = sizeof whole, .level = SES_CHECK_LOG};
    int64_t problems = -1;
    ses_error error;

    assert_ok(ses_store_check(store, &whole, &problems, &error));
    assert_int_equal(problems, 0);
}

static void must_archive(ses_store *store, const ses_key *of, int archived)
{
    ses_error error;

    assert_ok(ses_archive_set_by_key(store, of, archived, NULL, &error));
}

TEST(a_session_goes_in_and_out)
{
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    const int64_t version = ses_session_version(session);
    const int64_t now_us = fixture->now;

    assert_int_equal(ses_session_archived_us(session), 0);
    assert_ok(ses_archive_set(session, 0, NULL, &error));
    assert_int_equal(ses_session_archived_us(session), 0);
    assert_ok(ses_archive_set(session, 1, NULL, &error));
    assert_int_equal(ses_session_archived_us(session), now_us);
    fixture->now += 1000000;
    assert_ok(ses_archive_set(session, 2, NULL, &error)); /* again: it keeps its time */
    assert_int_equal(ses_session_archived_us(session), now_us);
    assert_int_equal(archived_us(fixture->store, &key), now_us);
    assert_int_equal(ses_session_version(session), version);
    must_append(session, "{}");
    assert_int_equal(archived_us(fixture->store, &key), now_us);
    assert_ok(ses_archive_set(session, 0, NULL, &error));
    assert_int_equal(ses_session_archived_us(session), 0);
    assert_int_equal(archived_us(fixture->store, &key), 0);
    must_archive(fixture->store, &key, 1);
    assert_int_equal(ses_session_archived_us(session), 0);
    must_append(session, "{\"timestamp\":1800000000}"); /* by a handle that does not know it */
    assert_store_sound(fixture->store);
    must_refresh(session);
    assert_int_equal(ses_session_archived_us(session), fixture->now);
    ses_session_close(session);
}

TEST(it_stands_beside_title_and_labels)
{
    const ses_label label = {"a", "1"};
    const ses_append_options titled = {.size = sizeof titled, .title = "two"};

    must_create(fixture->store, &key, NULL);
    assert_ok(ses_title_set_by_key(fixture->store, &key, "one", NULL, &error));
    must_archive(fixture->store, &key, 1);
    assert_ok(ses_labels_set_by_key(fixture->store, &key, &label, 1, NULL, &error));
    assert_ok(ses_append_by_key(fixture->store, &key, "{}", SES_NUL, &titled, NULL, &error));
    ses_session *session = must_get(fixture->store, &key);
    assert_string_equal(ses_session_title(session), "two");
    assert_string_equal(ses_session_label_value(session, "a"), "1");
    assert_int_equal(ses_session_archived_us(session), fixture->now);
    assert_ok(ses_title_set(session, NULL, NULL, &error));
    assert_int_equal(ses_session_archived_us(session), fixture->now);
    assert_ok(ses_append(session, "{}", SES_NUL, &titled, NULL, &error));
    assert_int_equal(ses_session_archived_us(session), fixture->now);
    assert_ok(ses_archive_set(session, 0, NULL, &error));
    assert_string_equal(ses_session_title(session), "two");
    assert_string_equal(ses_session_label_value(session, "a"), "1");
    ses_session_close(session);
}

TEST(lists_show_it)
{
    static const ses_key other = {"app", "user", "other"};
    ses_page *page = NULL;

    must_create(fixture->store, &key, NULL);
    must_create(fixture->store, &other, NULL);
    must_archive(fixture->store, &other, 1);
    const ses_list_options options = {.size = sizeof options, .order = SES_ORDER_CREATED};
    assert_ok(ses_list(fixture->store, "app", "user", &options, &page, &error));
    assert_int_equal(ses_page_count(page), 2);
    assert_int_equal(ses_session_archived_us(ses_page_session(page, 0)), 0);
    assert_int_equal(ses_session_archived_us(ses_page_session(page, 1)), fixture->now);
    ses_page_close(page);
}

TEST(a_fork_is_not_archived)
{
    static const ses_key to = {"app", "user", "fork"};
    ses_session *fork = NULL;

    must_create(fixture->store, &key, NULL);
    must_append_by_key(fixture->store, &key, "{}");
    must_archive(fixture->store, &key, 1);
    assert_ok(ses_fork_by_key(fixture->store, &key, NULL, &to, NULL, &fork, &error));
    assert_int_equal(ses_session_archived_us(fork), 0);
    ses_session_close(fork);
    assert_int_equal(archived_us(fixture->store, &to), 0);
    assert_true(archived_us(fixture->store, &key) > 0);
    assert_store_sound(fixture->store);
}

TEST(what_is_not_there_is_refused)
{
    static const ses_key none = {"app", "user", "none"};

    assert_code(SES_NOTFOUND, ses_archive_set_by_key(fixture->store, &none, 1, NULL, &error));
    assert_code(SES_INVALID,
                ses_archive_set_by_key(fixture->store, &(ses_key){"app", "user", ""}, 1, NULL, &error));
    assert_code(SES_MISUSE, ses_archive_set(NULL, 1, NULL, &error));
}

TEST(lines_keep_it)
{
    ses_store *copy = must_open(":memory:", NULL);
    ses_import_report report = {.size = sizeof report};

    must_create(fixture->store, &key, NULL);
    must_append_by_key(fixture->store, &key, "{}");
    struct text open = exported(fixture->store, NULL);
    assert_non_null(strstr(open.data, "\"format\":1"));
    must_archive(fixture->store, &key, 1);
    struct text lines = exported(fixture->store, NULL);
    assert_non_null(strstr(lines.data, "\"format\":2"));
    assert_ok(import_text(copy, lines.data, lines.len, 0, &report, &error));
    assert_int_equal(archived_us(copy, &key), archived_us(fixture->store, &key));
    assert_store_sound(copy);
    struct text again = exported(copy, NULL);
    assert_string_equal(lines.data, again.data);
    /* An update follows the source out of the archive, and into it. */
    assert_ok(import_text(copy, open.data, open.len, SES_IMPORT_UPDATE, &report, &error));
    assert_int_equal(archived_us(copy, &key), 0);
    assert_ok(import_text(copy, lines.data, lines.len, SES_IMPORT_UPDATE, &report, &error));
    assert_int_equal(archived_us(copy, &key), archived_us(fixture->store, &key));
    ses_close(copy);
    free(open.data);
    free(lines.data);
    free(again.data);
}

TEST(a_load_refuses_impossible_times)
{
    static const int64_t impossible[] = {0, -1, INT64_MIN, INT64_MAX};

    for (size_t i = 0; i < sizeof impossible / sizeof impossible[0]; i++) {
        const ses_loaded loaded = {.size = sizeof loaded, .archived_us = &impossible[i]};
        assert_code(SES_INVALID, ses_load(fixture->store, &key, &loaded, NULL, NULL, &error));
    }
}
