/* Views of several sessions that read and write shared keys: a change computed from an older
 * value is STALE. */
#include "agent.h"

#include "seslite_cjson.h"

#define REMOVED "\"__ADK_SENTINEL_REMOVED__\""

static const ses_key other_key = {"app", "user", "other"};
static const ses_append_options anyway = {.size = sizeof anyway, .flags = SES_ANYWAY};

/* Two sessions of one user: the view is on the first. */
struct pair {
    struct fixture *fixture;
    ses_session *session;
    ses_tracked *view;
};

static struct pair pair_open(struct fixture *fixture, const char *state)
{
    struct pair pair = {.fixture = fixture, .session = agent_session(fixture, state)};
    ses_error error;
    assert_ok(ses_create(fixture->store, &other_key, NULL, 0, NULL, NULL, &error));
    pair.view = agent_view(pair.session, 0);
    return pair;
}

static void pair_close(struct pair *pair)
{
    ses_tracked_close(pair->view);
    ses_session_close(pair->session);
}

/* By the other session. */
static void write_elsewhere(const struct pair *pair, const char *delta)
{
    char event[300];
    snprintf(event, sizeof event, "{\"actions\":{\"stateDelta\":%s}}", delta);
    must_append_by_key(pair->fixture->store, &other_key, event);
}

static void assert_stored(const struct pair *pair, const char *name, const char *expected)
{
    char *json = NULL;
    ses_error error;
    int code = ses_state_get_by_key(pair->fixture->store, &agent_key, name, NULL, &json, NULL, &error);
    if (expected) {
        assert_ok(code);
        assert_string_equal(json, expected);
    } else {
        assert_null(json);
    }
    ses_free(json);
}

static int append(const struct pair *pair, ses_error *error)
{
    return ses_tracked_append(pair->view, "{\"author\":\"a\"}", SES_NUL, NULL, NULL, error);
}

/* Refused for that key; the view and the handle are as before, and so is what is stored. */
static void assert_stale(const struct pair *pair, const char *name)
{
    char *before = NULL;
    char *after = NULL;
    int64_t version = ses_session_version(pair->session);
    ses_error error;

    assert_ok(ses_tracked_delta(pair->view, &before, NULL, &error));
    assert_code(SES_STALE, append(pair, &error));
    assert_message(name);
    assert_ok(ses_tracked_delta(pair->view, &after, NULL, &error));
    assert_string_equal(after, before);
    assert_int_equal(ses_session_version(pair->session), version);
    ses_free(before);
    ses_free(after);
}

/* Reads a number as an agent does: what is missing is 0. */
static int64_t read_number(const ses_tracked *view, const char *name)
{
    int64_t value = 0;
    ses_error error;
    (void)ses_tracked_get_int64(view, name, &value, &error);
    return value;
}

static void count(const struct pair *pair, const char *name)
{
    ses_error error;
    assert_ok(ses_tracked_set_int64(pair->view, name, read_number(pair->view, name) + 1, &error));
}

/* ------------------------------------------------------------------------------------------- the counter */

static void count_twice(struct fixture *fixture, const char *state, const char *name)
{
    struct pair pair = pair_open(fixture, state);
    ses_error error;

    ses_session *other = must_get(fixture->store, &other_key);
    ses_tracked *beside = agent_view(other, 0);
    count(&pair, name);
    assert_ok(ses_tracked_set_int64(beside, name, read_number(beside, name) + 1, &error));
    assert_ok(ses_tracked_append(beside, "{}", SES_NUL, NULL, NULL, &error));
    assert_stale(&pair, name);
    assert_stored(&pair, name, "1");

    /* Computed anew, from what is there now. */
    must_refresh(pair.session);
    assert_stale(&pair, name);
    ses_tracked_discard(pair.view);
    count(&pair, name);
    assert_ok(append(&pair, &error));
    assert_stored(&pair, name, "2");
    /* And once more, with a handle that its own append has moved. */
    count(&pair, name);
    assert_ok(append(&pair, &error));
    assert_stored(&pair, name, "3");
    ses_tracked_close(beside);
    ses_session_close(other);
    pair_close(&pair);
}

MEMORY_TEST(a_counter_of_the_user)
{
    count_twice(fixture, "{\"user:n\":0}", "user:n");
}

MEMORY_TEST(a_counter_that_nobody_has_begun)
{
    count_twice(fixture, NULL, "user:n");
}

MEMORY_TEST(a_counter_of_the_app)
{
    count_twice(fixture, NULL, "app:a \"name\"\n\xC3\xA9");
}

MEMORY_TEST(a_key_without_a_name)
{
    count_twice(fixture, NULL, "user:");
}

/* ------------------------------------------------------------------------------------- what is a reading */

typedef void reading(const ses_tracked *view);

static void by_get(const ses_tracked *view)
{
    const char *json = NULL;
    ses_error error;
    (void)ses_tracked_get(view, "user:k", &json, NULL, &error);
}

static void by_get_string(const ses_tracked *view)
{
    const char *text = NULL;
    ses_error error;
    (void)ses_tracked_get_string(view, "user:k", &text, NULL, &error);
}

static void by_get_int64(const ses_tracked *view)
{
    (void)read_number(view, "user:k");
}

static void by_get_double(const ses_tracked *view)
{
    double value = 0;
    ses_error error;
    (void)ses_tracked_get_double(view, "user:k", &value, &error);
}

static void by_get_bool(const ses_tracked *view)
{
    int value = 0;
    ses_error error;
    (void)ses_tracked_get_bool(view, "user:k", &value, &error);
}

static void by_get_cjson(const ses_tracked *view)
{
    cJSON *value = NULL;
    ses_error error;
    (void)ses_tracked_get_cjson(view, "user:k", &value, &error);
    cJSON_Delete(value);
}

static void by_has(const ses_tracked *view)
{
    (void)ses_tracked_has(view, "user:k");
}

static void by_json(const ses_tracked *view)
{
    char *json = NULL;
    ses_error error;
    assert_ok(ses_tracked_json(view, &json, NULL, &error));
    ses_free(json);
}

static void by_each(const ses_tracked *view)
{
    ses_error error;
    char *json = NULL;
    assert_ok(ses_tracked_json(view, &json, NULL, &error));
    ses_free(json);
}

static void by_render(const ses_tracked *view)
{
    char *text = NULL;
    ses_error error;
    assert_ok(ses_tracked_render(view, "{user:k?}", SES_NUL, NULL, &text, NULL, &error));
    ses_free(text);
}

static void by_nothing(const ses_tracked *view)
{
    (void)view;
}

static void by_another_key(const ses_tracked *view)
{
    (void)read_number(view, "app:k");
    (void)read_number(view, "k");
    (void)ses_tracked_has(view, "user:K");
}

MEMORY_TEST(getters_are_readings_and_walks_are_not)
{
    static const struct {
        reading *read;
        int is_reading;
    } cases[] = {
        {by_get, 1},      {by_get_string, 1}, {by_get_int64, 1}, {by_get_double, 1},
        {by_get_bool, 1}, {by_get_cjson, 1},  {by_has, 1},       {by_json, 0},
        {by_each, 0},     {by_render, 0},     {by_nothing, 0},   {by_another_key, 0},
    };
    /* Values of each type, and none: a getter for another type has shown something, too. */
    static const char *const values[] = {"1", "\"t\\u0065xt\"", "true", "1.5", "null", "[1, 2]", REMOVED};
    enum { VALUES = sizeof values / sizeof values[0] };
    struct pair pair = pair_open(fixture, NULL);
    char delta[100];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int was = 0; was < VALUES; was++) {
            for (int is = 0; is < VALUES; is++) {
                snprintf(delta, sizeof delta, "{\"user:k\":%s}", values[was]);
                write_elsewhere(&pair, delta);
                must_refresh(pair.session);
                cases[i].read(pair.view);
                assert_ok(ses_tracked_set(pair.view, "user:k", "\"mine\"", SES_NUL, &error));
                snprintf(delta, sizeof delta, "{\"user:k\":%s}", values[is]);
                write_elsewhere(&pair, delta);
                if (cases[i].is_reading && was != is)
                    assert_stale(&pair, "user:k");
                else
                    assert_ok(append(&pair, &error));
                ses_tracked_discard(pair.view);
            }
        }
    }
    pair_close(&pair);
}

MEMORY_TEST(keys_that_are_only_read_are_not_checked)
{
    struct pair pair = pair_open(fixture, "{\"user:n\":1,\"app:n\":1}");

    assert_int_equal(read_number(pair.view, "user:n"), 1);
    assert_ok(ses_tracked_set_int64(pair.view, "app:n", 2, &error));
    assert_ok(ses_tracked_set_int64(pair.view, "n", 2, &error));
    write_elsewhere(&pair, "{\"user:n\":5,\"app:n\":5}");
    assert_ok(append(&pair, &error));
    assert_stored(&pair, "user:n", "5");
    assert_stored(&pair, "app:n", "2");
    /* Nor when nothing at all is written. */
    (void)read_number(pair.view, "user:n");
    write_elsewhere(&pair, "{\"user:n\":6}");
    assert_ok(append(&pair, &error));
    pair_close(&pair);
}

MEMORY_TEST(a_removal_is_a_write)
{
    struct pair pair = pair_open(fixture, "{\"user:n\":1}");

    assert_int_equal(ses_tracked_has(pair.view, "user:n"), 1);
    assert_ok(ses_tracked_remove(pair.view, "user:n", &error));
    write_elsewhere(&pair, "{\"user:n\":2}");
    assert_stale(&pair, "user:n");
    write_elsewhere(&pair, "{\"user:n\":1}"); /* as it was: nothing is lost */
    assert_ok(append(&pair, &error));
    assert_stored(&pair, "user:n", NULL);
    pair_close(&pair);
}

/* The view's own values reveal nothing about the writes of others. */
MEMORY_TEST(own_writes_are_no_readings)
{
    struct pair pair = pair_open(fixture, "{\"user:a\":1,\"user:b\":1}");

    assert_ok(ses_tracked_set_int64(pair.view, "user:a", 7, &error));
    assert_ok(ses_tracked_remove(pair.view, "user:b", &error));
    assert_int_equal(read_number(pair.view, "user:a"), 7);
    assert_int_equal(ses_tracked_has(pair.view, "user:b"), 0);
    write_elsewhere(&pair, "{\"user:a\":2,\"user:b\":2}");
    assert_ok(append(&pair, &error));
    assert_stored(&pair, "user:a", "7");
    assert_stored(&pair, "user:b", NULL);
    /* Nor do they take the place of a reading before them. */
    (void)read_number(pair.view, "user:a");
    assert_ok(ses_tracked_set_int64(pair.view, "user:a", 8, &error));
    assert_int_equal(read_number(pair.view, "user:a"), 8);
    write_elsewhere(&pair, "{\"user:a\":9}");
    assert_stale(&pair, "user:a");
    pair_close(&pair);
}

MEMORY_TEST(the_latest_reading_counts)
{
    struct pair pair = pair_open(fixture, "{\"user:n\":1}");

    (void)read_number(pair.view, "user:n");
    write_elsewhere(&pair, "{\"user:n\":10}");
    must_refresh(pair.session);
    count(&pair, "user:n");
    assert_ok(append(&pair, &error));
    assert_stored(&pair, "user:n", "11");
    (void)read_number(pair.view, "user:n");
    write_elsewhere(&pair, "{\"user:n\":" REMOVED "}");
    must_refresh(pair.session);
    count(&pair, "user:n");
    write_elsewhere(&pair, "{\"user:n\":11}"); /* what it read before */
    assert_stale(&pair, "user:n");
    write_elsewhere(&pair, "{\"user:n\":" REMOVED "}");
    assert_ok(append(&pair, &error));
    assert_stored(&pair, "user:n", "1");
    pair_close(&pair);
}

MEMORY_TEST(readings_are_forgotten)
{
    struct pair pair = pair_open(fixture, "{\"user:n\":1}");

    (void)read_number(pair.view, "user:n");
    ses_tracked_discard(pair.view);
    write_elsewhere(&pair, "{\"user:n\":2}");
    assert_ok(ses_tracked_set_int64(pair.view, "user:n", 3, &error));
    assert_ok(append(&pair, &error));
    /* By an append; also by one that wrote nothing. */
    (void)read_number(pair.view, "user:n");
    assert_ok(append(&pair, &error));
    write_elsewhere(&pair, "{\"user:n\":4}");
    assert_ok(ses_tracked_set_int64(pair.view, "user:n", 5, &error));
    assert_ok(append(&pair, &error));
    /* Not by one that stored nothing. */
    must_refresh(pair.session);
    count(&pair, "user:n");
    assert_code(SES_PARTIAL,
                ses_tracked_append(pair.view, "{\"partial\":true}", SES_NUL, NULL, NULL, &error));
    assert_code(SES_JSON, ses_tracked_append(pair.view, "{", SES_NUL, NULL, NULL, &error));
    write_elsewhere(&pair, "{\"user:n\":6}");
    assert_stale(&pair, "user:n");
    pair_close(&pair);
}

/* ------------------------------------------------------------------------------------------ other writers */

MEMORY_TEST(views_on_one_handle)
{
    struct pair pair = pair_open(fixture, "{\"user:n\":1,\"n\":1}");
    ses_tracked *second = agent_view(pair.session, 0);

    count(&pair, "user:n");
    assert_ok(ses_tracked_set_int64(second, "user:n", read_number(second, "user:n") + 1, &error));
    assert_ok(ses_tracked_set_int64(second, "n", read_number(second, "n") + 1, &error));
    assert_ok(ses_tracked_append(second, "{}", SES_NUL, NULL, NULL, &error));
    assert_stale(&pair, "user:n");
    /* A key of the session itself is theirs alone: there the last one wins. */
    ses_tracked_discard(pair.view);
    (void)read_number(second, "n");
    count(&pair, "n");
    assert_ok(append(&pair, &error));
    assert_ok(ses_tracked_set_int64(second, "n", 9, &error));
    assert_ok(ses_tracked_append(second, "{}", SES_NUL, NULL, NULL, &error));
    assert_stored(&pair, "n", "9");
    ses_tracked_close(second);
    pair_close(&pair);
}

MEMORY_TEST(an_append_through_the_handle_alone)
{
    struct pair pair = pair_open(fixture, "{\"user:n\":1}");

    count(&pair, "user:n");
    assert_ok(ses_append(pair.session, "{\"actions\":{\"stateDelta\":{\"user:n\":5}}}", SES_NUL, NULL, NULL,
                         &error));
    assert_stale(&pair, "user:n");
    pair_close(&pair);
}

MEMORY_TEST(anyway_stores_the_view_over_what_is_newer)
{
    struct pair pair = pair_open(fixture, "{\"user:n\":1}");

    count(&pair, "user:n");
    write_elsewhere(&pair, "{\"user:n\":5}");
    assert_stale(&pair, "user:n");
    assert_ok(ses_tracked_append(pair.view, "{}", SES_NUL, &anyway, NULL, &error));
    assert_stored(&pair, "user:n", "2");
    pair_close(&pair);
}

MEMORY_TEST(a_retry_is_a_duplicate)
{
    static const char event[] = "{\"id\":\"e\"}";
    struct pair pair = pair_open(fixture, NULL);

    for (int i = 0; i < 2; i++) { /* the same event, from a view in the same state */
        (void)read_number(pair.view, "user:n");
        assert_ok(ses_tracked_set_int64(pair.view, "user:n", 1, &error));
        int code = ses_tracked_append(pair.view, event, SES_NUL, NULL, NULL, &error);
        assert_code(i == 0 ? SES_OK : SES_DUPLICATE, code);
        write_elsewhere(&pair, "{\"user:n\":7}");
    }
    pair_close(&pair);
}

/* ---------------------------------------------------------------------------------------- beside the view */

MEMORY_TEST(the_output_key_is_a_write)
{
    static const char said[] = "{\"author\":\"me\",\"content\":{\"parts\":[{\"text\":\"new\"}]}}";
    struct pair pair = pair_open(fixture, "{\"user:out\":\"old\"}");

    assert_int_equal(ses_tracked_has(pair.view, "user:out"), 1);
    write_elsewhere(&pair, "{\"user:out\":\"theirs\"}");
    assert_code(SES_STALE, ses_output_append(pair.view, said, SES_NUL, "me", "user:out", NULL, NULL, &error));
    assert_message("user:out");
    /* By another agent, whose text is not saved. */
    assert_ok(ses_output_append(pair.view, said, SES_NUL, "you", "user:out", NULL, NULL, &error));
    assert_ok(ses_output_append(pair.view, said, SES_NUL, "me", "user:out", NULL, NULL, &error));
    assert_stored(&pair, "user:out", "\"new\"");
    pair_close(&pair);
}

/* The view's own delta is what it computed; what the event brings along is the event's. */
MEMORY_TEST(the_delta_of_the_event_is_no_write_of_the_view)
{
    struct pair pair = pair_open(fixture, "{\"user:n\":1}");

    (void)read_number(pair.view, "user:n");
    assert_ok(ses_tracked_set_int64(pair.view, "user:m", 1, &error));
    write_elsewhere(&pair, "{\"user:n\":5}");
    assert_ok(ses_tracked_append(pair.view, "{\"actions\":{\"stateDelta\":{\"user:n\":9}}}", SES_NUL, NULL,
                                 NULL, &error));
    assert_stored(&pair, "user:n", "9");
    pair_close(&pair);
}

static int append_expecting(const struct pair *pair, const char *expected, size_t len, unsigned flags,
                            ses_error *error)
{
    const ses_append_options options = {
        .size = sizeof options, .flags = flags, .expected = expected, .expected_len = len};
    return ses_tracked_append(pair->view, "{}", SES_NUL, &options, NULL, error);
}

MEMORY_TEST(expectations_of_the_caller_are_joined)
{
    struct pair pair = pair_open(fixture, "{\"user:n\":1,\"app:n\":1}");

    static const char *const good[] = {"{}", " { } ", "{\"app:n\":1}", " {\"app:n\" : 1 }\n",
                                       "{\"user:n\":1}"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        write_elsewhere(&pair, "{\"user:n\":1}");
        must_refresh(pair.session);
        count(&pair, "user:n");
        assert_ok(append_expecting(&pair, good[i], i % 2 ? strlen(good[i]) : SES_NUL, 0, &error));
    }
    /* Both are asked. */
    count(&pair, "user:n");
    assert_code(SES_STALE, append_expecting(&pair, "{\"app:n\":7}", SES_NUL, 0, &error));
    assert_message("app:n");
    assert_code(SES_STALE, append_expecting(&pair, "{\"user:n\":7}", SES_NUL, 0, &error));
    write_elsewhere(&pair, "{\"user:n\":7}");
    assert_code(SES_STALE, append_expecting(&pair, "{\"app:n\":1}", SES_NUL, 0, &error));
    assert_message("user:n");
    assert_code(SES_STALE, append_expecting(&pair, "{\"user:n\":7}", SES_NUL, 0, &error));
    /* Its faults are reported as without a view. */
    assert_code(SES_INVALID, append_expecting(&pair, "{\"n\":7}", SES_NUL, 0, &error));
    assert_message("\"n\" is not shared");
    assert_int_equal(error.offset, -1);
    assert_code(SES_INVALID, append_expecting(&pair, "[]", SES_NUL, 0, &error));
    assert_code(SES_JSON, append_expecting(&pair, "{\"app:n\":1}}", SES_NUL, 0, &error));
    assert_message("byte 11");
    assert_code(SES_MISUSE, append_expecting(&pair, "{}", SES_NUL, 0x80, &error));
    assert_ok(append_expecting(&pair, "{", SES_NUL, SES_ANYWAY, &error));
    assert_stored(&pair, "user:n", "3");
    pair_close(&pair);
}
