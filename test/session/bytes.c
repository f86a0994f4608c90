/* Values of the state, and whole events, come out with the bytes that went in. */
#include "support.h"

enum { MEBIBYTE = 1024 * 1024, DEEP = 990 };

/* Values that JSON libraries are known to change. */
static const char *const hard_values[] = {
    /* Numbers that are not what a double is. */
    "9007199254740993",
    "-9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "18446744073709551616",
    "123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890",
    "1e400",
    "-1E+400",
    "1e-400",
    "-0.0",
    "-0",
    "0.0",
    "1.10",
    "1.0",
    "1e0",
    "1E+02",
    "0.1000000000000000055511151231257827021181583404541015625",
    "3.141592653589793238462643383279502884",
    /* Strings. */
    "\"\"",
    "\"a\\u0000b\"",
    "\"\\u0000\"",
    "\"\\ud800\"",
    "\"\\udfff\\ud800\"",
    "\"x\\uD83Dx\"",
    "\"\\uD83D\\uDE00 \xF0\x9F\x98\x80\"",
    "\"\\u00e9 \\u00E9 \xC3\xA9\"",
    "\"\\/ / \\\\ \\\" \\b\\f\\n\\r\\t \\u001f\"",
    "\"\x7F \xE2\x80\xA8\xE2\x80\xA9 \xEF\xBB\xBF \xEF\xBF\xBF\"",
    "\"  spaces  kept  \"",
    "\"{\\\"temp:x\\\":1}\"",
    "\"\\u005f_ADK_SENTINEL_REMOVED__ \"",
    "\"null\"",
    /* Words. */
    "null",
    "true",
    "false",
    /* Containers: doubled, empty and unordered keys, spacing, what looks special further down. */
    "{}",
    "[]",
    "{ }",
    "[ \t\r\n ]",
    "{'a':1,'a':2,'a':1}",
    "{'x':{'k':1,'k':{'k':2,'k':3},'k':4}}",
    "[{'':0},{'':{'':''}}]",
    "{'':1,'':2}",
    "{'b':1,'a':2,'c':3,'B':4,'10':5,'9':6}",
    "{ 'b' :1 ,\r\n\t'a': [ 1,2 , 3 ]\n, 'c':{ 'd' : null } }",
    "[1 ,2, 3,\t4,\n5]",
    "[[[[[[]]]]],[[],[]],[{}]]",
    "{'temp:a':1,'k':2,'temp:b':3}",
    "['temp:a',{'temp:a':{'temp:b':{}}}]",
    "{'removed':'__ADK_SENTINEL_REMOVED__','list':['__ADK_SENTINEL_REMOVED__']}",
    "{'id':7,'timestamp':'never','partial':true,'actions':[],'stateDelta':0}",
    "{'\\u0061':1,'a':2,'\\u0000':3,'\\ud800':4}",
};

enum { TABLE_COUNT = sizeof hard_values / sizeof hard_values[0], VALUE_COUNT = TABLE_COUNT + 4 };

static char *made_values[VALUE_COUNT - TABLE_COUNT];

static const char *value_at(size_t index)
{
    return index < TABLE_COUNT ? Q(hard_values[index]) : made_values[index - TABLE_COUNT];
}

/* `opening` so many times, `middle`, `closing` so many times. */
static char *repeated(size_t count, const char *opening, const char *middle, const char *closing)
{
    char *text = malloc(count * (strlen(opening) + strlen(closing)) + strlen(middle) + 1);
    char *to = text;

    assert_non_null(text);
    for (size_t i = 0; i < count; i++)
        to = stpcpy(to, opening);
    to = stpcpy(to, middle);
    for (size_t i = 0; i < count; i++)
        to = stpcpy(to, closing);
    return text;
}

static int make_values(void **state)
{
    char *letters = repeated(MEBIBYTE, "a", "", "");
    char *escapes = repeated(MEBIBYTE / 6, "\\u0000", "", "");

    (void)state;
    made_values[0] = repeated(DEEP, "[", "1.10", "]");
    made_values[1] = repeated(DEEP, "{ \"\" :", "[ ]", "}");
    made_values[2] = repeated(1, "\"", letters, "\"");
    made_values[3] = repeated(1, "\"", escapes, "\"");
    free(letters);
    free(escapes);
    return 0;
}

static int free_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < VALUE_COUNT - TABLE_COUNT; i++)
        free(made_values[i]);
    return 0;
}

/* The pattern with every "%" replaced by the value; free it. */
static char *fill(const char *pattern, const char *value)
{
    size_t count = 0;
    for (const char *p = pattern; *p; p++)
        count += *p == '%';
    char *text = malloc(strlen(pattern) + count * strlen(value) + 1);
    char *to = text;

    assert_non_null(text);
    for (const char *p = pattern; *p; p++) {
        if (*p == '%')
            to = stpcpy(to, value);
        else
            *to++ = *p;
    }
    *to = '\0';
    return text;
}

static void assert_bytes(const char *expected, const char *actual, size_t len)
{
    if (len != strlen(expected) || memcmp(expected, actual, len + 1) != 0) {
        print_error("got %zu bytes: %.200s\nnot: %.200s\n", len, actual, expected);
        fail();
    }
}

/* Every session has an app and a user of its own here: shared values of one case must not help another. */
static ses_key key_of(char app[32], size_t index)
{
    snprintf(app, 32, "app %zu", index);
    return (ses_key){app, "user", "session"};
}

/* ---------------------------------------------------------------------------------------------- state */

static const char *const names[] = {"app:v", "user:v", "v"};

static void assert_state_of(const ses_session *session, const char *value)
{
    ses_error error;
    char *whole = fill("{\"app:v\":%,\"user:v\":%,\"v\":%}", value);
    const char *json = NULL;
    size_t len = 0;

    for (size_t i = 0; i < 3; i++) {
        assert_ok(ses_state_get(session, names[i], &json, &len, &error));
        assert_bytes(value, json, len);
    }
    json = support_state(session, &len);
    assert_bytes(whole, json, len);
    free(whole);
}

static void assert_stored_state(ses_store *store, const ses_key *key, const char *value)
{
    ses_error error;
    char *whole = fill("{\"app:v\":%,\"user:v\":%,\"v\":%}", value);
    char *json = NULL;
    size_t len = 0;

    ses_session *session = must_get(store, key);
    assert_state_of(session, value);
    ses_session_close(session);
    for (size_t i = 0; i < 3; i++) {
        assert_ok(ses_state_get_by_key(store, key, names[i], NULL, &json, &len, &error));
        assert_bytes(value, json, len);
        ses_free(json);
    }
    assert_ok(ses_state_json_by_key(store, key, NULL, &json, &len, &error));
    assert_bytes(whole, json, len);
    ses_free(json);
    free(whole);
}

static void assert_all_stored_states(ses_store *store)
{
    char app[32];
    for (size_t i = 0; i < VALUE_COUNT; i++) {
        ses_key key = key_of(app, i);
        assert_stored_state(store, &key, value_at(i));
    }
}

static void create_with_pattern(struct fixture *fixture, const char *pattern)
{
    char app[32];
    for (size_t i = 0; i < VALUE_COUNT; i++) {
        ses_key key = key_of(app, i);
        ses_session *session = NULL;
        ses_error error;
        char *text = fill(pattern, value_at(i));
        assert_ok(ses_create(fixture->store, &key, text, strlen(text), NULL, &session, &error));
        assert_state_of(session, value_at(i));
        ses_session_close(session);
        free(text);
    }
    assert_all_stored_states(fixture->store);
    fixture_reopen(fixture);
    assert_all_stored_states(fixture->store);
}

TEST(values_of_an_initial_state)
{
    create_with_pattern(fixture, "{\"v\":%,\"app:v\":%,\"user:v\":%}");
}

/* White space around a value is no part of it. */
TEST(values_of_an_initial_state_with_odd_spacing)
{
    create_with_pattern(fixture, "\r\n {\t\"user:v\" :%\n,\"v\"\t:\r%\t , \n\"app:v\":  %} \n");
}

static void append_with_pattern(struct fixture *fixture, const char *pattern)
{
    char app[32];
    for (size_t i = 0; i < VALUE_COUNT; i++) {
        ses_key key = key_of(app, i);
        ses_session *session = NULL;
        ses_session *other = NULL;
        ses_error error;
        char *text = fill(pattern, value_at(i));
        session = must_open_new(fixture->store, &key, Q("{'v':0,'app:v':0,'user:v':0}"));
        other = must_get(fixture->store, &key);
        assert_ok(ses_append(session, text, strlen(text), NULL, NULL, &error));
        assert_state_of(session, value_at(i));
        must_refresh(other);
        assert_state_of(other, value_at(i));
        ses_session_close(session);
        ses_session_close(other);
        free(text);
    }
    assert_all_stored_states(fixture->store);
    fixture_reopen(fixture);
    assert_all_stored_states(fixture->store);
}

TEST(values_of_a_delta)
{
    append_with_pattern(fixture, "{\"actions\":{\"stateDelta\":{\"v\":%,\"app:v\":%,\"user:v\":%}}}");
}

TEST(values_of_a_delta_with_odd_spacing)
{
    append_with_pattern(fixture,
                        "\t{ \"actions\"\n:\n{ \"state_delta\" :\r\n{\t\"user:v\" :%\n,\"v\"\t:\r%\t ,\n"
                        "\"app:v\":  % \n} \n} \r}\n");
}

/* The names of keys are decoded: another spelling is the same key. */
MEMORY_TEST(names_of_keys_are_texts)
{
    static const struct {
        const char *spelled;
        const char *name;
    } cases[] = {
        {"", ""},
        {" ", " "},
        {"\\u0061\\u0070\\u0070\\u003aplain", "app:plain"},
        {"us\\u0065r:plain", "user:plain"},
        {"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0001\x7F", "\"\\/\b\f\n\r\t\x01\x7F"},
        {"\\u00e9\xC3\xA8", "\xC3\xA9\xC3\xA8"},
        {"\\uD83D\\uDE00", "\xF0\x9F\x98\x80"},
        {"a.b/c d'e{f}", "a.b/c d'e{f}"},
        {"app:", "app:"},
        {"app:user:x", "app:user:x"},
        {"App:x", "App:x"},
    };
    const ses_key key = {"app", "user", "session"};
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    const char *json = NULL;
    char *value = NULL;
    char event[256];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(event, sizeof event, "{\"actions\":{\"stateDelta\":{\"%s\":1.%zu0}}}", cases[i].spelled, i);
        must_append(session, event);
        assert_int_equal(ses_state_count(session), i + 1);
    }
    must_create(fixture->store, &(ses_key){"app", "user", "copy"}, support_state(session, NULL));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char expected[16];
        snprintf(expected, sizeof expected, "1.%zu0", i);
        assert_ok(ses_state_get(session, cases[i].name, &json, NULL, &error));
        assert_string_equal(json, expected);
        assert_ok(ses_state_get_by_key(fixture->store, &key, cases[i].name, NULL, &value, NULL, &error));
        assert_string_equal(value, expected);
        ses_free(value);
        /* The state as one object is JSON that means the same. */
        assert_ok(ses_state_get_by_key(fixture->store, &(ses_key){"app", "user", "copy"}, cases[i].name, NULL,
                                       &value, NULL, &error));
        assert_string_equal(value, expected);
        ses_free(value);
    }
}

/* --------------------------------------------------------------------------------------------- events */

static const char *const event_patterns[] = {
    "{'id':'*','timestamp':1,'content':%}",
    "{'content':%,'timestamp':1700000000.50,'id':'*'}",
    " \n{ 'id' : '*' ,\t'timestamp':1e0 , 'content' : { 'p' : [ % , % ] } , '':%,'':%\r\n} \t",
    "{'id':'*','timestamp':'1970-01-01T00:00:00Z','actions':{'x':%,'stateDelta':{'k':%}}}",
    "{'id':'*','timestamp':1,'x':%,'x':%,'Author':%,'INVOCATION_ID':%,'state_delta':%}",
};

enum {
    PATTERN_COUNT = sizeof event_patterns / sizeof event_patterns[0],
    EVENT_COUNT = PATTERN_COUNT * VALUE_COUNT
};

/* Event number `index`, with an id of its own where the pattern has a star (no value has one); free it. */
static char *event_at(size_t index)
{
    char id[32];
    char *text = fill(Q(event_patterns[index % PATTERN_COUNT]), value_at(index / PATTERN_COUNT));
    char *star = strchr(text, '*');
    size_t id_len = (size_t)snprintf(id, sizeof id, "%08zu", index);
    size_t len = strlen(text);
    char *event = malloc(len + id_len);

    assert_non_null(event);
    assert_non_null(star);
    size_t before = (size_t)(star - text);
    memcpy(event, text, before);
    memcpy(event + before, id, id_len);
    memcpy(event + before + id_len, star + 1, len - before);
    free(text);
    return event;
}

static void assert_event(const ses_event *event, size_t index)
{
    char *expected = event_at(index);
    assert_non_null(event);
    assert_int_equal(event->seq, index + 1);
    assert_bytes(expected, event->json, event->json_len);
    free(expected);
}

static void assert_events_of(const ses_session *session)
{
    assert_int_equal(ses_session_event_count(session), EVENT_COUNT);
    for (size_t i = 0; i < EVENT_COUNT; i++)
        assert_event(ses_session_event(session, i), i);
}

static void assert_stored_events(ses_store *store, const ses_key *key)
{
    ses_session *session = must_get(store, key);
    ses_error error;

    assert_events_of(session);
    ses_session_close(session);
    for (int backward = 0; backward < 2; backward++) {
        const ses_cursor_options options = {.size = sizeof options,
                                            .flags = backward ? SES_CURSOR_BACKWARD : 0};
        ses_cursor *cursor = NULL;
        const ses_event *event = NULL;
        assert_ok(ses_cursor_open(store, key, &options, &cursor, &error));
        for (size_t i = 0; i < EVENT_COUNT; i++) {
            assert_code(SES_ROW, ses_cursor_next(cursor, &event, &error));
            assert_event(event, backward ? EVENT_COUNT - 1 - i : i);
        }
        assert_ok(ses_cursor_next(cursor, &event, &error));
        assert_null(event);
        assert_ok(ses_cursor_close(cursor, &error));
    }
}

TEST(events)
{
    const ses_key key = {"app", "user", "session"};
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    ses_session *other = must_get(fixture->store, &key);

    for (size_t i = 0; i < EVENT_COUNT; i++) {
        char *event = event_at(i);
        assert_ok(ses_append(session, event, strlen(event), NULL, NULL, &error));
        free(event);
    }
    assert_events_of(session);
    must_refresh(other);
    assert_events_of(other);
    assert_stored_events(fixture->store, &key);
    ses_session_close(session);
    ses_session_close(other);
    fixture_reopen(fixture);
    assert_stored_events(fixture->store, &key);
}

MEMORY_TEST(events_of_a_batch)
{
    const ses_key key = {"app", "user", "session"};
    ses_text *texts = calloc(EVENT_COUNT, sizeof *texts);

    assert_non_null(texts);
    for (size_t i = 0; i < EVENT_COUNT; i++) {
        char *event = event_at(i);
        texts[i] = (ses_text){event, strlen(event)};
    }
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    assert_ok(ses_append_batch(session, texts, EVENT_COUNT, NULL, NULL, &error));
    for (size_t i = 0; i < EVENT_COUNT; i++)
        free((void *)(uintptr_t)texts[i].text);
    free(texts);
    assert_events_of(session);
    assert_stored_events(fixture->store, &key);
}

TEST_GROUP(make_values, free_values)
