/* Stored sessions can be given again to a store with the same limits. */
#include "lines.h"

static int load_again(ses_store *store, ses_session *session, ses_error *error)
{
    char *json = NULL;
    size_t len = 0;

    assert_int_equal(ses_session_json(session, &json, &len, error), SES_OK);
    int code = ses_load_json(store, NULL, json, len, NULL, NULL, error);
    ses_free(json);
    return code;
}

/* The event is stored once, and its session can be loaded and imported under the same limits. */
static void assert_comes_back(const struct fixture *fixture, ses_session *session, const ses_event *event)
{
    ses_import_report report;
    ses_error error;

    assert_code(SES_DUPLICATE,
                ses_append_by_key(fixture->store, &key, event->json, event->json_len, NULL, NULL, &error));
    ses_store *other = must_open(":memory:", &fixture->options);
    assert_ok(load_again(other, session, &error));
    must_delete(other, &key);
    struct text lines = exported(fixture->store, NULL);
    assert_ok(import_text(other, lines.data, lines.len, 0, &report, &error));
    free(lines.data);
    ses_close(other);
}

/* With the id and the time that the store adds, an event may be longer than it may be given. */
TEST(stored_events_can_be_given_again)
{
    char event[201];

    fixture->options.max_event_bytes = 200;
    fixture_reopen(fixture);
    snprintf(event, sizeof event, "{\"author\":\"%0187d\"}", 0);
    assert_int_equal(strlen(event), 200);
    must_create(fixture->store, &key, NULL);
    must_append_by_key(fixture->store, &key, event);
    ses_session *session = must_get(fixture->store, &key);
    const ses_event *stored = ses_session_event(session, 0);
    assert_true(stored->json_len > 200);
    assert_comes_back(fixture, session, stored);
    ses_session_close(session);
}

/* A rewind brings back a state that no single event could. */
TEST(a_rewind_longer_than_the_limit_comes_back)
{
    enum { LIMIT = 1000, KEYS = 200 };
    char event[LIMIT];

    fixture->options.max_event_bytes = LIMIT;
    fixture_reopen(fixture);
    must_create(fixture->store, &key, NULL);
    must_append_by_key(fixture->store, &key,
                       Q("{'id':'first','author':'user','invocationId':'i','timestamp':1}"));
    for (int i = 0; i < 2 * KEYS; i++) {
        snprintf(event, sizeof event,
                 "{\"invocationId\":\"%s\",\"actions\":{\"stateDelta\":{\"k%d\":\"%0500d\"}}}",
                 i < KEYS ? "i" : "j", i % KEYS, i);
        must_append_by_key(fixture->store, &key, event);
    }
    ses_session *session = must_get(fixture->store, &key);
    const ses_point point = {.size = sizeof point, .kind = SES_POINT_INVOCATION, .id = "j"};
    assert_ok(ses_rewind(session, &point, NULL, NULL, &error));
    const ses_event *rewind = ses_session_event(session, ses_session_event_count(session) - 1);
    assert_true(rewind->json_len > KEYS * 500);
    assert_comes_back(fixture, session, rewind);
    assert_code(SES_DUPLICATE, ses_append(session, rewind->json, rewind->json_len, NULL, NULL, &error));
    /* Another session has no such event, so there it is too long. */
    ses_store *other = must_open(":memory:", &fixture->options);
    must_create(other, &(ses_key){"app", "user", "empty"}, NULL);
    assert_code(SES_LIMIT, ses_append_by_key(other, &(ses_key){"app", "user", "empty"}, rewind->json,
                                             rewind->json_len, NULL, NULL, &error));
    assert_message("max_event_bytes, 1000");
    ses_session_close(session);
    ses_close(other);
}

/* One that differs from the stored event of its id is no retry. */
TEST(a_long_event_is_no_retry_of_another)
{
    char event[5000];

    must_create(fixture->store, &key, NULL);
    for (int i = 0; i < 2; i++) {
        snprintf(event, sizeof event, "{\"id\":\"e\",\"timestamp\":1,\"author\":\"%04900d\"}", i);
        assert_code(i == 0 ? SES_OK : SES_EXISTS,
                    ses_append_by_key(fixture->store, &key, event, SES_NUL, NULL, NULL, &error));
        fixture->options.max_event_bytes = 100;
        fixture_reopen(fixture);
    }
}

/* Levels around a value do not count against it, and a late time is not taken for milliseconds. */
TEST(deep_values_and_late_times_are_loaded_again)
{
    enum { DEPTH = 999 };
    const int64_t late = INT64_C(200000000000000000);
    const ses_create_options options = {.size = sizeof options, .created_us = &late};
    char texts[2][2 * DEPTH + 32];

    for (int i = 0; i < 2; i++) {
        size_t len = (size_t)snprintf(texts[i], sizeof texts[i], "{\"%s\":", i ? "x" : "deep");
        memset(texts[i] + len, '[', DEPTH);
        memset(texts[i] + len + DEPTH, ']', DEPTH);
        memcpy(texts[i] + len + 2 * (size_t)DEPTH, "}", 2);
    }
    assert_ok(ses_create(fixture->store, &key, texts[0], SES_NUL, &options, NULL, &error));
    must_append_by_key(fixture->store, &key, texts[1]);
    ses_session *session = must_get(fixture->store, &key);
    ses_store *other = must_open(":memory:", NULL);
    assert_ok(load_again(other, session, &error));
    ses_session *loaded = must_get(other, &key);
    assert_true(ses_session_updated_us(loaded) == late);
    assert_string_equal(support_state(loaded, NULL), texts[0]);
    assert_string_equal(ses_session_event(loaded, 0)->json, ses_session_event(session, 0)->json);
    ses_session_close(loaded);
    ses_session_close(session);
    ses_close(other);
}
