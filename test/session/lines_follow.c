/* A copy that is kept up to date by JSON lines: titles, labels and expiry follow, if the events are a
 * continuation. */
#include "lines.h"
#include "check.h"
#include "seslite_artifact.h"

static const ses_key one = {"app", "user", "one"};

/* The changes of a session that its log does not hold. */
static void annotate(ses_store *store, const char *title, const char *value, const int64_t *expires_us)
{
    const ses_label labels[] = {{"a", value}, {"c", value}, {"b", value ? NULL : "b"}};
    ses_error error;

    assert_ok(ses_title_set_by_key(store, &one, title, NULL, &error));
    assert_ok(ses_labels_set_by_key(store, &one, labels, 3, NULL, &error));
    assert_ok(ses_expiry_set_by_key(store, &one, expires_us, NULL, &error));
}

/* Imports all that `from` has into `to`, and gives the number of sessions that were updated. */
static int64_t pass_on(ses_store *from, ses_store *to, unsigned flags, int expected)
{
    struct text text = exported(from, NULL);
    ses_import_report report;
    ses_error error;

    assert_code(expected, import_text(to, text.data, text.len, flags, &report, &error));
    assert_int_equal(report.unknown, 0);
    free(text.data);
    return report.updated;
}

static int64_t changed_us(ses_store *store)
{
    const ses_list_options options = {.size = sizeof options, .order = SES_ORDER_CREATED};
    ses_page *page = NULL;
    ses_error error;

    assert_ok(ses_list(store, "app", "user", &options, &page, &error));
    const int64_t time = ses_page_changed_us(page, 0);
    assert_string_equal(ses_session_id(ses_page_session(page, 0)), "one");
    ses_page_close(page);
    return time;
}

static void assert_kept_up(ses_store *store, ses_store *copy)
{
    assert_int_equal(pass_on(store, copy, SES_IMPORT_UPDATE, SES_OK), 1);
    assert_same_store(store, copy);
    assert_int_equal(pass_on(store, copy, SES_IMPORT_UPDATE, SES_OK), 0);
    assert_no_problems(copy);
}

TEST(annotations_follow_the_lines)
{
    ses_store *copy = empty_store();
    const int64_t later = INT64_C(4000000000000000);

    fill_store(fixture->store);
    assert_int_equal(pass_on(fixture->store, copy, 0, SES_OK), 0);
    annotate(fixture->store, "Another title", "new", NULL);
    assert_kept_up(fixture->store, copy);
    annotate(fixture->store, NULL, NULL, &later);
    assert_kept_up(fixture->store, copy);
    must_append_by_key(fixture->store, &one, "{\"id\":\"more\",\"timestamp\":200}");
    annotate(fixture->store, "A title with an event", "more", &later);
    assert_kept_up(fixture->store, copy);
    ses_close(copy);
}

/* They are no write to the log. */
TEST(a_handle_stays_good_when_only_annotations_follow)
{
    ses_store *copy = empty_store();

    fill_store(fixture->store);
    (void)pass_on(fixture->store, copy, 0, SES_OK);
    annotate(copy, "Only here", "here", NULL);
    must_append_by_key(fixture->store, &one, "{\"id\":\"more\",\"timestamp\":1}");
    (void)pass_on(fixture->store, copy, SES_IMPORT_UPDATE, SES_OK);
    annotate(fixture->store, "Another title", "new", NULL);
    const int64_t before_us = changed_us(copy);
    ses_session *session = must_get(copy, &one);
    (void)pass_on(fixture->store, copy, SES_IMPORT_UPDATE, SES_OK);
    assert_true(changed_us(copy) == before_us);
    must_append(session, "{\"id\":\"theirs\",\"timestamp\":2}");
    must_refresh(session);
    assert_string_equal(ses_session_title(session), "Another title");
    ses_session_close(session);
    ses_close(copy);
}

TEST(annotations_stay_where_events_differ)
{
    ses_store *copy = empty_store();

    fill_store(fixture->store);
    (void)pass_on(fixture->store, copy, 0, SES_OK);
    annotate(copy, "Only here", "here", NULL);
    must_append_by_key(copy, &one, "{\"id\":\"theirs\",\"timestamp\":1}");
    struct text before = exported(copy, NULL);
    assert_int_equal(pass_on(fixture->store, copy, SES_IMPORT_UPDATE, SES_EXISTS), 0);
    struct text after = exported(copy, NULL);
    assert_same_text(&before, &after);
    free(before.data);
    free(after.data);
    /* Under another name it has its own; twice is not two. */
    (void)pass_on(fixture->store, copy, SES_IMPORT_UPDATE | SES_IMPORT_RENAME, SES_OK);
    (void)pass_on(fixture->store, copy, SES_IMPORT_UPDATE | SES_IMPORT_RENAME, SES_OK);
    ses_session *other = must_get(copy, &(ses_key){"app", "user", "one~2"});
    assert_string_equal(ses_session_title(other), "A \xC3\xA9 title");
    ses_session_close(other);
    other = must_get(copy, &one);
    assert_string_equal(ses_session_title(other), "Only here");
    ses_session_close(other);
    ses_close(copy);
}

TEST(they_follow_only_on_request)
{
    ses_store *copy = empty_store();

    fill_store(fixture->store);
    (void)pass_on(fixture->store, copy, 0, SES_OK);
    annotate(fixture->store, "Another title", "new", NULL);
    struct text before = exported(copy, NULL);
    (void)pass_on(fixture->store, copy, 0, SES_EXISTS);
    assert_int_equal(pass_on(fixture->store, copy, SES_IMPORT_UPDATE | SES_IMPORT_DRY_RUN, SES_OK), 1);
    struct text after = exported(copy, NULL);
    assert_same_text(&before, &after);
    free(before.data);
    free(after.data);
    ses_close(copy);
}

static int no_event(void *context, ses_loaded_event *event, ses_error *error)
{
    (void)context;
    (void)event;
    (void)error;
    return 0;
}

TEST(a_load_follows_by_a_flag_of_its_own)
{
    const int64_t created_us = 1000000;
    ses_loaded loaded = {.size = sizeof loaded, .created_us = &created_us, .title = "A", .next = no_event};
    ses_load_options options = {.size = sizeof options};
    ses_load_result result;

    assert_ok(ses_load(fixture->store, &one, &loaded, &options, &result, &error));
    loaded.title = "B";
    options.flags = SES_LOAD_UPDATE;
    assert_code(SES_EXISTS, ses_load(fixture->store, &one, &loaded, &options, &result, &error));
    options.flags = SES_LOAD_FOLLOW;
    assert_code(SES_MISUSE, ses_load(fixture->store, &one, &loaded, &options, &result, &error));
    options.flags = SES_LOAD_UPDATE | SES_LOAD_FOLLOW;
    assert_ok(ses_load(fixture->store, &one, &loaded, &options, &result, &error));
    assert_int_equal(result.outcome, SES_LOADED_UPDATED);
    assert_int_equal(result.events, 0);
    assert_code(SES_UNCHANGED, ses_load(fixture->store, &one, &loaded, &options, &result, &error));
    ses_session *session = must_get(fixture->store, &one);
    assert_string_equal(ses_session_title(session), "B");
}

/* Its versions came for the comparison, and must not stay beside those that are there. */
TEST(artifacts_stay_as_they_are)
{
    ses_store *copy = empty_store();

    must_create(fixture->store, &one, NULL);
    assert_ok(ses_artifact_save_by_key(fixture->store, &one, "f", "text", 4, NULL, NULL, &error));
    (void)pass_on(fixture->store, copy, 0, SES_OK);
    annotate(fixture->store, "Another title", "new", NULL);
    assert_kept_up(fixture->store, copy);
    ses_close(copy);
}
