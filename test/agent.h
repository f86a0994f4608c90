/* Shared by the tests of the agent layer. */
#ifndef SESLITE_TEST_AGENT_H
#define SESLITE_TEST_AGENT_H

#include "support.h"

static const ses_key agent_key = {"app", "user", "session"};

/* A session in the fixture's store with that state. */
static inline ses_session *agent_session(struct fixture *fixture, const char *state)
{
    ses_session *session = must_open_new(fixture->store, &agent_key, state);

    return session;
}

static inline ses_tracked *agent_view(ses_session *session, unsigned flags)
{
    const ses_track_options options = {.size = sizeof options, .flags = flags};
    ses_tracked *tracked = NULL;
    ses_error error;
    assert_ok(ses_tracked_open(session, &options, &tracked, &error));
    return support_keep_tracked(tracked);
}

/* The view shows this value, as JSON; NULL: nothing. */
static inline void agent_assert_value(const ses_tracked *tracked, const char *name, const char *expected)
{
    const char *json = NULL;
    size_t len = 0;
    ses_error error;
    if (expected) {
        assert_ok(ses_tracked_get(tracked, name, &json, &len, &error));
        assert_string_equal(json, expected);
        assert_int_equal(len, strlen(expected));
    } else {
        assert_code(SES_ABSENT, ses_tracked_get(tracked, name, &json, &len, &error));
    }
    assert_int_equal(ses_tracked_has(tracked, name), expected != NULL);
}

static inline void agent_assert_delta(const ses_tracked *tracked, const char *expected)
{
    char *json = NULL;
    size_t len = 0;
    ses_error error;
    assert_ok(ses_tracked_delta(tracked, &json, &len, &error));
    assert_string_equal(json, expected);
    assert_int_equal(len, strlen(expected));
    ses_free(json);
}

static inline void agent_assert_shows(const ses_tracked *tracked, const char *expected)
{
    char *json = NULL;
    size_t len = 0;
    ses_error error;
    assert_ok(ses_tracked_json(tracked, &json, &len, &error));
    assert_string_equal(json, expected);
    assert_int_equal(len, strlen(expected));
    ses_free(json);
}

/* The last event of the handle is stored with these bytes, but for the id and time put in front. */
static inline void agent_assert_stored(const ses_session *session, const char *expected)
{
    size_t count = ses_session_event_count(session);
    assert_true(count > 0);
    assert_string_equal(ses_session_event(session, count - 1)->json, expected);
}

#endif
