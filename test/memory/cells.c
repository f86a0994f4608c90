/* The number up to which a session is remembered, and sessions with copies, beside other operations. */
#include "seslite_memory.h"

#include "session/lines_text.h"
#include "check.h"
#include "seslite_erase.h"

static const ses_key talk = {"app", "user", "talk"};
static const ses_key notes = {"app", "user", NULL};
static const ses_key noted = {"app", "user", "memory:notes"};

static int64_t number_of(ses_store *store, const ses_key *of)
{
    ses_session *session = must_get(store, of);
    const int64_t seq = ses_session_remembered_seq(session);

    ses_session_close(session);
    return seq;
}

static int kind_of(ses_store *store, const ses_key *of)
{
    ses_session *session = must_get(store, of);
    const int kind = ses_session_kind(session);

    ses_session_close(session);
    return kind;
}

static size_t count_found(ses_store *store, const char *query, const char *project)
{
    const ses_memory_options options = {.size = sizeof options, .project = project};
    ses_hits *hits = NULL;
    ses_error error;

    assert_ok(ses_memory_search(store, "app", "user", query, SES_NUL, &options, &hits, &error));
    const size_t count = ses_hits_count(hits);
    ses_hits_close(hits);
    return count;
}

static void make_talk(ses_store *store, int events)
{
    must_create(store, &talk, NULL);
    for (int i = 1; i <= events; i++) {
        char event[200];
        snprintf(event, sizeof event,
                 "{\"id\":\"e%d\",\"author\":\"user\",\"content\":{\"parts\":[{\"text\":\"tea\"}]}}", i);
        must_append_by_key(store, &talk, event);
    }
}

TEST(lines_keep_it)
{
    ses_store *copy = must_open(":memory:", NULL);
    ses_import_report report = {.size = sizeof report};

    make_talk(fixture->store, 3);
    struct text before = exported(fixture->store, NULL);
    assert_non_null(strstr(before.data, "\"format\":1"));
    assert_ok(ses_memory_add_session(fixture->store, &talk, 2, NULL, &error));
    assert_ok(ses_memory_add(fixture->store, &notes, "tea, too", SES_NUL, NULL, &error));
    struct text lines = exported(fixture->store, NULL);
    assert_non_null(strstr(lines.data, "\"format\":2"));
    assert_ok(import_text(copy, lines.data, lines.len, 0, &report, &error));
    assert_int_equal(number_of(copy, &talk), 2);
    assert_int_equal(kind_of(copy, &noted), SES_KIND_MEMORY);
    assert_int_equal(count_found(copy, "tea", NULL), 3);
    struct text again = exported(copy, NULL);
    assert_string_equal(lines.data, again.data);
    assert_no_problems(copy);
    /* An update raises the number, and does not lower it. */
    assert_ok(ses_memory_add_session(fixture->store, &talk, 3, NULL, &error));
    struct text later = exported(fixture->store, NULL);
    assert_ok(import_text(copy, later.data, later.len, SES_IMPORT_UPDATE, &report, &error));
    assert_int_equal(number_of(copy, &talk), 3);
    assert_ok(import_text(copy, lines.data, lines.len, SES_IMPORT_UPDATE, &report, &error));
    assert_ok(import_text(copy, before.data, before.len, SES_IMPORT_UPDATE, &report, &error));
    assert_ok(import_text(copy, before.data, before.len, 0, &report, &error));
    assert_int_equal(number_of(copy, &talk), 3);
    assert_int_equal(report.equal, 1);
    ses_close(copy);
    free(before.data);
    free(lines.data);
    free(again.data);
    free(later.data);
}

TEST(a_load_refuses_impossible_numbers)
{
    const ses_loaded wrong[] = {
        {.size = sizeof wrong[0], .remembered_seq = -1},
        {.size = sizeof wrong[0], .remembered_seq = INT64_C(4294967296)},
        {.size = sizeof wrong[0], .remembered_seq = 1, .kind = SES_KIND_MEMORY},
    };

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_code(SES_INVALID, ses_load(fixture->store, &talk, &wrong[i], NULL, NULL, &error));
    const ses_loaded right = {.size = sizeof right, .remembered_seq = INT64_C(4294967295)};
    assert_ok(ses_load(fixture->store, &talk, &right, NULL, NULL, &error));
    assert_int_equal(number_of(fixture->store, &talk), INT64_C(4294967295));
}

/* A handle shows the number as of when it was read. */
TEST(handles_and_lists_show_it)
{
    const ses_filter filter = {.size = sizeof filter, .remembered = 1};
    const ses_list_options options = {.size = sizeof options, .filter = &filter};
    ses_page *page = NULL;
    int64_t count = -1;

    make_talk(fixture->store, 1);
    ses_session *session = must_get(fixture->store, &talk);
    assert_ok(ses_list_count(fixture->store, "app", "user", &filter, NULL, &count, &error));
    assert_int_equal(count, 0);
    assert_ok(ses_memory_add_session(fixture->store, &talk, 0, NULL, &error));
    assert_int_equal(ses_session_remembered_seq(session), 0);
    assert_ok(ses_refresh(session, NULL, &error));
    assert_int_equal(ses_session_remembered_seq(session), 1);
    ses_session_close(session);
    assert_ok(ses_list(fixture->store, "app", NULL, &options, &page, &error));
    assert_int_equal(ses_page_count(page), 1);
    assert_int_equal(ses_session_remembered_seq(ses_page_session(page, 0)), 1);
    ses_page_close(page);
    assert_ok(ses_memory_add(fixture->store, &notes, "tea", SES_NUL, NULL, &error));
    for (int i = 0; i < 2; i++) { /* one of them is in the hidden range */
        assert_ok(ses_list_count(fixture->store, "app", i ? "user" : NULL, &filter, NULL, &count, &error));
        assert_int_equal(count, 2);
    }
    assert_code(SES_INVALID, ses_memory_add_session(fixture->store, &noted, 0, NULL, &error));
    assert_code(SES_INVALID, ses_fork_by_key(fixture->store, &noted, NULL, &talk, NULL, NULL, &error));
}

/* Copies are redacted with what they come from, also those that belong to a project. */
TEST(a_redaction_reaches_copies)
{
    static const char event[] = "{\"id\":\"e1\",\"author\":\"user\",\"timestamp\":5,"
                                "\"content\":{\"parts\":[{\"text\":\"my password\"}]}}";
    const ses_memory_add_options copies = {.size = sizeof copies, .flags = SES_MEMORY_COPY};
    const ses_memory_add_options project = {.size = sizeof project, .project = "p"};
    const ses_redact_options options = {.size = sizeof options, .flags = SES_ANYWAY | SES_REDACT_FORKS};
    const ses_text texts[] = {{event, SES_NUL}};
    ses_erased erased = {.size = sizeof erased};

    must_create(fixture->store, &talk, NULL);
    must_append_by_key(fixture->store, &talk, event);
    assert_ok(ses_memory_add_events(fixture->store, &talk, texts, 1, &copies, NULL, &error));
    assert_ok(ses_memory_add_events(fixture->store, &talk, texts, 1, &project, NULL, &error));
    assert_ok(ses_memory_add_session(fixture->store, &talk, 0, NULL, &error));
    assert_int_equal(count_found(fixture->store, "password", "p"), 1); /* equal ones are given once */
    assert_ok(ses_redact_by_key(fixture->store, &talk, (const int64_t[]){1}, 1, &options, &erased, &error));
    assert_int_equal(erased.sessions, 2);
    assert_int_equal(erased.forks_left, 0);
    assert_int_equal(count_found(fixture->store, "password", "p"), 0);
    assert_no_problems(fixture->store);
}

TEST(expiry_leaves_copies)
{
    const ses_expire_options options = {
        .size = sizeof options, .idle_us = 1, .sessions_per_user = 1, .limit = 100};
    int64_t deleted = 0;

    make_talk(fixture->store, 1);
    assert_ok(ses_memory_add(fixture->store, &notes, "nuts", SES_NUL, NULL, &error));
    fixture->now += INT64_C(3600000000);
    assert_ok(ses_store_expire(fixture->store, "app", &options, &deleted, &error));
    assert_int_equal(deleted, 1);
    assert_int_equal(count_found(fixture->store, "nuts", NULL), 1);
}

TEST(a_user_is_deleted_with_all)
{
    int64_t sessions = 0;

    make_talk(fixture->store, 1);
    assert_ok(ses_memory_add_session(fixture->store, &talk, 0, NULL, &error));
    assert_ok(ses_memory_add(fixture->store, &notes, "tea", SES_NUL, NULL, &error));
    assert_ok(ses_delete_user(fixture->store, "app", "user", NULL, &sessions, NULL, &error));
    assert_int_equal(sessions, 2);
    assert_int_equal(count_found(fixture->store, "tea", NULL), 0);
}
