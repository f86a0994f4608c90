/* Sessions that the ADK recorded, replayed event by event. */
#include "support.h"

#include <cjson/cJSON.h>

enum { MAX_EVENTS = 64 };

struct text_span {
    const char *start;
    size_t len;
};

/* A recorded session: cJSON's view of it to look at, and where its pieces stand to take the bytes. */
struct recording {
    char *text;
    cJSON *json;
    struct text_span events[MAX_EVENTS];
    size_t event_count;
    char *initial_state; /* the keys of its state that no event sets, with their bytes */
    ses_key key;
};

/* ----------------------------------------------------------------------------- a walk over good JSON */

static const char *skip_space(const char *p)
{
    return p + strspn(p, " \t\r\n");
}

static const char *skip_string(const char *p)
{
    for (p++; *p != '"'; p++)
        p += *p == '\\';
    return p + 1;
}

/* Behind the value that begins at `p`. */
static const char *skip_value(const char *p)
{
    int depth = 0;
    do {
        if (*p == '"') {
            p = skip_string(p);
        } else {
            depth += *p == '{' || *p == '[';
            depth -= *p == '}' || *p == ']';
            p++;
        }
        assert_true(*p != '\0' || depth == 0);
    } while (depth > 0 || (*p != '\0' && !strchr(",}] \t\r\n", *p)));
    return p;
}

/* The next member of the object, at first behind its brace: moves on behind it. False at the end. */
static int next_member(const char **p, struct text_span *name, struct text_span *value)
{
    const char *at = *p + strspn(*p, " \t\r\n,");
    int found = *at == '"';

    if (found) {
        name->start = at;
        at = skip_string(at);
        name->len = (size_t)(at - name->start);
        at = skip_space(at);
        assert_int_equal(*at, ':');
        at = skip_space(at + 1);
        value->start = at;
        at = skip_value(at);
        value->len = (size_t)(at - value->start);
    }
    *p = at;
    return found;
}

static int span_is(struct text_span span, const char *text)
{
    return span.len == strlen(text) && memcmp(span.start, text, span.len) == 0;
}

static struct text_span member_of(const char *object, const char *quoted_name)
{
    const char *p = skip_space(object) + 1;
    struct text_span name;
    struct text_span value = {NULL, 0};

    while (next_member(&p, &name, &value)) {
        if (span_is(name, quoted_name))
            return value;
    }
    return (struct text_span){NULL, 0};
}

/* ----------------------------------------------------------------------------------------- recordings */

static void find_events(struct recording *recording)
{
    struct text_span events = member_of(recording->text, "\"events\"");

    assert_non_null(events.start);
    const char *p = skip_space(events.start + 1);
    while (*p != ']') {
        assert_true(recording->event_count < MAX_EVENTS);
        struct text_span *event = &recording->events[recording->event_count++];
        event->start = p;
        p = skip_value(p);
        event->len = (size_t)(p - event->start);
        p += strspn(p, " \t\r\n,");
    }
}

/* The delta of an event in either spelling; NULL when it has none. */
static const cJSON *delta_of(const cJSON *event)
{
    const cJSON *actions = cJSON_GetObjectItemCaseSensitive(event, "actions");
    const cJSON *delta = cJSON_GetObjectItemCaseSensitive(actions, "state_delta");
    return delta ? delta : cJSON_GetObjectItemCaseSensitive(actions, "stateDelta");
}

static int is_set_by_an_event(const struct recording *recording, struct text_span quoted_name)
{
    const cJSON *events = cJSON_GetObjectItemCaseSensitive(recording->json, "events");
    const cJSON *event = NULL;
    char name[128];

    assert_true(quoted_name.len < sizeof name);
    memcpy(name, quoted_name.start + 1, quoted_name.len - 2);
    name[quoted_name.len - 2] = '\0';
    assert_null(strchr(name, '\\'));
    cJSON_ArrayForEach(event, events)
    {
        if (cJSON_HasObjectItem(delta_of(event), name))
            return 1;
    }
    return 0;
}

static void make_initial_state(struct recording *recording)
{
    struct text_span state = member_of(recording->text, "\"state\"");
    struct text_span name;
    struct text_span value;

    assert_non_null(state.start);
    recording->initial_state = malloc(state.len + 3);
    assert_non_null(recording->initial_state);
    char *to = stpcpy(recording->initial_state, "{");
    const char *p = state.start + 1;
    while (next_member(&p, &name, &value)) {
        if (is_set_by_an_event(recording, name))
            continue;
        if (to[-1] != '{')
            *to++ = ',';
        memcpy(to, name.start, name.len);
        to += name.len;
        *to++ = ':';
        memcpy(to, value.start, value.len);
        to += value.len;
    }
    (void)stpcpy(to, "}");
}

static const char *string_of(const cJSON *object, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    assert_non_null(text);
    return text;
}

static int recording_open(struct recording *recording, const char *name)
{
    size_t len = 0;

    *recording = (struct recording){.text = support_test_data(name, &len)};
    if (!recording->text)
        return 0;
    recording->json = cJSON_ParseWithLength(recording->text, len);
    assert_non_null(recording->json);
    recording->key = (ses_key){string_of(recording->json, "app_name"), string_of(recording->json, "user_id"),
                               string_of(recording->json, "id")};
    find_events(recording);
    make_initial_state(recording);
    return 1;
}

static void recording_close(struct recording *recording)
{
    free(recording->initial_state);
    cJSON_Delete(recording->json);
    free(recording->text);
}

static const cJSON *event_json(const struct recording *recording, size_t index)
{
    return cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(recording->json, "events"), (int)index);
}

/* Six places of seconds in this century fit into a double: the nearest microsecond is the one written. */
static int64_t microseconds_of(double seconds)
{
    return (int64_t)(seconds * 1e6 + 0.5);
}

static int64_t time_of_event(const struct recording *recording, size_t index)
{
    const cJSON *time = cJSON_GetObjectItemCaseSensitive(event_json(recording, index), "timestamp");
    assert_true(cJSON_IsNumber(time));
    return microseconds_of(time->valuedouble);
}

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
        const ses_cursor_options options = {.size = sizeof options, .backward = backward};
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

/* When the session was created is not recorded; before its first event, it must be. */
static void create(const struct recording *recording, ses_store *store, ses_session **session)
{
    int64_t created_us = time_of_event(recording, 0) - 1000000;
    const ses_create_options options = {.size = sizeof options, .create_us = &created_us};
    ses_error error;

    assert_ok(
        ses_create(store, &recording->key, recording->initial_state, SES_NUL, &options, session, &error));
}

static void replay(struct fixture *fixture, const char *name, size_t event_count)
{
    struct recording recording;
    ses_session *session = NULL;
    ses_session *follower = NULL;
    ses_error error;

    if (!recording_open(&recording, name))
        skip();
    assert_int_equal(recording.event_count, event_count);
    create(&recording, fixture->store, &session);
    follower = must_get(fixture->store, &recording.key);
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

static void test_customer_service(void **state)
{
    replay(*state, "data/adk-samples/customer_service.session.json", 34);
}

static void test_image_search(void **state)
{
    replay(*state, "data/adk-samples/image_search_denim_skirt.session.json", 41);
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
    create(&recording, fixture->store, NULL);
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

static void test_importing_at_once(void **state)
{
    import(*state, "data/adk-samples/customer_service.session.json");
    import(*state, "data/adk-samples/image_search_denim_skirt.session.json");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_customer_service, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_image_search, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_importing_at_once, fixture_setup_memory, fixture_teardown),
    };
    return cmocka_run_group_tests_name("replay", tests, NULL, NULL);
}
