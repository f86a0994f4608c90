/* Tracked state: a view on a handle with writes of its own. */
#include "agent.h"

#include "session/handle.h"

#include <float.h>
#include <math.h>

/* An event that has its id and time, so that it is stored with the bytes it has. */
#define EVENT(rest) "{\"id\":\"x\",\"timestamp\":1,\"invocationId\":\"i\"" rest "}"

MEMORY_TEST(reads_see_own_writes_then_temp_then_the_session)
{
    ses_session *session = agent_session(fixture, "{\"a\":1,\"b\":2,\"app:c\":3,\"user:d\":4}");
    ses_tracked *tracked = agent_view(session, 0);

    assert_ok(ses_append(session, EVENT(",\"actions\":{\"stateDelta\":{\"temp:t\":5}}"), SES_NUL, NULL, NULL,
                         &error));
    agent_assert_value(tracked, "a", "1");
    agent_assert_value(tracked, "temp:t", "5");
    agent_assert_value(tracked, "app:c", "3");
    agent_assert_value(tracked, "user:d", "4");
    agent_assert_value(tracked, "gone", NULL);
    assert_int_equal(ses_tracked_changed(tracked), 0);

    assert_ok(ses_tracked_set(tracked, "a", " [1, 2] ", SES_NUL, &error));
    assert_ok(ses_tracked_set(tracked, "temp:t", "6", SES_NUL, &error));
    assert_ok(ses_tracked_remove(tracked, "user:d", &error));
    agent_assert_value(tracked, "a", "[1, 2]");
    agent_assert_value(tracked, "b", "2");
    agent_assert_value(tracked, "temp:t", "6");
    agent_assert_value(tracked, "user:d", NULL);
    assert_int_equal(ses_tracked_changed(tracked), 1);
    assert_string_equal(support_state(session, NULL),
                        "{\"app:c\":3,\"user:d\":4,\"a\":1,\"b\":2,\"temp:t\":5}");
    agent_assert_shows(tracked, "{\"app:c\":3,\"a\":[1, 2],\"b\":2,\"temp:t\":6}");
}

MEMORY_TEST(every_kind_of_value_is_written_exactly)
{
    ses_session *session = agent_session(fixture, NULL);
    ses_tracked *tracked = agent_view(session, 0);

    assert_ok(ses_tracked_set(tracked, "json", "9007199254740993", SES_NUL, &error));
    assert_ok(ses_tracked_set(tracked, "len", "12345", 2, &error));
    assert_ok(ses_tracked_set_string(tracked, "string", "a\"\\\n\x01\xc3\xa9\0z", 9, &error));
    assert_ok(ses_tracked_set_int64(tracked, "int", INT64_MIN, &error));
    assert_ok(ses_tracked_set_bool(tracked, "no", 0, &error));
    assert_ok(ses_tracked_set_bool(tracked, "yes", 5, &error));
    agent_assert_delta(tracked,
                       "{\"int\":-9223372036854775808,\"json\":9007199254740993,\"len\":12,\"no\":false,"
                       "\"string\":\"a\\\"\\\\\\n\\u0001\xc3\xa9\\u0000z\",\"yes\":true}");
    assert_ok(ses_tracked_set(tracked, "json", "null", SES_NUL, &error));
    agent_assert_value(tracked, "json", "null");
}

MEMORY_TEST(doubles_are_the_shortest_text_that_reads_back)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0.1, "0.1"},
        {-0.0, "-0.0"},
        {3.0, "3"},
        {0.0, "0"},
        {-1e15, "-1000000000000000"},
        {1e15, "1000000000000000"},
        {9007199254740991.0, "9007199254740991"},
        {-9007199254740994.0, "-9007199254740994"},
        {1e17, "1e+17"},
        {1e22, "1e+22"},
        {1e23, "1e+23"},
        {1e-7, "1e-07"},
        {1.25e-9, "1.25e-09"},
        {1e300, "1e+300"},
        {5e-324, "5e-324"},
        {DBL_MAX, "1.7976931348623157e+308"},
        {DBL_MIN, "2.2250738585072014e-308"},
        {0.30000000000000004, "0.30000000000000004"},
        {9007199254740993.0, "9007199254740992"},
        {-1.5, "-1.5"},
        {123456789012345680.0, "1.2345678901234568e+17"},
    };
    ses_session *session = agent_session(fixture, NULL);
    ses_tracked *tracked = agent_view(session, 0);

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double back = 0;
        assert_ok(ses_tracked_set_double(tracked, "d", cases[i].value, &error));
        agent_assert_value(tracked, "d", cases[i].text);
        assert_ok(ses_tracked_get_double(tracked, "d", &back, &error));
        assert_true(back == cases[i].value && signbit(back) == signbit(cases[i].value));
    }
    assert_code(SES_INVALID, ses_tracked_set_double(tracked, "d", (double)INFINITY, &error));
    assert_message("infinite or NaN");
    assert_code(SES_INVALID, ses_tracked_set_double(tracked, "d", (double)NAN, &error));
    assert_message("\"d\"");
    assert_message("infinite or NaN");
    agent_assert_value(tracked, "d", "1.2345678901234568e+17");
}

/* Missing in the handle, or removed by the view: no error either way, and defaults stay. */
MEMORY_TEST(a_missing_key_is_no_error)
{
    ses_session *session = agent_session(fixture, "{\"removed\":1,\"app:removed\":\"x\"}");
    ses_tracked *tracked = agent_view(session, 0);
    static const char *const missing[] = {"none", "removed", "app:removed", "temp:none"};

    assert_ok(ses_tracked_remove(tracked, "removed", &error));
    assert_ok(ses_tracked_remove(tracked, "app:removed", &error));
    for (size_t i = 0; i < sizeof missing / sizeof missing[0]; i++) {
        const char *json = "before";
        const char *text = "before";
        size_t lens[2] = {99, 99};
        int64_t integer = -5;
        double real = -0.5;
        int flag = 3;
        memset(&error, 1, sizeof error);
        assert_code(SES_ABSENT, ses_tracked_get(tracked, missing[i], &json, &lens[0], &error));
        assert_int_equal(error.code, SES_OK);
        assert_string_equal(error.message, "");
        assert_code(SES_ABSENT, ses_tracked_get_string(tracked, missing[i], &text, &lens[1], &error));
        assert_code(SES_ABSENT, ses_tracked_get_int64(tracked, missing[i], &integer, &error));
        assert_code(SES_ABSENT, ses_tracked_get_double(tracked, missing[i], &real, &error));
        assert_code(SES_ABSENT, ses_tracked_get_bool(tracked, missing[i], &flag, &error));
        assert_true(json == NULL && text == NULL && lens[0] == 0 && lens[1] == 0);
        assert_true(integer == -5 && real == -0.5 && flag == 3);
        assert_code(SES_ABSENT, ses_tracked_get_string(tracked, missing[i], &text, NULL, NULL));
        assert_int_equal(ses_tracked_has(tracked, missing[i]), 0);
    }
}

MEMORY_TEST(typed_reads_tell_missing_type_and_range_apart)
{
    ses_session *session = agent_session(fixture, "{\"s\":\"stored\",\"n\":7,\"e\":\"a\\nb\"}");
    ses_tracked *tracked = agent_view(session, 0);
    const char *text = NULL;
    size_t len = 0;
    int64_t integer = 0;
    double number = 0;
    int flag = -1;

    assert_ok(ses_tracked_get_string(tracked, "s", &text, &len, &error));
    assert_string_equal(text, "stored");
    assert_ok(ses_tracked_get_string(tracked, "e", &text, NULL, &error));
    assert_string_equal(text, "a\nb");
    assert_ok(ses_tracked_get_int64(tracked, "n", &integer, &error));
    assert_int_equal(integer, 7);
    assert_ok(ses_tracked_set(tracked, "own", "\"x\\u0000\\u00e9\"", SES_NUL, &error));
    for (int again = 0; again < 2; again++) {
        assert_ok(ses_tracked_get_string(tracked, "own", &text, &len, &error));
        assert_int_equal(len, 4);
        assert_memory_equal(text, "x\0\xc3\xa9", 5);
        assert_ok(ses_tracked_get_string(tracked, "own", &text, NULL, &error));
    }
    assert_ok(ses_tracked_set_bool(tracked, "b", 1, &error));
    assert_ok(ses_tracked_get_bool(tracked, "b", &flag, &error));
    assert_int_equal(flag, 1);
    assert_ok(ses_tracked_set(tracked, "f", "1.5", SES_NUL, &error));
    assert_ok(ses_tracked_get_double(tracked, "f", &number, &error));
    assert_true(number == 1.5);

    assert_code(SES_ABSENT, ses_tracked_get_string(tracked, "gone", &text, NULL, &error));
    assert_code(SES_TYPE, ses_tracked_get_string(tracked, "b", &text, NULL, &error));
    assert_code(SES_TYPE, ses_tracked_get_string(tracked, "n", &text, NULL, &error));
    assert_code(SES_TYPE, ses_tracked_get_int64(tracked, "f", &integer, &error));
    assert_code(SES_TYPE, ses_tracked_get_int64(tracked, "s", &integer, &error));
    assert_code(SES_TYPE, ses_tracked_get_double(tracked, "s", &number, &error));
    assert_code(SES_TYPE, ses_tracked_get_bool(tracked, "n", &flag, &error));
    assert_ok(ses_tracked_set(tracked, "big", "1e400", SES_NUL, &error));
    assert_code(SES_RANGE, ses_tracked_get_double(tracked, "big", &number, &error));
    assert_code(SES_RANGE, ses_tracked_get_int64(tracked, "big", &integer, &error));
    assert_ok(ses_tracked_set(tracked, "lone", "\"\\ud800\"", SES_NUL, &error));
    assert_code(SES_RANGE, ses_tracked_get_string(tracked, "lone", &text, NULL, &error));
    assert_ok(ses_tracked_remove(tracked, "own", &error));
    assert_code(SES_ABSENT, ses_tracked_get_string(tracked, "own", &text, NULL, &error));
}

MEMORY_TEST(append_puts_the_delta_in_and_leaves_the_view_clean)
{
    ses_session *session = agent_session(fixture, "{\"old\":1,\"user:u\":2}");
    ses_tracked *tracked = agent_view(session, 0);
    ses_appended appended;

    assert_ok(ses_tracked_set(tracked, "z", "1", SES_NUL, &error));
    assert_ok(ses_tracked_set(tracked, "app:a", "{\"k\": 1.10}", SES_NUL, &error));
    assert_ok(ses_tracked_set(tracked, "temp:t", "3", SES_NUL, &error));
    assert_ok(ses_tracked_remove(tracked, "old", &error));
    assert_ok(ses_tracked_append(tracked, EVENT(",\"author\":\"me\""), SES_NUL, NULL, &appended, &error));
    assert_int_equal(appended.seq, 1);
    agent_assert_stored(session,
                        EVENT(",\"author\":\"me\",\"actions\":{\"stateDelta\":{\"app:a\":{\"k\": 1.10},"
                              "\"old\":\"__ADK_SENTINEL_REMOVED__\",\"z\":1}}"));
    assert_int_equal(ses_tracked_changed(tracked), 0);
    agent_assert_delta(tracked, "{}");
    assert_string_equal(support_state(session, NULL),
                        "{\"app:a\":{\"k\": 1.10},\"user:u\":2,\"z\":1,\"temp:t\":3}");
    agent_assert_shows(tracked, "{\"app:a\":{\"k\": 1.10},\"user:u\":2,\"z\":1,\"temp:t\":3}");
    /* And again, with the same view. */
    assert_ok(ses_tracked_set_int64(tracked, "z", 2, &error));
    assert_ok(ses_tracked_append(tracked, "{}", SES_NUL, NULL, &appended, &error));
    agent_assert_value(tracked, "z", "2");
}

/* The members go to the right place in any event, and no other byte changes. */
MEMORY_TEST(splicing_keeps_every_other_byte)
{
    static const struct {
        const char *event;
        const char *stored;
    } cases[] = {
        {EVENT(""), EVENT(",\"actions\":{\"stateDelta\":{\"k\":1}}")},
        {EVENT(",\"actions\":null"), EVENT(",\"actions\":{\"stateDelta\":{\"k\":1}}")},
        {EVENT(",\"actions\":{}"), EVENT(",\"actions\":{\"stateDelta\":{\"k\":1}}")},
        {EVENT(",\"actions\":{ \"x\":1}"), EVENT(",\"actions\":{\"stateDelta\":{\"k\":1}, \"x\":1}")},
        {EVENT(",\"actions\":{\"stateDelta\":null,\"x\":1}"),
         EVENT(",\"actions\":{\"stateDelta\":{\"k\":1},\"x\":1}")},
        {EVENT(",\"actions\":{\"state_delta\":null}"), EVENT(",\"actions\":{\"state_delta\":{\"k\":1}}")},
        {EVENT(",\"actions\":{\"stateDelta\":{}}"), EVENT(",\"actions\":{\"stateDelta\":{\"k\":1}}")},
        {EVENT(",\"actions\":{\"stateDelta\":{ }}"), EVENT(",\"actions\":{\"stateDelta\":{ \"k\":1}}")},
        {EVENT(",\"actions\" : {\"y\":[{}], \"state_delta\" : {\"j\" : 1.0 }  } , \"z\":\"\\u00e9\""),
         EVENT(
             ",\"actions\" : {\"y\":[{}], \"state_delta\" : {\"j\" : 1.0 ,\"k\":1}  } , \"z\":\"\\u00e9\"")},
        {EVENT(",\"actions\":{\"stateDelta\":{\"temp:q\":1}}"),
         EVENT(",\"actions\":{\"stateDelta\":{\"k\":1}}")},
        {EVENT(",\"\\u0061ctions\":{}"), EVENT(",\"\\u0061ctions\":{\"stateDelta\":{\"k\":1}}")},
        {EVENT(",\"actionsX\":{\"stateDelta\":1}"),
         EVENT(",\"actionsX\":{\"stateDelta\":1},\"actions\":{\"stateDelta\":{\"k\":1}}")},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ses_session *session = agent_session(fixture, NULL);
        ses_tracked *tracked = agent_view(session, 0);
        assert_ok(ses_tracked_set(tracked, "k", "1", SES_NUL, &error));
        assert_ok(ses_tracked_append(tracked, cases[i].event, SES_NUL, NULL, NULL, &error));
        agent_assert_stored(session, cases[i].stored);
        agent_assert_value(tracked, "k", "1");
        ses_tracked_close(tracked);
        ses_session_close(session);
        must_delete(fixture->store, &agent_key);
    }
}

#define DELTA(members) EVENT(",\"actions\":{\"stateDelta\":{" members "},\"x\":[ ]}")

/* A key that both write appears in the stored event once, with the view's value, however the event spells
 * it. */
MEMORY_TEST(the_views_writes_win_over_the_events_own_delta)
{
    static const struct {
        const char *event;
        const char *stored;
        const char *state;
    } cases[] = {
        {DELTA("\"both\":\"event\",\"event\":1"), DELTA("\"event\":1,\"\":0,\"both\":\"view\""),
         "{\"\":0,\"both\":\"view\",\"event\":1}"},
        {DELTA("\"a\" : [1, 2] , \"b\\u006fth\" : 1 , \"z\":\"\\u00e9\" "),
         DELTA("\"a\" : [1, 2] , \"z\":\"\\u00e9\" ,\"\":0,\"both\":\"view\""),
         "{\"\":0,\"a\":[1, 2],\"both\":\"view\",\"z\":\"\\u00e9\"}"},
        {DELTA("\"both\":{}"), DELTA("\"\":0,\"both\":\"view\""), "{\"\":0,\"both\":\"view\"}"},
        {DELTA("\"both\":1,\"\":2,\"both\":3"), DELTA("\"\":0,\"both\":\"view\""),
         "{\"\":0,\"both\":\"view\"}"},
        {DELTA("\"user:both\":1,\"bot\":2"), DELTA("\"user:both\":1,\"bot\":2,\"\":0,\"both\":\"view\""),
         "{\"user:both\":1,\"\":0,\"bot\":2,\"both\":\"view\"}"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ses_session *session = agent_session(fixture, NULL);
        ses_tracked *tracked = agent_view(session, 0);
        assert_ok(ses_tracked_set(tracked, "both", "\"view\"", SES_NUL, &error));
        assert_ok(ses_tracked_set(tracked, "", "0", SES_NUL, &error));
        assert_ok(ses_tracked_append(tracked, cases[i].event, SES_NUL, NULL, NULL, &error));
        agent_assert_stored(session, cases[i].stored);
        assert_string_equal(support_state(session, NULL), cases[i].state);
        ses_tracked_close(tracked);
        ses_session_close(session);
        assert_ok(ses_delete_user(fixture->store, agent_key.app, agent_key.user, NULL, NULL, NULL, &error));
    }
}

MEMORY_TEST(a_view_without_writes_appends_the_event_as_it_is)
{
    ses_session *session = agent_session(fixture, NULL);
    ses_tracked *tracked = agent_view(session, 0);

    assert_ok(ses_tracked_append(tracked, EVENT(",\"actions\":{}"), SES_NUL, NULL, NULL, &error));
    agent_assert_stored(session, EVENT(",\"actions\":{}"));
}

MEMORY_TEST(refused_events_change_nothing)
{
    static const struct {
        const char *event;
        int code;
        int64_t offset;
        const char *words;
    } cases[] = {
        {"{\"a\":1", SES_JSON, 6, "expected , or }"},
        {"{\"a\":}", SES_JSON, 5, "value"},
        {"{} x", SES_JSON, 3, "unexpected text"},
        {"", SES_JSON, 0, "ends"},
        {"[]", SES_INVALID, 0, "must be a JSON object"},
        {"{\"actions\":[]}", SES_INVALID, 11, "actions must be an object"},
        {"{\"actions\":{\"stateDelta\":[]}}", SES_INVALID, 25, "actions.stateDelta must be"},
        {"{\"actions\":{\"state_delta\":1}}", SES_INVALID, 26, "actions.state_delta must be"},
        {"{\"actions\":{\"state_delta\":{},\"stateDelta\":null}}", SES_INVALID, 29,
         "both actions.state_delta and actions.stateDelta"},
        {"{\"actions\":{\"stateDelta\":{},\"stateDelta\":{}}}", SES_INVALID, 28, "twice"},
        {"{\"actions\":{},\"actions\":{}}", SES_INVALID, 14, "twice"},
        {"{\"actions\":{\"stateDelta\":{\"a\"}}}", SES_JSON, 29, "colon"},
        {"{\"actions\":{\"stateDelta\":}}", SES_JSON, 25, "value"},
        {"{\"actions\":{\"stateDelta\":nul}}", SES_JSON, 25, "word"},
        {"{\"actions\":{\"x\":tru}}", SES_JSON, 16, "word"},
        {"{\"actions\":{\"x\"}}", SES_JSON, 15, "colon"},
        {"{\"actions\":nul}", SES_JSON, 11, "word"},
        {"{\"actions\":{\"stateDelta\":{\"a\":1 \"b\"}}}", SES_JSON, 32, "expected , or }"},
        {"{\"actions\":{\"stateDelta\":{\"\\ud800\":1}}}", SES_INVALID, 26, "lone surrogate"},
        {"{\"actions\":{\"x\":1 \"y\"}}", SES_JSON, 18, "expected , or }"},
        /* The store refuses it and sees the view's delta in front of it, but the offset is in the caller's
         * text. */
        {"{\"actions\":{},\"author\":7}", SES_INVALID, 23, "at byte 23: the event's author"},
        {"{\"actions\":null,\"timestamp\":\"x\"}", SES_INVALID, 28, "at byte 28: the event's timestamp"},
        {"{\"author\":7,\"actions\":{}}", SES_INVALID, 10, "at byte 10: the event's author"},
    };
    ses_session *session = agent_session(fixture, "{\"a\":1}");
    ses_tracked *tracked = agent_view(session, 0);

    assert_ok(ses_tracked_set(tracked, "k", "\"a long value, so that offsets differ\"", SES_NUL, &error));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_code(cases[i].code, ses_tracked_append(tracked, cases[i].event, SES_NUL, NULL, NULL, &error));
        assert_message(cases[i].words);
        assert_int_equal(error.offset, cases[i].offset);
    }
    assert_code(SES_MISUSE, ses_tracked_append(tracked, NULL, 0, NULL, NULL, &error));
    assert_int_equal(ses_session_version(session), 0);
    agent_assert_delta(tracked, "{\"k\":\"a long value, so that offsets differ\"}");
}

MEMORY_TEST(values_that_break_rules_are_refused)
{
    ses_session *session = agent_session(fixture, NULL);
    ses_tracked *tracked = agent_view(session, 0);
    char name[600];
    char deep[2100];

    memset(name, 'k', sizeof name);
    name[SES_ID_MAX] = '\0';
    assert_ok(ses_tracked_set(tracked, name, "1", SES_NUL, &error));
    name[SES_ID_MAX] = 'k';
    name[SES_ID_MAX + 1] = '\0';
    assert_code(SES_INVALID, ses_tracked_set(tracked, name, "1", SES_NUL, &error));
    assert_code(SES_INVALID, ses_tracked_set_string(tracked, name, "1", SES_NUL, &error));
    assert_code(SES_INVALID, ses_tracked_set_int64(tracked, name, 1, &error));
    assert_code(SES_INVALID, ses_tracked_set_double(tracked, name, 1, &error));
    assert_code(SES_INVALID, ses_tracked_set_bool(tracked, name, 1, &error));
    assert_code(SES_INVALID, ses_tracked_remove(tracked, name, &error));
    memcpy(name, "user:", 5);
    name[5 + SES_ID_MAX] = '\0';
    assert_ok(ses_tracked_remove(tracked, name, &error));
    assert_code(SES_INVALID, ses_tracked_set(tracked, "\xff", "1", SES_NUL, &error));
    assert_ok(ses_tracked_set(tracked, "", "1", SES_NUL, &error));
    assert_code(SES_INVALID, ses_tracked_set_string(tracked, "s", "\xc3", SES_NUL, &error));
    assert_code(SES_JSON, ses_tracked_set(tracked, "s", "{\"a\":", SES_NUL, &error));
    assert_int_equal(error.offset, 5);
    assert_code(SES_JSON, ses_tracked_set(tracked, "s", "", SES_NUL, &error));
    assert_code(SES_JSON, ses_tracked_set(tracked, "s", "1 2", SES_NUL, &error));
    assert_code(SES_JSON, ses_tracked_set(tracked, "s", "NaN", SES_NUL, &error));
    assert_code(SES_JSON, ses_tracked_set(tracked, "s", "\"\xff\"", SES_NUL, &error));
    assert_code(SES_MISUSE, ses_tracked_set(tracked, "s", NULL, 0, &error));
    assert_code(SES_MISUSE, ses_tracked_set(tracked, NULL, "1", SES_NUL, &error));
    assert_code(SES_MISUSE, ses_tracked_set_string(tracked, "s", NULL, 0, &error));
    assert_code(SES_MISUSE, ses_tracked_set(NULL, "s", "1", SES_NUL, &error));
    /* Three levels are the event's, its actions' and the delta's. */
    memset(deep, '[', 998);
    memset(deep + 998, ']', 998);
    assert_code(SES_LIMIT, ses_tracked_set(tracked, "deep", deep, 1996, &error));
    assert_message("with the 3 levels around it in an event");
    assert_ok(ses_tracked_set(tracked, "deep", deep + 1, 1994, &error));
    assert_false(ses_tracked_has(tracked, "s"));
    assert_ok(ses_tracked_append(tracked, "{}", SES_NUL, NULL, NULL, &error));
}

MEMORY_TEST(the_tombstone_as_a_value_removes)
{
    ses_session *session = agent_session(fixture, "{\"a\":1,\"b\":2}");
    ses_tracked *tracked = agent_view(session, 0);

    assert_ok(ses_tracked_set_string(tracked, "a", "__ADK_SENTINEL_REMOVED__", SES_NUL, &error));
    assert_ok(ses_tracked_set(tracked, "b", "\"\\u005f_ADK_SENTINEL_REMOVED__\"", SES_NUL, &error));
    assert_ok(ses_tracked_remove(tracked, "never", &error));
    agent_assert_value(tracked, "a", NULL);
    agent_assert_shows(tracked, "{\"b\":\"\\u005f_ADK_SENTINEL_REMOVED__\"}"); /* an ordinary string */
    assert_ok(ses_tracked_append(tracked, "{}", SES_NUL, NULL, NULL, &error));
    assert_string_equal(support_state(session, NULL), "{\"b\":\"\\u005f_ADK_SENTINEL_REMOVED__\"}");
}

MEMORY_TEST(a_read_only_view_cannot_write)
{
    ses_session *session = agent_session(fixture, "{\"a\":1}");
    ses_tracked *tracked = agent_view(session, SES_TRACK_READ_ONLY);

    agent_assert_value(tracked, "a", "1");
    assert_code(SES_READONLY, ses_tracked_set(tracked, "a", "2", SES_NUL, &error));
    assert_code(SES_READONLY, ses_tracked_set_string(tracked, "a", "2", SES_NUL, &error));
    assert_code(SES_READONLY, ses_tracked_set_int64(tracked, "a", 2, &error));
    assert_code(SES_READONLY, ses_tracked_set_double(tracked, "a", 2, &error));
    assert_code(SES_READONLY, ses_tracked_set_bool(tracked, "a", 1, &error));
    assert_code(SES_READONLY, ses_tracked_remove(tracked, "a", &error));
    assert_code(SES_READONLY, ses_tracked_append(tracked, "{}", SES_NUL, NULL, NULL, &error));
    assert_code(SES_READONLY, ses_output_append(tracked, "{}", SES_NUL, "me", "k", NULL, NULL, &error));
    agent_assert_shows(tracked, "{\"a\":1}");
    assert_int_equal(ses_session_version(session), 0);
}

MEMORY_TEST(a_dropped_view_leaves_nothing)
{
    ses_session *session = agent_session(fixture, "{\"a\":1}");
    ses_tracked *tracked = agent_view(session, 0);

    assert_ok(ses_tracked_set(tracked, "a", "2", SES_NUL, &error));
    assert_ok(ses_tracked_set(tracked, "temp:b", "2", SES_NUL, &error));
    ses_tracked_close(tracked);
    assert_string_equal(support_state(session, NULL), "{\"a\":1}");
    must_refresh(session);
    assert_string_equal(support_state(session, NULL), "{\"a\":1}");
    assert_int_equal(ses_session_stored(session), 0);
    ses_tracked_close(NULL);
}

MEMORY_TEST(views_on_one_handle_keep_their_writes_apart)
{
    ses_session *session = agent_session(fixture, "{\"a\":1}");
    ses_tracked *left = agent_view(session, 0);
    ses_tracked *right = agent_view(session, 0);

    assert_ok(ses_tracked_set(left, "a", "\"left\"", SES_NUL, &error));
    assert_ok(ses_tracked_set(right, "a", "\"right\"", SES_NUL, &error));
    assert_ok(ses_tracked_set(left, "temp:l", "1", SES_NUL, &error));
    agent_assert_value(left, "a", "\"left\"");
    agent_assert_value(right, "a", "\"right\"");
    agent_assert_value(right, "temp:l", NULL);
    assert_ok(ses_tracked_append(left, "{\"invocationId\":\"i\"}", SES_NUL, NULL, NULL, &error));
    agent_assert_value(left, "a", "\"left\"");
    agent_assert_value(right, "a", "\"right\"");
    agent_assert_value(right, "temp:l", "1");
    assert_ok(ses_tracked_append(right, "{\"invocationId\":\"i\"}", SES_NUL, NULL, NULL, &error));
    agent_assert_value(left, "a", "\"right\"");
}

MEMORY_TEST(a_view_of_a_closed_handle_is_refused)
{
    ses_session *session = agent_session(fixture, "{\"a\":1}");
    ses_tracked *tracked = agent_view(session, 0);
    ses_tracked *none = tracked;
    const char *text = NULL;
    char *json = NULL;
    int64_t integer;
    double number;
    int flag;

    assert_ok(ses_tracked_set(tracked, "b", "2", SES_NUL, &error));
    ses__session_retain(session);
    ses_session_close(session);
    ses_session_close(session); /* once is enough */
    assert_code(SES_MISUSE, ses__session_check(session, &error));
    assert_code(SES_MISUSE, ses_tracked_set(tracked, "a", "2", SES_NUL, &error));
    assert_message("the session handle is closed");
    assert_code(SES_MISUSE, ses_tracked_remove(tracked, "a", &error));
    assert_code(SES_MISUSE, ses_tracked_get(tracked, "b", &text, NULL, &error));
    assert_code(SES_MISUSE, ses_tracked_get_string(tracked, "b", &text, NULL, &error));
    assert_code(SES_MISUSE, ses_tracked_get_int64(tracked, "b", &integer, &error));
    assert_code(SES_MISUSE, ses_tracked_get_double(tracked, "b", &number, &error));
    assert_code(SES_MISUSE, ses_tracked_get_bool(tracked, "b", &flag, &error));
    assert_code(SES_MISUSE, ses_tracked_json(tracked, &json, NULL, &error));
    assert_code(SES_MISUSE, ses_tracked_delta(tracked, &json, NULL, &error));
    assert_code(SES_MISUSE, ses_tracked_append(tracked, "{}", SES_NUL, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_tracked_render(tracked, "x", SES_NUL, NULL, &json, NULL, &error));
    assert_code(SES_MISUSE, ses_tracked_open(session, NULL, &none, &error));
    assert_message("the session handle is closed");
    assert_null(none);
    assert_false(ses_tracked_has(tracked, "b"));
    assert_code(SES_MISUSE, ses_append(session, "{}", SES_NUL, NULL, NULL, &error));
    assert_message("the session handle is closed");
    assert_code(SES_MISUSE, ses_append_batch(session, NULL, 0, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_refresh(session, NULL, &error));
    assert_code(SES_MISUSE, ses_state_get(session, "a", &text, NULL, &error));
    assert_code(SES_MISUSE, ses_state_get_string(session, "a", &text, NULL, &error));
    assert_code(SES_MISUSE, ses_state_at(session, 0, &text, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_invocation_begin(session, "i", &error));
    assert_code(SES_MISUSE, ses_invocation_end(session, &error));
    assert_code(SES_MISUSE, ses_render(session, "x", SES_NUL, NULL, &json, NULL, &error));
    assert_message("the session handle is closed");
    assert_string_equal(ses_session_id(session), "session"); /* the memory is kept */
    ses__session_release(session);
}

MEMORY_TEST(a_view_outlives_its_store)
{
    ses_session *session = agent_session(fixture, "{\"a\":1}");
    ses_tracked *tracked = agent_view(session, 0);
    char *text = NULL;

    assert_ok(ses_tracked_set(tracked, "b", "2", SES_NUL, &error));
    ses_close(fixture->store);
    fixture->store = NULL;
    assert_code(SES_MISUSE, ses_tracked_append(tracked, "{}", SES_NUL, NULL, NULL, &error));
    /* The contents of the handle and the view can still be read. */
    assert_ok(ses_tracked_render(tracked, "{a}{b}", SES_NUL, NULL, &text, NULL, &error));
    assert_string_equal(text, "12");
    ses_free(text);
    ses_session_close(session);
    ses_tracked_close(tracked);
    ses__session_release(NULL);
    ses__session_retain(NULL);
    assert_code(SES_MISUSE, ses__session_check(NULL, &error));
    assert_null(ses__store_allocator(NULL));
}

MEMORY_TEST(a_view_shows_keys_in_the_order_of_state_json)
{
    ses_session *session = agent_session(
        fixture,
        "{\"m\":1,\"user:b\":2,\"app:z\":3,\"app:a\":4,\"x\":5,\"App:n\":6,\"other:n\":7,\"user:\":8}");
    ses_tracked *tracked = agent_view(session, 0);

    assert_ok(ses_tracked_set(tracked, "temp:t", "0", SES_NUL, &error));
    assert_ok(ses_tracked_set(tracked, "a", "0", SES_NUL, &error));
    assert_ok(ses_tracked_set(tracked, "zz", "0", SES_NUL, &error));
    assert_ok(ses_tracked_set(tracked, "m", "0", SES_NUL, &error));
    assert_ok(ses_tracked_set(tracked, "app:b", "0", SES_NUL, &error));
    assert_ok(ses_tracked_set(tracked, "mm", "0", SES_NUL, &error));
    assert_ok(ses_tracked_remove(tracked, "x", &error));
    assert_ok(ses_tracked_remove(tracked, "gone", &error));
    assert_ok(ses_tracked_remove(tracked, "user:zzz", &error));
    agent_assert_shows(tracked,
                       "{\"app:a\":4,\"app:b\":0,\"app:z\":3,\"user:\":8,\"user:b\":2,\"App:n\":6,\"a\":0,"
                       "\"m\":0,\"mm\":0,\"other:n\":7,\"zz\":0,\"temp:t\":0}");
    ses_tracked_close(tracked);
    /* The handle alone and a view make the same text of the same keys. */
    tracked = agent_view(session, 0);
    agent_assert_shows(tracked, support_state(session, NULL));
    ses_session_close(session);
}

MEMORY_TEST(partial_events_keep_the_writes_and_retries_end_them)
{
    ses_session *session = agent_session(fixture, NULL);
    ses_tracked *tracked = agent_view(session, 0);
    ses_appended appended;

    assert_ok(ses_tracked_set(tracked, "k", "1", SES_NUL, &error));
    assert_code(SES_PARTIAL,
                ses_tracked_append(tracked, "{\"partial\":true}", SES_NUL, NULL, &appended, &error));
    assert_true(ses_tracked_changed(tracked));
    assert_ok(ses_tracked_append(tracked, EVENT(""), SES_NUL, NULL, NULL, &error));
    assert_ok(ses_tracked_set(tracked, "k", "1", SES_NUL, &error));
    assert_code(SES_DUPLICATE, ses_tracked_append(tracked, EVENT(""), SES_NUL, NULL, NULL, &error));
    assert_false(ses_tracked_changed(tracked));
    assert_ok(ses_tracked_set(tracked, "k", "2", SES_NUL, &error));
    assert_code(SES_EXISTS, ses_tracked_append(tracked, EVENT(""), SES_NUL, NULL, NULL, &error));
    assert_true(ses_tracked_changed(tracked));
}

MEMORY_TEST(a_stale_view_keeps_its_writes_for_another_try)
{
    ses_session *session = agent_session(fixture, "{\"n\":1}");
    ses_tracked *tracked = agent_view(session, 0);
    const ses_append_options anyway = {.size = sizeof anyway, .flags = SES_ANYWAY};

    assert_ok(ses_tracked_set(tracked, "k", "1", SES_NUL, &error));
    assert_ok(ses_append_by_key(fixture->store, &agent_key, "{\"actions\":{\"stateDelta\":{\"n\":2}}}",
                                SES_NUL, NULL, NULL, &error));
    assert_code(SES_STALE, ses_tracked_append(tracked, "{}", SES_NUL, NULL, NULL, &error));
    agent_assert_shows(tracked, "{\"k\":1,\"n\":1}");
    must_refresh(session);
    agent_assert_shows(tracked, "{\"k\":1,\"n\":2}");
    must_append_by_key(fixture->store, &agent_key, "{}");
    assert_ok(ses_tracked_append(tracked, "{}", SES_NUL, &anyway, NULL, &error));
    assert_string_equal(support_state(session, NULL), "{\"k\":1,\"n\":2}");
}

/* The way to add to a number that others add to. */
MEMORY_TEST(after_stale_the_state_is_looked_at_again)
{
    ses_session *session = agent_session(fixture, "{\"n\":1}");
    ses_tracked *tracked = agent_view(session, 0);
    int tries = 0;
    int code;

    do {
        int64_t n = 0;
        ses_tracked_discard(tracked);
        assert_false(ses_tracked_changed(tracked));
        assert_ok(ses_tracked_get_int64(tracked, "n", &n, &error));
        assert_ok(ses_tracked_set_int64(tracked, "n", n + 1, &error));
        if (tries++ == 0)
            assert_ok(ses_append_by_key(fixture->store, &agent_key,
                                        "{\"actions\":{\"stateDelta\":{\"n\":9}}}", SES_NUL, NULL, NULL,
                                        &error));
        code = ses_tracked_append(tracked, "{}", SES_NUL, NULL, NULL, &error);
        if (code == SES_STALE)
            must_refresh(session);
    } while (code == SES_STALE);
    assert_ok(code);
    assert_int_equal(tries, 2);
    assert_string_equal(support_state(session, NULL), "{\"n\":10}");
    ses_tracked_discard(NULL);
}

MEMORY_TEST(the_view_appended_last_wins)
{
    ses_session *session = agent_session(fixture, "{\"n\":0}");
    ses_tracked *one = agent_view(session, 0);
    ses_tracked *two = agent_view(session, 0);

    assert_ok(ses_tracked_set(one, "n", "1", SES_NUL, &error));
    assert_ok(ses_tracked_set(two, "n", "2", SES_NUL, &error));
    assert_ok(ses_tracked_append(two, "{}", SES_NUL, NULL, NULL, &error));
    assert_ok(ses_tracked_append(one, "{}", SES_NUL, NULL, NULL, &error));
    assert_string_equal(support_state(session, NULL), "{\"n\":1}");
    assert_ptr_equal(ses_tracked_session(one), session);
    assert_null(ses_tracked_session(NULL));
    /* The temp: values that a view wrote are its own, until they are appended or discarded. */
    assert_ok(ses_tracked_set(one, "temp:t", "1", SES_NUL, &error));
    assert_ok(ses_invocation_begin(session, NULL, &error));
    agent_assert_value(one, "temp:t", "1");
    agent_assert_value(two, "temp:t", NULL);
    ses_tracked_discard(one);
    agent_assert_value(one, "temp:t", NULL);
}

MEMORY_TEST(missing_arguments_are_misuse)
{
    ses_session *session = agent_session(fixture, NULL);
    ses_tracked *tracked = NULL;

    assert_code(SES_MISUSE, ses_tracked_open(NULL, NULL, &tracked, &error));
    assert_code(SES_MISUSE, ses_tracked_open(session, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_tracked_open(session, &(ses_track_options){.flags = SES_TRACK_READ_ONLY},
                                             &tracked, &error));
    const ses_track_options unknown = {.size = sizeof unknown, .flags = 4};
    assert_code(SES_MISUSE, ses_tracked_open(session, &unknown, &tracked, &error));
    tracked = agent_view(session, 0);
    assert_code(SES_MISUSE, ses_tracked_get(tracked, "a", NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_tracked_json(tracked, NULL, NULL, &error));
    assert_false(ses_tracked_has(tracked, NULL));
    assert_false(ses_tracked_has(NULL, "a"));
    assert_false(ses_tracked_changed(NULL));
    assert_int_equal(ses_tracked_set(tracked, "a", "x", 1, NULL), SES_JSON); /* an error may be left out */
    ses_tracked_close(tracked);
}

/* Many keys, set in no order: each is found, and they come out sorted. */
MEMORY_TEST(many_keys)
{
    ses_session *session = agent_session(fixture, NULL);
    ses_tracked *tracked = agent_view(session, 0);
    char name[16];

    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "k%03d", i * 7 % 1000);
        assert_ok(ses_tracked_set_int64(tracked, name, i, &error));
    }
    for (int i = 0; i < 1000; i++) {
        int64_t value = 0;
        snprintf(name, sizeof name, "k%03d", i * 7 % 1000);
        assert_ok(ses_tracked_get_int64(tracked, name, &value, &error));
        assert_int_equal(value, i);
    }
    assert_ok(ses_tracked_append(tracked, "{}", SES_NUL, NULL, NULL, &error));
    assert_int_equal(ses_state_count(session), 1000);
}
