/* Shared by the tests of appending: the look of a session, to compare it before and after, here and there. */
#ifndef SESLITE_TEST_APPEND_H
#define SESLITE_TEST_APPEND_H

#include "support.h"

#define REMOVED "\"__ADK_SENTINEL_REMOVED__\""

static const ses_key key = {"app", "user", "session"};

/* Everything that can be seen of a session; its temp: values only when asked for. Free it. */
static inline char *describe(const ses_session *session, int with_temp)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    fprintf(out, "version %lld, last %lld, stored %lld, created %lld, updated %lld\n",
            (long long)ses_session_version(session), (long long)ses_session_last_seq(session),
            (long long)ses_session_stored(session), (long long)ses_session_created_us(session),
            (long long)ses_session_updated_us(session));
    for (size_t i = 0; i < ses_state_count(session); i++) {
        const char *name = NULL;
        const char *json = NULL;
        ses_error error;
        assert_ok(ses_state_at(session, i, &name, &json, NULL, &error));
        if (with_temp || strncmp(name, "temp:", 5) != 0)
            fprintf(out, "%s = %s\n", name, json);
    }
    for (size_t i = 0; i < ses_session_event_count(session); i++) {
        const ses_event *event = ses_session_event(session, i);
        fprintf(out, "%lld at %lld: %s\n", (long long)event->seq, (long long)event->time_us, event->json);
    }
    assert_int_equal(fclose(out), 0);
    return text;
}

/* How a fresh handle shows the session. */
static inline char *describe_stored(ses_store *store, const ses_key *of)
{
    ses_session *stored = must_get(store, of);

    char *text = describe(stored, 1);
    ses_session_close(stored);
    return text;
}

/* The handle shows what the file has, and its own temp: values at most. */
static inline void assert_handle_is_current(ses_store *store, const ses_session *session)
{
    const ses_key own = {ses_session_app(session), ses_session_user(session), ses_session_id(session)};
    char *expected = describe_stored(store, &own);
    char *shown = describe(session, 0);

    assert_string_equal(shown, expected);
    free(expected);
    free(shown);
}

static inline void assert_state(const ses_session *session, const char *expected)
{
    assert_string_equal(support_state(session, NULL), expected);
}

static inline void assert_stored_state(ses_store *store, const ses_key *of, const char *expected)
{
    char *json = NULL;
    ses_error error;

    assert_ok(ses_state_json_by_key(store, of, NULL, &json, NULL, &error));
    assert_string_equal(json, expected);
    ses_free(json);
}

#endif
