/* Appends that say what shared keys they were computed from: `expected`. */
#include "session/append.h"

static const ses_key other = {"app", "user", "other"};

/* Ways to append one event: each must look at `expected` alike. */
struct way {
    const char *name;
    int (*append)(struct fixture *fixture, ses_session *session, const char *event,
                  const ses_append_options *options, ses_error *error);
};

static int by_key(struct fixture *fixture, ses_session *session, const char *event,
                  const ses_append_options *options, ses_error *error)
{
    (void)session;
    return ses_append_by_key(fixture->store, &key, event, SES_NUL, options, NULL, error);
}

static int by_handle(struct fixture *fixture, ses_session *session, const char *event,
                     const ses_append_options *options, ses_error *error)
{
    (void)fixture;
    return ses_append(session, event, SES_NUL, options, NULL, error);
}

static int by_batch(struct fixture *fixture, ses_session *session, const char *event,
                    const ses_append_options *options, ses_error *error)
{
    const ses_text events[] = {{Q("{'id':'first'}"), SES_NUL}, {event, SES_NUL}};
    (void)session;
    return ses_append_batch_by_key(fixture->store, &key, events, 2, options, NULL, error);
}

static int by_handle_batch(struct fixture *fixture, ses_session *session, const char *event,
                           const ses_append_options *options, ses_error *error)
{
    const ses_text events[] = {{event, SES_NUL}, {Q("{'id':'last'}"), SES_NUL}};
    (void)fixture;
    return ses_append_batch(session, events, 2, options, NULL, error);
}

static const struct way ways[] = {
    {"by key", by_key}, {"by handle", by_handle}, {"batch", by_batch}, {"batch by handle", by_handle_batch}};
enum { WAYS = sizeof ways / sizeof ways[0] };

static ses_append_options expecting(const char *expected)
{
    return (ses_append_options){
        .size = sizeof(ses_append_options), .expected = expected, .expected_len = SES_NUL};
}

static ses_session *create(struct fixture *fixture)
{
    must_create(fixture->store, &other, NULL);
    ses_session *session = must_open_new(fixture->store, &key,
                                         Q("{'user:n':1,'user:null':null,'app:o':{'a': [1.0]},'user:':''}"));
    return session;
}

/* Another session of the user: no handle on the first one is behind for that. */
static void write_elsewhere(struct fixture *fixture, const char *delta)
{
    char event[300];
    snprintf(event, sizeof event, "{\"actions\":{\"stateDelta\":%s}}", delta);
    must_append_by_key(fixture->store, &other, event);
}

/* ------------------------------------------------------------------------------------- what is compared */

struct expectation {
    const char *expected;
    const char *changed; /* the key that is named; NULL: all is as expected */
};

MEMORY_TEST(the_stored_bytes_are_compared)
{
    static const struct expectation cases[] = {
        {"{}", NULL},
        {" { 'user:n' : 1 } ", NULL},
        {"{'user:n':1,'user:null':null,'app:o':{'a': [1.0]},'user:':''}", NULL},
        {"{'us\\u0065r:n':1}", NULL},
        {"{'user:none':" REMOVED ",'app:n':" REMOVED ",'app:':" REMOVED "}", NULL},
        {"{'user:n':1,'user:n':1}", NULL},
        {"{'user:n':2}", "user:n"},
        {"{'user:n':1.0}", "user:n"},
        {"{'user:n':'1'}", "user:n"},
        {"{'user:n':null}", "user:n"},
        {"{'user:n':" REMOVED "}", "user:n"},
        {"{'user:null':" REMOVED "}", "user:null"},
        {"{'user:none':null}", "user:none"},
        {"{'user:none':''}", "user:none"},
        {"{'app:n':1}", "app:n"},
        {"{'app:o':{'a':[1.0]}}", "app:o"},
        {"{'user:':1}", "user:"},
        {"{'user:n':1,'app:o':0,'user:null':null}", "app:o"},
        /* Each member counts: both cannot be so. */
        {"{'user:n':0,'user:n':1}", "user:n"},
        {"{'user:n':1,'user:n':0}", "user:n"},
    };
    ses_session *session = create(fixture);
    char event[100];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (size_t way = 0; way < WAYS; way++) {
            const ses_append_options options = expecting(Q(cases[i].expected));
            must_refresh(session);
            char *before = describe_stored(fixture->store, &key);
            char *handle = describe(session, 1);
            snprintf(event, sizeof event, "{\"id\":\"e%zu-%zu\"}", i, way);
            int code = ways[way].append(fixture, session, event, &options, &error);
            if (code != (cases[i].changed ? SES_STALE : SES_OK))
                print_error("%s, %s\n", Q(cases[i].expected), ways[way].name);
            assert_code(cases[i].changed ? SES_STALE : SES_OK, code);
            if (cases[i].changed) {
                char named[100];
                char *after = describe_stored(fixture->store, &key);
                char *handle_after = describe(session, 1);
                snprintf(named, sizeof named, "\"%s\"", cases[i].changed);
                assert_message(named);
                assert_string_equal(after, before);
                assert_string_equal(handle_after, handle);
                free(handle_after);
                free(after);
            }
            free(handle);
            free(before);
        }
    }
    ses_session_close(session);
}

/* A handle may be current and yet have seen what is no longer so. */
MEMORY_TEST(a_refresh_shows_what_is_to_be_expected)
{
    ses_session *session = create(fixture);
    ses_append_options options = expecting(Q("{'user:n':1}"));

    write_elsewhere(fixture, Q("{'user:n':7}"));
    assert_code(SES_STALE, ses_append(session, "{}", SES_NUL, &options, NULL, &error));
    assert_message("user:n");
    must_refresh(session);
    const char *json = NULL;
    assert_ok(ses_state_get(session, "user:n", &json, NULL, &error));
    assert_string_equal(json, "7");
    assert_code(SES_STALE, ses_append(session, "{}", SES_NUL, &options, NULL, &error));
    options = expecting(Q("{'user:n':7}"));
    assert_ok(
        ses_append(session, Q("{'actions':{'stateDelta':{'user:n':8}}}"), SES_NUL, &options, NULL, &error));
    assert_handle_is_current(fixture->store, session);
    /* The append through this handle has changed it as well. */
    assert_code(SES_STALE, ses_append(session, "{}", SES_NUL, &options, NULL, &error));
    ses_session_close(session);
}

/* In a batch the first event may change what is expected: that was looked at before it. */
MEMORY_TEST(a_batch_is_checked_once)
{
    ses_session *session = create(fixture);
    const ses_append_options options = expecting(Q("{'user:n':1}"));
    const ses_text events[] = {{Q("{'id':'a','actions':{'stateDelta':{'user:n':2}}}"), SES_NUL},
                               {Q("{'id':'b','actions':{'stateDelta':{'user:n':3}}}"), SES_NUL},
                               {Q("{'id':'c'}"), SES_NUL}};
    ses_appended appended[3];

    assert_ok(ses_append_batch(session, events, 2, &options, appended, &error));
    /* All of them again is a retry; with one more, that one is refused. */
    assert_ok(ses_append_batch(session, events, 2, &options, appended, &error));
    assert_int_equal(appended[1].status, SES_DUPLICATE);
    assert_code(SES_STALE, ses_append_batch(session, events, 3, &options, appended, &error));
    assert_int_equal(error.index, 2);
    assert_message("event 3 of 3");
    assert_handle_is_current(fixture->store, session);
    ses_session_close(session);
}

MEMORY_TEST(a_retry_is_a_duplicate)
{
    static const char event[] = "{\"id\":\"a\",\"actions\":{\"stateDelta\":{\"user:n\":2}}}";
    ses_session *session = create(fixture);
    const ses_append_options options = expecting(Q("{'user:n':1}"));

    assert_ok(by_key(fixture, NULL, event, &options, &error));
    assert_code(SES_DUPLICATE, by_key(fixture, NULL, event, &options, &error));
    assert_code(SES_DUPLICATE, by_handle(fixture, session, event, &options, &error));
    assert_code(SES_EXISTS, by_key(fixture, NULL, Q("{'id':'a'}"), &options, &error));
    assert_code(SES_STALE, by_key(fixture, NULL, Q("{'id':'b'}"), &options, &error));
    assert_handle_is_current(fixture->store, session);
    ses_session_close(session);
}

/* --------------------------------------------------------------------------------- beside other options */

MEMORY_TEST(anyway_does_not_look)
{
    static const char *const texts[] = {"{'user:n':77}", "{'own':1}", "{", ""};
    ses_session *session = create(fixture);

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        ses_append_options options = expecting(Q(texts[i]));
        options.flags = SES_ANYWAY;
        assert_ok(by_key(fixture, NULL, "{}", &options, &error));
        assert_ok(by_handle(fixture, session, "{}", &options, &error));
    }
    ses_session_close(session);
}

MEMORY_TEST(version_and_expected_are_both_asked)
{
    ses_append_options options = expecting(Q("{'user:n':1}"));

    ses_session_close(create(fixture));
    options.flags = SES_AT_VERSION;
    assert_ok(by_key(fixture, NULL, "{}", &options, &error));
    assert_code(SES_STALE, by_key(fixture, NULL, "{}", &options, &error));
    assert_message("at version 1");
    options.version = 1;
    write_elsewhere(fixture, Q("{'user:n':2}"));
    assert_code(SES_STALE, by_key(fixture, NULL, "{}", &options, &error));
    assert_message("user:n");
    write_elsewhere(fixture, Q("{'user:n':1}"));
    assert_ok(by_key(fixture, NULL, "{}", &options, &error));
}

MEMORY_TEST(a_partial_event_asks_nothing)
{
    ses_append_options options = expecting(Q("{'user:n':2}"));

    ses_session_close(create(fixture));
    assert_code(SES_PARTIAL, by_key(fixture, NULL, Q("{'partial':true}"), &options, &error));
    options = expecting(Q("{'n':2}"));
    assert_code(SES_INVALID, by_key(fixture, NULL, Q("{'partial':true}"), &options, &error));
}

MEMORY_TEST(a_session_that_is_gone)
{
    const ses_append_options options = expecting(Q("{'user:n':1}"));
    ses_session *session = create(fixture);

    must_delete(fixture->store, &key);
    for (size_t way = 0; way < WAYS; way++)
        assert_code(SES_NOTFOUND, ways[way].append(fixture, session, "{}", &options, &error));
    ses_session_close(session);
}

/* ---------------------------------------------------------------------------------------- what is refused */

MEMORY_TEST(expectations_that_are_refused)
{
    static const struct {
        const char *text;
        int code;
        const char *message;
    } cases[] = {
        {"", SES_JSON, "expected"},
        {"{'user:n':1", SES_JSON, "byte 11"},
        {"{'user:n':1}x", SES_JSON, "byte 12"},
        {"[]", SES_INVALID, "must be a JSON object"},
        {"null", SES_INVALID, "must be a JSON object"},
        {"{'n':1}", SES_INVALID, "\"n\" is not shared"},
        {"{'user:n':1,'temp:n':1}", SES_INVALID, "\"temp:n\" is not shared"},
        {"{'User:n':1}", SES_INVALID, "\"User:n\" is not shared"},
        {"{'user:a\\u0000b':1}", SES_INVALID, "NUL"},
        {"{'user:\\ud800':1}", SES_INVALID, "surrogate"},
    };
    ses_session *session = create(fixture);
    char *before = describe_stored(fixture->store, &key);

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (size_t way = 0; way < WAYS; way++) {
            const ses_append_options options = expecting(Q(cases[i].text));
            assert_code(cases[i].code, ways[way].append(fixture, session, "{}", &options, &error));
            assert_message(cases[i].message);
            assert_message("`expected`");
            /* Which would be taken for a place in the event, and for an event of the batch. */
            assert_int_equal(error.offset, -1);
            assert_int_equal(error.index, -1);
        }
    }
    char *after = describe_stored(fixture->store, &key);
    assert_string_equal(after, before);
    free(after);
    free(before);
    ses_session_close(session);
}

MEMORY_TEST(the_length_counts)
{
    ses_append_options options = expecting(Q("{'user:n':1}}}"));

    ses_session_close(create(fixture));
    options.expected_len = 12;
    assert_ok(by_key(fixture, NULL, "{}", &options, &error));
    options.expected_len = 0;
    assert_code(SES_JSON, by_key(fixture, NULL, "{}", &options, &error));
    /* A caller that was built before there was such a member. */
    options.expected_len = SES_NUL;
    options.size = offsetof(ses_append_options, expected);
    assert_ok(by_key(fixture, NULL, "{}", &options, &error));
}
