/* Invocations: the temp: values that everything working in one shares. */
#include "agent.h"

#include <ctype.h>

static const char *const TEMP = "{\"invocationId\":\"%s\",\"actions\":{\"stateDelta\":{\"temp:%s\":%d}}}";

static void append_temp(ses_session *session, const char *invocation, const char *key, int value)
{
    char event[256];
    snprintf(event, sizeof event, TEMP, invocation, key, value);
    must_append(session, event);
}

MEMORY_TEST(ids_are_made_as_the_adk_makes_them)
{
    ses_session *session = agent_session(fixture, NULL);
    char first[64];

    assert_null(ses_invocation_id(session));
    assert_ok(ses_invocation_begin(session, NULL, &error));
    const char *id = ses_invocation_id(session);
    assert_int_equal(strlen(id), 38);
    assert_memory_equal(id, "e-", 2);
    for (size_t i = 2; i < 38; i++)
        assert_true(i == 10 || i == 15 || i == 20 || i == 25 ? id[i] == '-' : isxdigit((unsigned char)id[i]));
    strcpy(first, id);
    assert_ok(ses_invocation_begin(session, NULL, &error));
    assert_string_not_equal(ses_invocation_id(session), first);
}

MEMORY_TEST(everyone_in_the_invocation_sees_its_temp_values)
{
    ses_session *session = agent_session(fixture, NULL);
    ses_tracked *agent = agent_view(session, 0);
    ses_tracked *tool = agent_view(session, 0);

    assert_ok(ses_invocation_begin(session, "e-1", &error));
    assert_string_equal(ses_invocation_id(session), "e-1");
    assert_ok(ses_tracked_set_int64(tool, "temp:found", 7, &error));
    assert_ok(ses_tracked_append(tool, Q("{'invocationId':'e-1'}"), SES_NUL, NULL, NULL, &error));
    agent_assert_value(agent, "temp:found", "7");
    append_temp(session, "e-1", "more", 8);
    agent_assert_value(agent, "temp:found", "7");
    agent_assert_value(tool, "temp:more", "8");
    /* Another handle, and the file, see nothing of it. */
    ses_session *other = must_get(fixture->store, &agent_key);

    assert_string_equal(support_state(other, NULL), "{}");
}

MEMORY_TEST(beginning_another_takes_the_values_away)
{
    ses_session *session = agent_session(fixture, Q("{'kept':1}"));

    assert_ok(ses_invocation_begin(session, "e-1", &error));
    append_temp(session, "e-1", "t", 1);
    assert_ok(ses_invocation_begin(session, "e-1", &error)); /* the current one: nothing changes */
    assert_string_equal(support_state(session, NULL), Q("{'kept':1,'temp:t':1}"));
    assert_ok(ses_invocation_begin(session, "e-2", &error));
    assert_string_equal(support_state(session, NULL), Q("{'kept':1}"));
    assert_string_equal(ses_invocation_id(session), "e-2");
}

MEMORY_TEST(an_event_of_another_begins_that_one)
{
    ses_session *session = agent_session(fixture, NULL);

    assert_ok(ses_invocation_begin(session, "e-1", &error));
    append_temp(session, "e-1", "t", 1);
    append_temp(session, "e-2", "u", 2);
    assert_string_equal(support_state(session, NULL), Q("{'temp:u':2}"));
    assert_string_equal(ses_invocation_id(session), "e-2");
    must_append(session, "{}");
    assert_null(ses_invocation_id(session));
    assert_string_equal(support_state(session, NULL), "{}");
}

MEMORY_TEST(ending_takes_the_values_away)
{
    ses_session *session = agent_session(fixture, NULL);
    ses_tracked *tracked = agent_view(session, 0);

    assert_ok(ses_invocation_begin(session, "e-1", &error));
    append_temp(session, "e-1", "t", 1);
    assert_ok(ses_tracked_set(tracked, "temp:own", "1", SES_NUL, &error));
    assert_ok(ses_invocation_end(session, &error));
    assert_null(ses_invocation_id(session));
    agent_assert_shows(tracked, Q("{'temp:own':1}")); /* what a view has not appended is the view's */
    assert_ok(ses_invocation_end(session, &error));
}

MEMORY_TEST(ids_have_rules)
{
    ses_session *session = agent_session(fixture, NULL);
    char id[600];

    append_temp(session, "e-1", "t", 1);
    memset(id, 'i', sizeof id);
    id[SES_ID_MAX + 1] = '\0';
    assert_code(SES_INVALID, ses_invocation_begin(session, id, &error));
    assert_code(SES_INVALID, ses_invocation_begin(session, "", &error));
    assert_code(SES_INVALID, ses_invocation_begin(session, "\xff", &error));
    assert_message("invocation");
    assert_code(SES_MISUSE, ses_invocation_begin(NULL, "e", &error));
    assert_string_equal(ses_invocation_id(session), "e-1");
    assert_string_equal(support_state(session, NULL), Q("{'temp:t':1}"));
    id[SES_ID_MAX] = '\0';
    assert_ok(ses_invocation_begin(session, id, &error));
    assert_string_equal(ses_invocation_id(session), id);
}

static int make_id(void *context, char *id, size_t capacity)
{
    size_t len = *(const size_t *)context;
    if (len < capacity) {
        memset(id, 'm', len);
        id[len] = '\0';
    }
    return len == 0;
}

MEMORY_TEST(made_ids_come_from_the_store)
{
    size_t len = 3;

    fixture->options.make_id = make_id;
    fixture->options.make_id_context = &len;
    fixture_reopen(fixture);
    ses_session *session = must_open_new(fixture->store, &agent_key, NULL);
    assert_ok(ses_invocation_begin(session, NULL, &error));
    assert_string_equal(ses_invocation_id(session), "e-mmm");
    len = 511; /* an id itself, but too long behind e- */
    assert_code(SES_INVALID, ses_invocation_begin(session, NULL, &error));
    len = 0;
    assert_code(SES_INVALID, ses_invocation_begin(session, NULL, &error));
    assert_string_equal(ses_invocation_id(session), "e-mmm");
    ses_session_close(session);
}

MEMORY_TEST(an_id_for_the_caller)
{
    char id[SES_ID_MAX + 1];
    char other[37];
    size_t len = 40;

    assert_ok(ses_store_make_id(fixture->store, id, sizeof id, &error));
    assert_ok(ses_store_make_id(fixture->store, other, sizeof other, &error));
    assert_int_equal(strlen(id), 36);
    assert_int_equal(id[14], '7');
    assert_true(strcmp(id, other) < 0);
    memset(other, 'x', sizeof other);
    assert_code(SES_LIMIT, ses_store_make_id(fixture->store, other, 36, &error));
    assert_message("36 bytes");
    assert_int_equal(other[0], 'x');
    assert_code(SES_MISUSE, ses_store_make_id(fixture->store, NULL, 37, &error));
    assert_code(SES_MISUSE, ses_store_make_id(NULL, other, sizeof other, &error));

    fixture->options.make_id = make_id;
    fixture->options.make_id_context = &len;
    fixture_reopen(fixture);
    assert_code(SES_LIMIT, ses_store_make_id(fixture->store, other, sizeof other, &error));
    assert_ok(ses_store_make_id(fixture->store, id, sizeof id, &error));
    assert_int_equal(strlen(id), 40);
    len = 0;
    assert_code(SES_INVALID, ses_store_make_id(fixture->store, id, sizeof id, &error));
}
