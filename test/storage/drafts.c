/* Drafts in a file: what a damaged one holds, and what setting one writes. */
#include "open.h"
#include "seslite_draft.h"
#include "seslite_erase.h"

static const ses_key key = {"app", "user", "one"};

static int drafts_setup(void **state)
{
    int failed = fixture_setup(state);
    const struct fixture *fixture = *state;
    ses_error error;

    must_create(fixture->store, &key, NULL);
    assert_ok(ses_draft_set(fixture->store, &key, "Hel", SES_NUL, NULL, &error));
    return failed;
}

static int64_t problems_of(ses_store *store, ses_check_level level)
{
    const ses_check_options options = {.size = sizeof options, .level = level};
    int64_t problems = 0;
    ses_error error;

    assert_ok(ses_store_check(store, &options, &problems, &error));
    return problems;
}

TEST_OF(drafts_setup, a_draft_without_its_session)
{
    raw_exec(fixture->path, "UPDATE session_drafts SET session_id = 99");
    assert_int_equal(problems_of(fixture->store, SES_CHECK_FULL), 1);
}

TEST_OF(drafts_setup, a_row_that_can_be_no_draft)
{
    static const char *const changes[] = {"body = CAST(x'ff' AS TEXT)",
                                          "body = 'd', updated_us = 9000000000000000000",
                                          "updated_us = -9000000000000000000"};
    char *body = NULL;

    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        char sql[100];
        snprintf(sql, sizeof sql, "UPDATE session_drafts SET %s", changes[i]);
        raw_exec(fixture->path, sql);
        assert_code(SES_CORRUPT, ses_draft_get(fixture->store, &key, NULL, &body, NULL, NULL, &error));
        assert_null(body);
        assert_code(SES_CORRUPT, ses_redact_by_key(fixture->store, &key, NULL, 0, NULL, NULL, &error));
        assert_int_equal(problems_of(fixture->store, SES_CHECK_LOG), 1);
    }
    assert_ok(ses_draft_set(fixture->store, &key, "sound", SES_NUL, NULL, &error));
    assert_ok(ses_draft_get(fixture->store, &key, NULL, &body, NULL, NULL, &error));
    assert_string_equal(body, "sound");
    ses_free(body);
}

static int64_t pages_written(ses_store *store)
{
    ses_stats stats = {.size = sizeof stats};
    ses_error error;

    assert_ok(ses_store_stats(store, &stats, &error));
    return stats.sqlite.wal_pages;
}

TEST_OF(drafts_setup, setting_a_short_draft_writes_one_page)
{
    char text[1000];

    memset(text, 'x', sizeof text);
    for (size_t len = 100; len <= sizeof text; len += 300) {
        const int64_t before = pages_written(fixture->store);
        assert_ok(ses_draft_set(fixture->store, &key, text, len, NULL, &error));
        assert_int_equal(pages_written(fixture->store), before + 1);
    }
}
