/* The output key. */
#include "agent.h"

#define BY(author, rest) "{\"author\":\"" author "\"" rest "}"
#define SAYS(text) ",\"content\":{\"parts\":[{\"text\":\"" text "\"}]}"

MEMORY_TEST(the_delta_that_saves_a_final_text)
{
    static const struct {
        const char *event;
        const char *delta; /* NULL: none */
    } cases[] = {
        {BY("me", SAYS("hello \\\"you\\\"\\u00e9")), "{'answer':'hello \\'you\\'\xc3\xa9'}"},
        {BY("me", SAYS("")), "{'answer':''}"},
        {BY("me",
            ",\"content\":{\"parts\":[{\"text\":\"a\"},{\"text\":\"t\",\"thought\":true},{\"text\":\"b\"}]}"),
         "{'answer':'ab'}"},
        {BY("me", ",\"content\":{\"parts\":[{\"text\":\"t\",\"thought\":true}]}"), NULL},
        {BY("me", ""), NULL},
        {BY("other", SAYS("hello")), NULL},
        {BY("m", SAYS("hello")), NULL},
        {BY("me2", SAYS("hello")), NULL},
        {"{'content':{'parts':[{'text':'a'}]}}", NULL},
        {BY("me", ",\"partial\":true" SAYS("hello")), NULL},
        {BY("me", ",\"content\":{\"parts\":[{\"text\":\"a\"},{\"functionCall\":{\"name\":\"f\"}}]}"), NULL},
        {BY("me", ",\"longRunningToolIds\":[\"c\"],\"content\":{\"parts\":[{\"text\":\"a\"},{"
                  "\"functionCall\":{}}]}"),
         "{'answer':'a'}"},
        {"{'author':'m\\u0065'" SAYS("hello") "}", "{'answer':'hello'}"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *delta = (char *)fixture;
        size_t len = 0;
        assert_ok(ses_output_delta(fixture->store, Q(cases[i].event), SES_NUL, "me", "answer", &delta, &len,
                                   &error));
        if (Q(cases[i].delta)) {
            assert_string_equal(delta, Q(cases[i].delta));
            assert_int_equal(len, strlen(Q(cases[i].delta)));
        } else {
            assert_null(delta);
        }
        ses_free(delta);
    }
}

MEMORY_TEST(appending_in_one_call)
{
    ses_session *session = agent_session(fixture, NULL);
    ses_tracked *tracked = agent_view(session, 0);
    ses_appended appended;

    assert_ok(ses_tracked_set(tracked, "z", "1", SES_NUL, &error));
    assert_ok(ses_tracked_set(tracked, "user:answer", Q("'of the view'"), SES_NUL, &error));
    assert_ok(ses_output_append(tracked, "{\"id\":\"x\",\"timestamp\":1,\"author\":\"me\"" SAYS("done") "}",
                                SES_NUL, "me", "user:answer", NULL, &appended, &error));
    agent_assert_stored(session,
                        "{\"id\":\"x\",\"timestamp\":1,\"author\":\"me\"" SAYS(
                            "done") ",\"actions\":{\"stateDelta\":{\"z\":1,\"user:answer\":\"done\"}}}");
    assert_int_equal(appended.seq, 1);
    assert_false(ses_tracked_changed(tracked));
    assert_string_equal(support_state(session, NULL), Q("{'user:answer':'done','z':1}"));
    /* Nothing of its own, and nothing to save: the event as it is. */
    assert_ok(ses_output_append(tracked, "{\"id\":\"y\",\"timestamp\":1,\"author\":\"you\"" SAYS("no") "}",
                                SES_NUL, "me", "user:answer", NULL, NULL, &error));
    agent_assert_stored(session, "{\"id\":\"y\",\"timestamp\":1,\"author\":\"you\"" SAYS("no") "}");
    /* Nothing to save, but writes. */
    assert_ok(ses_tracked_set(tracked, "z", "2", SES_NUL, &error));
    assert_ok(ses_output_append(tracked, Q("{'author':'you'}"), SES_NUL, "me", "answer", NULL, NULL, &error));
    assert_string_equal(support_state(session, NULL), Q("{'user:answer':'done','z':2}"));
    /* A clean view, and a text to save, for this invocation only. */
    assert_ok(ses_output_append(tracked, BY("me", SAYS("temporary")), SES_NUL, "me", "temp:answer", NULL,
                                NULL, &error));
    agent_assert_value(tracked, "temp:answer", Q("'temporary'"));
    /* An agent without an output key. */
    assert_ok(ses_tracked_set(tracked, "z", "3", SES_NUL, &error));
    assert_ok(ses_output_append(tracked, "{\"id\":\"n\",\"timestamp\":1,\"author\":\"me\"" SAYS("none") "}",
                                SES_NUL, "me", NULL, NULL, NULL, &error));
    agent_assert_stored(session, "{\"id\":\"n\",\"timestamp\":1,\"author\":\"me\"" SAYS(
                                     "none") ",\"actions\":{\"stateDelta\":{\"z\":3}}}");
}

#define CALLS ",\"content\":{\"parts\":[{\"text\":\"b\"},{\"functionCall\":{\"name\":\"f\"}}]}"

/* As google-adk 2.13 does: the texts beside calls as well, and those of this agent alone. */
MEMORY_TEST(the_text_of_a_turn_accumulates)
{
    ses_session *session = agent_session(fixture, NULL);
    ses_tracked *tracked = agent_view(session, SES_TRACK_ACCUMULATE);
    const struct {
        const char *event;
        int code;
        const char *saved;
    } steps[] = {
        {BY("me", SAYS("a")), SES_OK, "'a'"},
        {BY("me", CALLS), SES_OK, "'ab'"},
        {BY("you", SAYS("no")), SES_OK, "'ab'"},
        {BY("me", ",\"partial\":true" SAYS("part")), SES_PARTIAL, "'ab'"},
        {"{", SES_JSON, "'ab'"},
        {BY("me", ",\"content\":{\"parts\":[{\"functionResponse\":{\"name\":\"f\"}}]}"), SES_OK, "'ab'"},
        {BY("me", SAYS("c")), SES_OK, "'abc'"},
    };

    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        assert_code(steps[i].code,
                    ses_output_append(tracked, steps[i].event, SES_NUL, "me", "answer", NULL, NULL, &error));
        agent_assert_value(tracked, "answer", Q(steps[i].saved));
    }
    assert_ok(ses_output_append(tracked, BY("me", SAYS("d")), SES_NUL, "me", "other", NULL, NULL, &error));
    agent_assert_value(tracked, "other", Q("'d'"));
    ses_tracked_close(tracked);
    tracked = agent_view(session, 0);
    assert_ok(ses_output_append(tracked, BY("me", CALLS), SES_NUL, "me", "answer", NULL, NULL, &error));
    agent_assert_value(tracked, "answer", Q("'abc'"));
}

/* So that the event can be sent again, and is then the same. */
MEMORY_TEST(events_that_were_not_stored_are_not_added)
{
    static const char event[] = "{\"id\":\"x\",\"timestamp\":1,\"author\":\"me\"" SAYS("b") "}";
    ses_session *session = agent_session(fixture, NULL);
    ses_tracked *tracked = agent_view(session, SES_TRACK_ACCUMULATE);

    assert_ok(ses_output_append(tracked, BY("me", SAYS("a")), SES_NUL, "me", "answer", NULL, NULL, &error));
    must_append_by_key(fixture->store, &agent_key, "{}");
    assert_code(SES_STALE, ses_output_append(tracked, event, SES_NUL, "me", "answer", NULL, NULL, &error));
    must_refresh(session);
    ses_tracked_discard(tracked);
    assert_ok(ses_output_append(tracked, event, SES_NUL, "me", "answer", NULL, NULL, &error));
    agent_assert_value(tracked, "answer", Q("'ab'"));
}

#define SPOKEN(id, text) "{\"id\":\"" id "\",\"timestamp\":1,\"author\":\"me\"" SAYS(text) "}"

static int say(ses_tracked *tracked, const char *event, const char *key, ses_appended *appended,
               ses_error *error)
{
    return ses_output_append(tracked, event, SES_NUL, "me", key, NULL, appended, error);
}

/* However much the view has heard since, and if it has heard nothing, as after the end of a process. */
MEMORY_TEST(a_retry_of_what_a_turn_said_is_a_duplicate)
{
    static const char *const keys[] = {"answer", "user:answer", "temp:answer"};
    ses_appended appended;

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const ses_key key = {"app", "me", keys[i]};
        ses_session *session = must_open_new(fixture->store, &key, NULL);
        ses_session *outdated = must_get(fixture->store, &key);
        ses_tracked *tracked = agent_view(session, SES_TRACK_ACCUMULATE);
        ses_tracked *late = agent_view(outdated, SES_TRACK_ACCUMULATE);

        assert_code(SES_OK, say(tracked, SPOKEN("1", "a\\n"), keys[i], NULL, &error));
        assert_code(SES_DUPLICATE, say(tracked, SPOKEN("1", "a\\n"), keys[i], &appended, &error));
        assert_int_equal(appended.seq, 1);
        agent_assert_value(tracked, keys[i], Q("'a\\n'"));
        assert_code(SES_OK, say(tracked, SPOKEN("2", "b"), keys[i], NULL, &error));
        assert_code(SES_DUPLICATE, say(tracked, SPOKEN("1", "a\\n"), keys[i], NULL, &error));
        assert_code(SES_DUPLICATE, say(tracked, SPOKEN("2", "b"), keys[i], NULL, &error));
        assert_code(SES_OK, say(tracked, SPOKEN("3", "c"), keys[i], NULL, &error));
        agent_assert_value(tracked, keys[i], Q("'a\\nbc'"));

        assert_code(SES_DUPLICATE, say(late, SPOKEN("3", "c"), keys[i], NULL, &error));
        assert_int_equal(ses_session_last_seq(outdated), 3);
        if (strcmp(keys[i], "temp:answer") != 0) { /* the texts of the turn are stored nowhere else */
            agent_assert_value(late, keys[i], Q("'a\\nbc'"));
            assert_code(SES_OK, say(late, SPOKEN("4", "d"), keys[i], NULL, &error));
            agent_assert_value(late, keys[i], Q("'a\\nbcd'"));
        }
        ses_tracked_close(late);
        ses_tracked_close(tracked);
        ses_session_close(outdated);
        ses_session_close(session);
    }
}

MEMORY_TEST(another_event_with_that_id_exists)
{
    ses_session *session = agent_session(fixture, NULL);
    ses_tracked *tracked = agent_view(session, SES_TRACK_ACCUMULATE);

    must_append_by_key(fixture->store, &agent_key,
                       "{\"id\":\"0\",\"timestamp\":1,\"author\":\"me\"" SAYS(
                           "b") ",\"actions\":{\"stateDelta\":{\"answer\":\"x\"}}}");
    must_refresh(session);
    assert_code(SES_OK, say(tracked, SPOKEN("1", "a"), "answer", NULL, &error));
    assert_code(SES_OK, say(tracked, SPOKEN("2", "b"), "answer", NULL, &error));
    assert_ok(ses_tracked_set(tracked, "z", "1", SES_NUL, &error));
    assert_code(SES_EXISTS, say(tracked, SPOKEN("2", "b"), "answer", NULL, &error)); /* with another change */
    ses_tracked_discard(tracked);
    assert_code(SES_EXISTS, say(tracked, SPOKEN("2", "c"), "answer", NULL, &error));
    assert_code(SES_EXISTS, say(tracked, SPOKEN("2", "b"), "other", NULL, &error));
    assert_code(SES_EXISTS,
                say(tracked, SPOKEN("0", "b"), "answer", NULL, &error)); /* it saved another text */
    agent_assert_value(tracked, "answer", Q("'ab'"));
    assert_int_equal(ses_session_event_count(session), 3);
    assert_code(SES_OK, say(tracked, SPOKEN("3", "c"), "answer", NULL, &error));
    agent_assert_value(tracked, "answer", Q("'abc'"));
}

MEMORY_TEST(failures_change_nothing)
{
    ses_session *session = agent_session(fixture, NULL);
    ses_tracked *tracked = agent_view(session, 0);
    char *delta = (char *)fixture;
    char key[600];

    memset(key, 'k', sizeof key);
    key[sizeof key - 1] = '\0';
    assert_ok(ses_tracked_set(tracked, "z", "1", SES_NUL, &error));
    assert_code(SES_JSON, ses_output_append(tracked, "{", SES_NUL, "me", "k", NULL, NULL, &error));
    assert_code(SES_INVALID,
                ses_output_append(tracked, BY("me", SAYS("x")), SES_NUL, "me", key, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_output_append(tracked, "{}", SES_NUL, NULL, "k", NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_output_append(tracked, NULL, 0, "me", "k", NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_output_append(NULL, "{}", SES_NUL, "me", "k", NULL, NULL, &error));
    assert_code(SES_PARTIAL, ses_output_append(tracked, BY("me", ",\"partial\":true" SAYS("x")), SES_NUL,
                                               "me", "k", NULL, NULL, &error));
    agent_assert_delta(tracked, Q("{'z':1}"));
    assert_int_equal(ses_session_version(session), 0);

    assert_code(SES_JSON, ses_output_delta(fixture->store, "{", SES_NUL, "me", "k", &delta, NULL, &error));
    assert_null(delta);
    assert_code(SES_INVALID,
                ses_output_delta(fixture->store, "{}", SES_NUL, "me", "\xff", &delta, NULL, &error));
    assert_code(SES_MISUSE, ses_output_delta(NULL, "{}", SES_NUL, "me", "k", &delta, NULL, &error));
    assert_code(SES_MISUSE, ses_output_delta(fixture->store, NULL, 0, "me", "k", &delta, NULL, &error));
    assert_code(SES_MISUSE, ses_output_delta(fixture->store, "{}", SES_NUL, NULL, "k", &delta, NULL, &error));
    assert_code(SES_MISUSE, ses_output_delta(fixture->store, "{}", SES_NUL, "me", "k", NULL, NULL, &error));
}
