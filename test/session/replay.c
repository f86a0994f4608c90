/* Sessions that the ADK recorded, replayed event by event. */
#include "recording.h"

/* ------------------------------------------------------------------------------------------- replaying */

static void assert_event(const struct recording *recording, size_t index, const ses_event *event)
{
    const struct text_span *span = &recording->events[index];
    const cJSON *json = event_json(recording, index);

    assert_non_null(event);
    assert_int_equal(event->seq, index + 1);
    assert_int_equal(event->json_len, span->len);
    assert_memory_equal(event->json, span->start, span->len);
    assert_int_equal(event->json[event->json_len], '\0');
    assert_string_equal(event->id, string_of(json, "id"));
    assert_string_equal(event->author, string_of(json, "author"));
    assert_string_equal(event->invocation_id, string_of(json, "invocation_id"));
    assert_int_equal(event->time_us, time_of_event(recording, index));
}

static void assert_state_is_the_recorded(const struct recording *recording, const char *text)
{
    cJSON *state = cJSON_Parse(text);
    assert_non_null(state);
    assert_true(cJSON_Compare(state, cJSON_GetObjectItemCaseSensitive(recording->json, "state"), 1));
    cJSON_Delete(state);
}

/*
 * The session is as recorded, but for last_update_time: in one recording that is the time of the last event
 * though an earlier one has a later time, in the other it is later than every event. Here it never goes back.
 */
static void assert_session(const struct recording *recording, const ses_session *session)
{
    int64_t latest = INT64_MIN;

    assert_int_equal(ses_session_event_count(session), recording->event_count);
    assert_int_equal(ses_session_stored(session), recording->event_count);
    assert_int_equal(ses_session_version(session), recording->event_count);
    for (size_t i = 0; i < recording->event_count; i++) {
        int64_t time = time_of_event(recording, i);
        assert_event(recording, i, ses_session_event(session, i));
        latest = time > latest ? time : latest;
    }
    assert_int_equal(ses_session_updated_us(session), latest);
    assert_state_is_the_recorded(recording, support_state(session, NULL));
}

static void assert_stored(const struct recording *recording, ses_store *store)
{
    ses_session *session = must_get(store, &recording->key);
    char *state = NULL;
    ses_error error;

    assert_session(recording, session);
    ses_session_close(session);
    assert_ok(ses_state_json_by_key(store, &recording->key, NULL, &state, NULL, &error));
    assert_state_is_the_recorded(recording, state);
    ses_free(state);
    for (int backward = 0; backward < 2; backward++) {
        const ses_cursor_options options = {.size = sizeof options,
                                            .flags = backward ? SES_CURSOR_BACKWARD : 0};
        ses_cursor *cursor = NULL;
        const ses_event *event = NULL;
        assert_ok(ses_cursor_open(store, &recording->key, &options, &cursor, &error));
        for (size_t i = 0; i < recording->event_count; i++) {
            assert_code(SES_ROW, ses_cursor_next(cursor, &event, &error));
            assert_event(recording, backward ? recording->event_count - 1 - i : i, event);
        }
        assert_ok(ses_cursor_next(cursor, &event, &error));
        assert_ok(ses_cursor_close(cursor, &error));
    }
}

static void replay(struct fixture *fixture, const char *name, size_t event_count)
{
    struct recording recording;
    ses_session *session = NULL;
    ses_error error;

    if (!recording_open(&recording, name))
        skip();
    assert_int_equal(recording.event_count, event_count);
    recording_create(&recording, fixture->store, &session);
    ses_session *follower = must_get(fixture->store, &recording.key);
    for (size_t i = 0; i < event_count; i++) {
        const struct text_span *event = &recording.events[i];
        assert_ok(ses_append(session, event->start, event->len, NULL, NULL, &error));
        if (i % 5 == 4) {
            must_refresh(follower);
            assert_int_equal(ses_session_event_count(follower), i + 1);
        }
    }
    assert_session(&recording, session);
    must_refresh(follower);
    assert_session(&recording, follower);
    assert_stored(&recording, fixture->store);
    ses_session_close(session);
    ses_session_close(follower);
    fixture_reopen(fixture);
    assert_stored(&recording, fixture->store);
    recording_close(&recording);
}

TEST(customer_service)
{
    replay(fixture, "data/adk-samples/customer_service.session.json", 34);
}

TEST(image_search)
{
    replay(fixture, "data/adk-samples/image_search_denim_skirt.session.json", 41);
}

/* As an import would do it: all events at once, and safely a second time. */
static void import(struct fixture *fixture, const char *name)
{
    struct recording recording;
    ses_text events[MAX_EVENTS];
    ses_appended appended[MAX_EVENTS];
    ses_error error;

    if (!recording_open(&recording, name))
        skip();
    for (size_t i = 0; i < recording.event_count; i++)
        events[i] = (ses_text){recording.events[i].start, recording.events[i].len};
    recording_create(&recording, fixture->store, NULL);
    for (int round = 0; round < 2; round++) {
        assert_ok(ses_append_batch_by_key(fixture->store, &recording.key, events, recording.event_count, NULL,
                                          appended, &error));
        for (size_t i = 0; i < recording.event_count; i++) {
            assert_int_equal(appended[i].status, round ? SES_DUPLICATE : SES_OK);
            assert_int_equal(appended[i].seq, i + 1);
        }
        assert_stored(&recording, fixture->store);
    }
    recording_close(&recording);
}

MEMORY_TEST(importing_at_once)
{
    import(fixture, "data/adk-samples/customer_service.session.json");
    import(fixture, "data/adk-samples/image_search_denim_skirt.session.json");
}
