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

static void test_ids_are_made_as_the_adk_makes_them(void **state)
{
    ses_session *session = agent_session(*state, NULL);
    char first[64];
    ses_error error;

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
    ses_session_close(session);
}

static void test_everyone_in_the_invocation_sees_its_temp_values(void **state)
{
    ses_session *session = agent_session(*state, NULL);
    ses_tracked *agent = agent_view(session, 0);
    ses_tracked *tool = agent_view(session, 0);
    ses_error error;

    assert_ok(ses_invocation_begin(session, "e-1", &error));
    assert_string_equal(ses_invocation_id(session), "e-1");
    assert_ok(ses_tracked_set_int64(tool, "temp:found", 7, &error));
    assert_ok(ses_tracked_append(tool, Q("{'invocationId':'e-1'}"), SES_NUL, NULL, NULL, &error));
    agent_assert_value(agent, "temp:found", "7");
    append_temp(session, "e-1", "more", 8);
    agent_assert_value(agent, "temp:found", "7");
    agent_assert_value(tool, "temp:more", "8");
    /* Another handle, and the file, see nothing of it. */
    struct fixture *fixture = *state;
    ses_session *other = must_get(fixture->store, &agent_key);

    assert_string_equal(support_state(other, NULL), "{}");
    ses_session_close(other);
    ses_tracked_close(agent);
    ses_tracked_close(tool);
    ses_session_close(session);
}

static void test_beginning_another_takes_the_values_away(void **state)
{
    ses_session *session = agent_session(*state, Q("{'kept':1}"));
    ses_error error;

    assert_ok(ses_invocation_begin(session, "e-1", &error));
    append_temp(session, "e-1", "t", 1);
    assert_ok(ses_invocation_begin(session, "e-1", &error)); /* the current one: nothing changes */
    assert_string_equal(support_state(session, NULL), Q("{'kept':1,'temp:t':1}"));
    assert_ok(ses_invocation_begin(session, "e-2", &error));
    assert_string_equal(support_state(session, NULL), Q("{'kept':1}"));
    assert_string_equal(ses_invocation_id(session), "e-2");
    ses_session_close(session);
}

static void test_an_event_of_another_begins_that_one(void **state)
{
    ses_session *session = agent_session(*state, NULL);
    ses_error error;

    assert_ok(ses_invocation_begin(session, "e-1", &error));
    append_temp(session, "e-1", "t", 1);
    append_temp(session, "e-2", "u", 2);
    assert_string_equal(support_state(session, NULL), Q("{'temp:u':2}"));
    assert_string_equal(ses_invocation_id(session), "e-2");
    must_append(session, "{}");
    assert_null(ses_invocation_id(session));
    assert_string_equal(support_state(session, NULL), "{}");
    ses_session_close(session);
}

static void test_ending_takes_the_values_away(void **state)
{
    ses_session *session = agent_session(*state, NULL);
    ses_tracked *tracked = agent_view(session, 0);
    ses_error error;

    assert_ok(ses_invocation_begin(session, "e-1", &error));
    append_temp(session, "e-1", "t", 1);
    assert_ok(ses_tracked_set(tracked, "temp:own", "1", SES_NUL, &error));
    assert_ok(ses_invocation_end(session, &error));
    assert_null(ses_invocation_id(session));
    agent_assert_shows(tracked, Q("{'temp:own':1}")); /* what a view has not appended is the view's */
    assert_ok(ses_invocation_end(session, &error));
    ses_tracked_close(tracked);
    ses_session_close(session);
}

static void test_ids_have_rules(void **state)
{
    struct fixture *fixture = *state;
    ses_session *session = agent_session(fixture, NULL);
    ses_error error;
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
    ses_session_close(session);
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

static void test_made_ids_come_from_the_store(void **state)
{
    struct fixture *fixture = *state;
    size_t len = 3;
    ses_session *session = NULL;
    ses_error error;

    fixture->options.make_id = make_id;
    fixture->options.make_id_context = &len;
    fixture_reopen(fixture);
    session = must_open_new(fixture->store, &agent_key, NULL);
    assert_ok(ses_invocation_begin(session, NULL, &error));
    assert_string_equal(ses_invocation_id(session), "e-mmm");
    len = 511; /* an id itself, but too long behind e- */
    assert_code(SES_INVALID, ses_invocation_begin(session, NULL, &error));
    len = 0;
    assert_code(SES_INVALID, ses_invocation_begin(session, NULL, &error));
    assert_string_equal(ses_invocation_id(session), "e-mmm");
    ses_session_close(session);
}

static void test_an_id_for_the_caller(void **state)
{
    struct fixture *fixture = *state;
    char id[SES_ID_MAX + 1];
    char other[37];
    size_t len = 40;
    ses_error error;

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

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup_memory, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_ids_are_made_as_the_adk_makes_them),
        TEST(test_everyone_in_the_invocation_sees_its_temp_values),
        TEST(test_beginning_another_takes_the_values_away),
        TEST(test_an_event_of_another_begins_that_one),
        TEST(test_ending_takes_the_values_away),
        TEST(test_ids_have_rules),
        TEST(test_made_ids_come_from_the_store),
        TEST(test_an_id_for_the_caller),
    };
    return cmocka_run_group_tests_name("invocation", tests, NULL, NULL);
}
