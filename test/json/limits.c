/* The limits of JSON text: 1000 levels, and the size that the store was opened with. */
#include "support.h"

static const ses_key key = {"app", "user", "session"};
static const ses_key fresh_key = {"app", "user", "fresh"};

enum { MAX_LEVELS = 1000, MEBIBYTE = 1024 * 1024 };

/* The kind of containers: arrays, objects, or one in the other by turns. */
enum shape { ARRAYS, OBJECTS, MIXED, SHAPES };

/* `before`, so many containers inside each other with `inner` in the last one, `after`. */
static char *nested(const char *before, size_t levels, enum shape shape, const char *inner, const char *after,
                    int64_t *last_opening)
{
    char *text = malloc(strlen(before) + levels * 6 + strlen(inner) + strlen(after) + 1);
    char *to = text;

    assert_non_null(text);
    to = stpcpy(to, before);
    for (size_t i = 0; i < levels; i++) {
        int object = shape == OBJECTS || (shape == MIXED && i % 2 == 0);
        int empty = i + 1 == levels && inner[0] == '\0';
        if (last_opening)
            *last_opening = to - text;
        to = stpcpy(to, object ? (empty ? "{" : "{\"k\":") : "[");
    }
    to = stpcpy(to, inner);
    for (size_t i = levels; i-- > 0;)
        *to++ = shape == OBJECTS || (shape == MIXED && i % 2 == 0) ? '}' : ']';
    (void)stpcpy(to, after);
    return text;
}

struct place {
    const char *before;
    size_t levels; /* that `before` opens, and that count */
    const char *after;
};

static const struct place event_places[] = {
    {"{\"content\":", 1, "}"},
    {"{\"content\":{\"parts\":[", 3, "]}}"},
    {"{\"actions\":{\"artifactDelta\":", 2, "}}"},
    /* As in an initial state. */
    {"{\"actions\":{\"stateDelta\":{\"v\":", 1, "}}}"},
    {"{\"actions\":{\"stateDelta\":{\"temp:v\":", 1, "}}}"},
};

static const struct place state_places[] = {
    {"{\"v\":", 1, "}"},
    {"{\"app:v\":", 1, "}"},
    {"{\"user:v\":", 1, "}"},
    {"{\"temp:v\":", 1, "}"},
};

static const char *const inners[] = {"", "0"};

static void append_nested(ses_session *session, const struct place *place, enum shape shape,
                          const char *inner)
{
    size_t levels = MAX_LEVELS - place->levels;
    int64_t offset = -1;
    ses_error error;
    char *good = nested(place->before, levels, shape, inner, place->after, NULL);
    char *bad = nested(place->before, levels + 1, shape, inner, place->after, &offset);
    int64_t version = ses_session_version(session);

    must_append(session, good);
    assert_int_equal(ses_session_version(session), version + 1);
    assert_code(SES_LIMIT, ses_append(session, bad, SES_NUL, NULL, NULL, &error));
    assert_int_equal(error.offset, offset);
    assert_int_equal(ses_session_version(session), version + 1);
    free(good);
    free(bad);
}

MEMORY_TEST(an_event_has_at_most_1000_levels)
{
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    int64_t appended = 0;

    for (size_t place = 0; place < sizeof event_places / sizeof event_places[0]; place++) {
        for (enum shape shape = ARRAYS; shape < SHAPES; shape++) {
            for (size_t inner = 0; inner < 2; inner++, appended++)
                append_nested(session, &event_places[place], shape, inners[inner]);
        }
    }
    ses_session_close(session);
    session = must_get(fixture->store, &key);
    assert_int_equal(ses_session_event_count(session), appended);
}

static void create_nested(ses_store *store, const struct place *place, enum shape shape, const char *inner)
{
    size_t levels = MAX_LEVELS - place->levels;
    int64_t offset = -1;
    ses_session *session = NULL;
    ses_error error;
    char *good = nested(place->before, levels, shape, inner, place->after, NULL);
    char *bad = nested(place->before, levels + 1, shape, inner, place->after, &offset);

    assert_code(SES_LIMIT, ses_create(store, &key, bad, SES_NUL, NULL, &session, &error));
    assert_int_equal(error.offset, offset);
    assert_code(SES_NOTFOUND, ses_get(store, &key, NULL, &session, &error));
    session = must_open_new(store, &key, good);
    if (!strstr(place->before, "temp:"))
        assert_string_equal(support_state(session, NULL), good);
    ses_session_close(session);
    free(good);
    free(bad);
}

MEMORY_TEST(an_initial_state_has_at_most_1000_levels)
{
    for (size_t place = 0; place < sizeof state_places / sizeof state_places[0]; place++) {
        for (enum shape shape = ARRAYS; shape < SHAPES; shape++) {
            for (size_t inner = 0; inner < 2; inner++) {
                create_nested(fixture->store, &state_places[place], shape, inners[inner]);
                fixture_reopen(fixture); /* a store in memory begins anew */
            }
        }
    }
}

/* Depth must cost no stack: a million levels, closed and not. */
MEMORY_TEST(a_million_levels_are_refused_as_any)
{
    int64_t offset = 0;
    char *closed = nested("{\"content\":", MEBIBYTE, MIXED, "0", "}", NULL);
    char *open = malloc(MEBIBYTE + 1);

    assert_non_null(open);
    memset(open, '[', MEBIBYTE);
    open[MEBIBYTE] = '\0';
    free(nested("{\"content\":", MAX_LEVELS, MIXED, "0", "}", &offset));
    must_create(fixture->store, &key, NULL);
    assert_code(SES_LIMIT, ses_append_by_key(fixture->store, &key, closed, SES_NUL, NULL, NULL, &error));
    assert_int_equal(error.offset, offset);
    assert_code(SES_LIMIT, ses_append_by_key(fixture->store, &key, open, SES_NUL, NULL, NULL, &error));
    assert_int_equal(error.offset, MAX_LEVELS);
    assert_code(SES_LIMIT, ses_create(fixture->store, &fresh_key, open, SES_NUL, NULL, NULL, &error));
    assert_int_equal(error.offset, MAX_LEVELS);
    free(closed);
    free(open);
}

/* Siblings are no levels. */
MEMORY_TEST(many_containers_side_by_side_are_no_depth)
{
    char text[4 * 3000 + 64];
    char *to = stpcpy(text, "{\"content\":[[]");

    for (int i = 0; i < 3000; i++)
        to = stpcpy(to, i % 2 ? ",{}" : ",[]");
    (void)stpcpy(to, "]}");
    must_create(fixture->store, &key, NULL);
    must_append_by_key(fixture->store, &key, text);
}

/* ---------------------------------------------------------------------------------------------- size */

/* `before`, a string that makes the whole text `len` bytes long, `after`. */
static char *sized(const char *before, const char *after, size_t len)
{
    size_t around = strlen(before) + strlen(after) + 2;
    char *text = malloc(len + 1);

    assert_non_null(text);
    assert_true(len >= around);
    char *to = stpcpy(text, before);
    *to++ = '"';
    memset(to, 'a', len - around);
    to += len - around;
    *to++ = '"';
    (void)stpcpy(to, after);
    return text;
}

static void assert_size_limit(struct fixture *fixture, size_t limit)
{
    char *event = sized("{\"content\":", "}", limit);
    char *large_event = sized("{\"content\":", "}", limit + 1);
    char *large_partial = sized("{\"partial\":true,\"content\":", "}", limit + 1);
    char *initial = sized("{\"v\":", "}", limit);
    char *large_initial = sized("{\"v\":", "}", limit + 1);
    const ses_text batch[] = {{event, limit}, {event, SES_NUL}, {large_event, limit + 1}};
    ses_session *session = NULL;
    ses_error error;

    assert_code(SES_LIMIT, ses_create(fixture->store, &key, large_initial, SES_NUL, NULL, NULL, &error));
    assert_code(SES_LIMIT, ses_create(fixture->store, &key, large_initial, limit + 1, NULL, NULL, &error));
    assert_ok(ses_create(fixture->store, &key, initial, limit, NULL, &session, &error));
    must_append(session, event);
    assert_ok(ses_append(session, event, limit, NULL, NULL, &error));
    assert_code(SES_LIMIT, ses_append(session, large_event, SES_NUL, NULL, NULL, &error));
    assert_code(SES_LIMIT, ses_append(session, large_event, limit + 1, NULL, NULL, &error));
    assert_code(SES_LIMIT, ses_append(session, large_partial, SES_NUL, NULL, NULL, &error));
    assert_code(SES_LIMIT, ses_append_by_key(fixture->store, &key, large_event, SES_NUL, NULL, NULL, &error));
    assert_code(SES_LIMIT, ses_append_batch(session, batch, 3, NULL, NULL, &error));
    assert_int_equal(error.index, 2);
    assert_int_equal(ses_session_version(session), 2);
    must_refresh(session);
    assert_int_equal(ses_session_event_count(session), 2);
    ses_session_close(session);
    free(event);
    free(large_event);
    free(large_partial);
    free(initial);
    free(large_initial);
}

MEMORY_TEST(the_size_limit_is_an_option)
{
    fixture->options.max_event_bytes = 100;
    fixture_reopen(fixture);
    assert_size_limit(fixture, 100);
}

MEMORY_TEST(the_size_limit_is_16_mebibytes_by_default)
{
    assert_size_limit(fixture, (size_t)16 * MEBIBYTE);
}

MEMORY_TEST(a_larger_size_limit_can_be_set)
{
    fixture->options.max_event_bytes = (size_t)17 * MEBIBYTE;
    fixture_reopen(fixture);
    assert_size_limit(fixture, (size_t)17 * MEBIBYTE);
}

/* Bytes that the store adds to an event do not count against the caller's limit. */
MEMORY_TEST(the_limit_holds_for_the_text_that_came)
{
    fixture->options.max_event_bytes = 2;
    fixture_reopen(fixture);
    ses_session *session = must_open_new(fixture->store, &key, "{}");
    must_append(session, "{}");
    assert_true(ses_session_event(session, 0)->json_len > 2);
    assert_code(SES_LIMIT, ses_append(session, "{ }", SES_NUL, NULL, NULL, &error));
    ses_session_close(session);
    session = must_get(fixture->store, &key);
    assert_int_equal(ses_session_event_count(session), 1);
    ses_session_close(session);
}
