/* `temp:` values: on the handle that appended them, while their invocation lasts, and nowhere else. */
#include "session/append.h"

static const ses_append_options anyway = {.size = sizeof anyway, .flags = SES_ANYWAY};

/* An event of the invocation with the delta, in one of the two spellings by turns. */
static void append(ses_session *session, const char *invocation, const char *delta)
{
    static int snake;
    char event[512];

    snake = !snake;
    snprintf(event, sizeof event, "{\"%s\":%s,\"actions\":{\"%s\":%s}}",
             snake ? "invocation_id" : "invocationId", invocation, snake ? "state_delta" : "stateDelta",
             delta);
    must_append(session, event);
}

TEST(temp_values_are_visible_on_their_handle_only)
{
    ses_session *session = must_open_new(fixture->store, &key, Q("{'s':0}"));
    ses_session *other = must_get(fixture->store, &key);
    const char *json = NULL;
    char *value = NULL;

    append(session, Q("'i'"), Q("{'temp:a':1.10,'temp:':null,'s':1}"));
    assert_state(session, Q("{'s':1,'temp:':null,'temp:a':1.10}"));
    assert_ok(ses_state_get(session, "temp:a", &json, NULL, &error));
    assert_string_equal(json, "1.10");

    must_refresh(other);
    assert_state(other, Q("{'s':1}"));
    assert_code(SES_ABSENT, ses_state_get(other, "temp:a", &json, NULL, &error));
    assert_code(SES_ABSENT, ses_state_get_by_key(fixture->store, &key, "temp:a", NULL, &value, NULL, &error));
    assert_stored_state(fixture->store, &key, Q("{'s':1}"));
    assert_null(strstr(ses_session_event(session, 0)->json, "temp:"));
    ses_session_close(session);
    ses_session_close(other);
    fixture_reopen(fixture);
    assert_stored_state(fixture->store, &key, Q("{'s':1}"));
}

/* The values that each event leaves visible: the steps follow each other on one handle. */
MEMORY_TEST(temp_values_last_as_long_as_their_invocation)
{
    static const struct {
        const char *invocation;
        const char *delta;
        const char *state;
    } steps[] = {
        {"\"1\"", "{'temp:a':1,'temp:b':1}", "{'temp:a':1,'temp:b':1}"},
        {"\"1\"", "{'s':1}", "{'s':1,'temp:a':1,'temp:b':1}"},
        {"\"1\"", "{'temp:a':{'x':1}}", "{'s':1,'temp:a':{'x':1},'temp:b':1}"},
        {"\"1\"", "{'temp:a':{'y':2},'temp:c':3}", "{'s':1,'temp:a':{'y':2},'temp:b':1,'temp:c':3}"},
        {"\"1\"", "{'temp:b':" REMOVED ",'temp:none':" REMOVED "}", "{'s':1,'temp:a':{'y':2},'temp:c':3}"},
        {"\"1\"", "{'temp:c':4,'temp:c':5,'temp:a':1,'temp:a':" REMOVED "}", "{'s':1,'temp:c':5}"},
        {"\"\\u0031\"", "{'temp:d':1}", "{'s':1,'temp:c':5,'temp:d':1}"}, /* the same in another spelling */
        {"\"2\"", "{}", "{'s':1}"},
        {"\"2\"", "{'temp:a':1}", "{'s':1,'temp:a':1}"},
        {"\"1\"", "{'temp:b':1}", "{'s':1,'temp:b':1}"}, /* what is over does not come back */
        {"\"1 \"", "{'temp:c':1}", "{'s':1,'temp:c':1}"},
        {"\"\"", "{'temp:d':1}", "{'s':1,'temp:d':1}"},
        {"null", "{'temp:e':1}", "{'s':1,'temp:d':1,'temp:e':1}"}, /* no invocation is "" */
        {"\"3\"", "{'s':" REMOVED "}", "{}"},
    };
    ses_session *session = must_open_new(fixture->store, &key, NULL);

    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        append(session, steps[i].invocation, Q(steps[i].delta));
        assert_state(session, Q(steps[i].state));
        assert_handle_is_current(fixture->store, session);
    }
}

MEMORY_TEST(an_event_without_invocation_ends_the_one_before)
{
    ses_session *session = must_open_new(fixture->store, &key, NULL);

    append(session, Q("'i'"), Q("{'temp:a':1}"));
    must_append(session, Q("{'actions':{'stateDelta':{'temp:b':1}}}"));
    assert_state(session, Q("{'temp:b':1}"));
    must_append(session, Q("{'author':'x'}"));
    assert_state(session, Q("{'temp:b':1}"));
    append(session, Q("'i'"), "{}");
    assert_state(session, "{}");
}

MEMORY_TEST(an_invocation_can_be_ended)
{
    ses_session *session = must_open_new(fixture->store, &key, Q("{'s':1}"));

    assert_ok(ses_invocation_end(session, &error)); /* none has begun */
    append(session, Q("'i'"), Q("{'temp:a':1}"));
    assert_ok(ses_invocation_end(session, &error));
    assert_state(session, Q("{'s':1}"));
    assert_int_equal(ses_session_version(session), 1);
    assert_handle_is_current(fixture->store, session);
    assert_ok(ses_invocation_end(session, &error));
    append(session, Q("'i'"), Q("{'temp:b':1}")); /* it may still go on */
    assert_state(session, Q("{'s':1,'temp:b':1}"));
    append(session, Q("'i'"), Q("{'temp:c':1}"));
    assert_state(session, Q("{'s':1,'temp:b':1,'temp:c':1}"));
    assert_code(SES_MISUSE, ses_invocation_end(NULL, &error));
}

/* Neither what others append nor what is not stored ends an invocation. */
MEMORY_TEST(only_what_is_stored_through_the_handle_ends_an_invocation)
{
    static const char other[] =
        "{\"invocationId\":\"other\",\"actions\":{\"stateDelta\":{\"s\":1,\"temp:b\":1}}}";
    ses_session *session = must_open_new(fixture->store, &key, NULL);

    must_append(session, Q("{'id':'old','invocationId':'old','actions':{'stateDelta':{'temp:o':1}}}"));
    append(session, Q("'i'"), Q("{'temp:a':1}"));
    assert_code(SES_PARTIAL,
                ses_append(session, Q("{'invocationId':'p','partial':true}"), SES_NUL, NULL, NULL, &error));
    assert_code(SES_INVALID,
                ses_append(session, Q("{'invocationId':'x','author':1}"), SES_NUL, NULL, NULL, &error));
    assert_code(SES_DUPLICATE,
                ses_append(session,
                           Q("{'id':'old','invocationId':'old','actions':{'stateDelta':{'temp:o':1}}}"),
                           SES_NUL, NULL, NULL, &error));
    assert_state(session, Q("{'temp:a':1}"));

    must_append_by_key(fixture->store, &key, other);
    assert_code(SES_STALE, ses_append(session, other, SES_NUL, NULL, NULL, &error));
    assert_state(session, Q("{'temp:a':1}"));
    must_refresh(session);
    assert_state(session, Q("{'s':1,'temp:a':1}"));

    must_append_by_key(fixture->store, &key, other);
    assert_ok(ses_append(session, Q("{'invocationId':'i','actions':{'stateDelta':{'s':2,'temp:c':1}}}"),
                         SES_NUL, &anyway, NULL, &error));
    assert_state(session, Q("{'s':2,'temp:a':1,'temp:c':1}"));

    must_append_by_key(fixture->store, &key, Q("{'invocationId':'i'}"));
    assert_ok(ses_append(session, Q("{'invocationId':'j','actions':{'stateDelta':{'temp:d':1}}}"), SES_NUL,
                         &anyway, NULL, &error));
    assert_state(session, Q("{'s':2,'temp:d':1}"));
    assert_handle_is_current(fixture->store, session);
}

MEMORY_TEST(invocations_within_a_batch)
{
    const ses_text events[] = {
        {Q("{'invocationId':'i','actions':{'stateDelta':{'temp:b':1}}}"), SES_NUL},
        {Q("{'invocationId':'j','actions':{'stateDelta':{'temp:c':1,'temp:d':1}}}"), SES_NUL},
        {Q("{'invocationId':'k','partial':true,'actions':{'stateDelta':{'temp:e':1}}}"), SES_NUL},
        {Q("{'invocationId':'j','actions':{'stateDelta':{'temp:c':2,'temp:d':" REMOVED "}}}"), SES_NUL},
    };
    ses_session *session = must_open_new(fixture->store, &key, NULL);

    append(session, Q("'i'"), Q("{'temp:a':1}"));
    assert_ok(ses_append_batch(session, events, 1, NULL, NULL, &error));
    assert_state(session, Q("{'temp:a':1,'temp:b':1}"));
    assert_ok(ses_append_batch(session, events, 4, NULL, NULL, &error));
    assert_state(session, Q("{'temp:c':2}"));
    append(session, Q("'j'"), Q("{'temp:f':1}")); /* the batch left off in j */
    assert_state(session, Q("{'temp:c':2,'temp:f':1}"));
    /* There and back within one batch: what was of i is over. */
    append(session, Q("'i'"), Q("{'temp:a':1}"));
    assert_ok(ses_append_batch(session, (const ses_text[]){events[1], events[0]}, 2, NULL, NULL, &error));
    assert_state(session, Q("{'temp:b':1}"));
}

/* Each handle has an invocation of its own, on the same session too. */
MEMORY_TEST(handles_have_their_own_invocations)
{
    ses_session *one = must_open_new(fixture->store, &key, NULL);
    ses_session *two = must_get(fixture->store, &key);

    append(one, Q("'i'"), Q("{'temp:a':1}"));
    must_refresh(two);
    append(two, Q("'i'"), Q("{'temp:b':2}"));
    must_refresh(one);
    assert_state(one, Q("{'temp:a':1}"));
    assert_state(two, Q("{'temp:b':2}"));
    append(one, Q("'j'"), "{}");
    assert_state(one, "{}");
    must_refresh(two);
    assert_state(two, Q("{'temp:b':2}"));
    assert_ok(ses_invocation_end(one, &error));
    assert_state(two, Q("{'temp:b':2}"));
}

MEMORY_TEST(temp_values_of_every_type_can_be_read)
{
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    const char *text = NULL;
    size_t len = 0;
    int64_t integer = 0;
    int yes = 0;

    append(session, Q("'i'"), Q("{'temp:s':'a\\u0000b','temp:i':9007199254740993,'temp:b':true}"));
    assert_ok(ses_state_get_string(session, "temp:s", &text, &len, &error));
    assert_int_equal(len, 3);
    assert_memory_equal(text, "a\0b", 4);
    assert_ok(ses_state_get_int64(session, "temp:i", &integer, &error));
    assert_int_equal(integer, INT64_C(9007199254740993));
    assert_ok(ses_state_get_bool(session, "temp:b", &yes, &error));
    assert_int_equal(yes, 1);
}
