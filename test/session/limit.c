/* The number of events that a session may hold. */
#include "append.h"

static void limit_to(struct fixture *fixture, int64_t events)
{
    fixture->options.max_session_events = events;
    fixture_reopen(fixture);
    must_create(fixture->store, &key, NULL);
}

TEST(an_event_beyond_the_limit_is_refused)
{
    limit_to(fixture, 2);
    must_append_by_key(fixture->store, &key, Q("{'id':'a'}"));
    must_append_by_key(fixture->store, &key, Q("{'id':'b'}"));
    char *before = describe_stored(fixture->store, &key);
    assert_code(SES_LIMIT,
                ses_append_by_key(fixture->store, &key, Q("{'id':'c'}"), SES_NUL, NULL, NULL, &error));
    assert_message("max_session_events");
    assert_code(SES_LIMIT, ses_append_by_key(fixture->store, &key, "{}", SES_NUL, NULL, NULL, &error));
    char *after = describe_stored(fixture->store, &key);
    assert_string_equal(after, before);
    free(before);
    free(after);
}

TEST(a_batch_is_refused_as_a_whole)
{
    const ses_text events[] = {{"{}", SES_NUL}, {"{}", SES_NUL}, {"{}", SES_NUL}};

    limit_to(fixture, 2);
    assert_code(SES_LIMIT, ses_append_batch_by_key(fixture->store, &key, events, 3, NULL, NULL, &error));
    assert_ok(ses_append_batch_by_key(fixture->store, &key, events, 2, NULL, NULL, &error));
}

TEST(a_retry_on_a_full_session_is_a_duplicate)
{
    const char *event = Q("{'id':'a','timestamp':1}");
    ses_appended appended;

    limit_to(fixture, 1);
    must_append_by_key(fixture->store, &key, event);
    assert_code(SES_DUPLICATE,
                ses_append_by_key(fixture->store, &key, event, SES_NUL, NULL, &appended, &error));
    assert_int_equal(appended.seq, 1);
    assert_int_equal(error.code, SES_OK);
    ses_session *session = must_get(fixture->store, &key);
    assert_code(SES_DUPLICATE, ses_append(session, event, SES_NUL, NULL, &appended, &error));
    ses_session_close(session);
    assert_code(SES_EXISTS, ses_append_by_key(fixture->store, &key, Q("{'id':'a','timestamp':2}"), SES_NUL,
                                              NULL, &appended, &error));
}

TEST(pruning_makes_room)
{
    const ses_prune_options options = {.size = sizeof options, .which = SES_PRUNE_KEEP, .keep = 1};

    limit_to(fixture, 2);
    must_append_by_key(fixture->store, &key, "{}");
    must_append_by_key(fixture->store, &key, "{}");
    assert_ok(ses_prune_by_key(fixture->store, &key, &options, NULL, &error));
    must_append_by_key(fixture->store, &key, "{}");
    assert_code(SES_LIMIT, ses_append_by_key(fixture->store, &key, "{}", SES_NUL, NULL, NULL, &error));
}

PLAIN_TEST(a_negative_limit_is_refused)
{
    const ses_open_options options = {.size = sizeof options, .max_session_events = -1};
    ses_store *store = NULL;

    assert_code(SES_MISUSE, ses_open(":memory:", &options, &store, &error));
}
