/* Reading state: through a handle, one value or all, as JSON text or as C types; and by key. */
#include "support.h"

#include <stdbool.h>

static const ses_key key = {"app", "user", "session"};

#define REMOVED "\"__ADK_SENTINEL_REMOVED__\""

static ses_session *create(ses_store *store, const char *state)
{
    ses_session *session = must_open_new(store, &key, state);

    return session;
}

static void append_delta(ses_session *session, const char *delta)
{
    size_t room = strlen(delta) + 40;
    char *event = malloc(room);

    assert_non_null(event);
    snprintf(event, room, "{\"actions\":{\"stateDelta\":%s}}", delta);
    must_append(session, event);
    free(event);
}

/* ------------------------------------------------------------------------------------------- types */

TEST(each_value_is_of_one_type)
{
    static const struct {
        const char *name;
        const char *json;
        int string, int64, real, boolean;
    } values[] = {
        {"null", "null", SES_TYPE, SES_TYPE, SES_TYPE, SES_TYPE},
        {"true", "true", SES_TYPE, SES_TYPE, SES_TYPE, SES_OK},
        {"false", "false", SES_TYPE, SES_TYPE, SES_TYPE, SES_OK},
        {"one", "1", SES_TYPE, SES_OK, SES_OK, SES_TYPE},
        {"zero", "0", SES_TYPE, SES_OK, SES_OK, SES_TYPE},
        {"negative", "-7", SES_TYPE, SES_OK, SES_OK, SES_TYPE},
        {"half", "0.5", SES_TYPE, SES_TYPE, SES_OK, SES_TYPE},
        {"huge", "1e400", SES_TYPE, SES_RANGE, SES_RANGE, SES_TYPE},
        {"text", "\"x\"", SES_OK, SES_TYPE, SES_TYPE, SES_TYPE},
        {"digits", "\"1\"", SES_OK, SES_TYPE, SES_TYPE, SES_TYPE},
        {"word", "\"true\"", SES_OK, SES_TYPE, SES_TYPE, SES_TYPE},
        {"lone", "\"\\ud800\"", SES_RANGE, SES_TYPE, SES_TYPE, SES_TYPE},
        {"array", "[1]", SES_TYPE, SES_TYPE, SES_TYPE, SES_TYPE},
        {"object", "{'a':1}", SES_TYPE, SES_TYPE, SES_TYPE, SES_TYPE},
        {"absent", NULL, SES_ABSENT, SES_ABSENT, SES_ABSENT, SES_ABSENT},
    };
    ses_session *session = create(fixture->store, NULL);
    const char *text = NULL;
    size_t len = 0;
    int64_t integer = 0;
    double real = 0;
    int boolean = 0;

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char delta[64];
        const char *name = values[i].name;
        snprintf(delta, sizeof delta, "{\"%s\":%s}", name, Q(values[i].json) ? Q(values[i].json) : "0");
        if (Q(values[i].json))
            append_delta(session, delta);
        assert_code(Q(values[i].json) ? SES_OK : SES_ABSENT,
                    ses_state_get(session, name, &text, &len, &error));
        if (Q(values[i].json)) {
            assert_string_equal(text, Q(values[i].json));
            assert_int_equal(len, strlen(Q(values[i].json)));
        }
        assert_code(values[i].string, ses_state_get_string(session, name, &text, NULL, &error));
        assert_code(values[i].int64, ses_state_get_int64(session, name, &integer, &error));
        assert_code(values[i].real, ses_state_get_double(session, name, &real, &error));
        assert_code(values[i].boolean, ses_state_get_bool(session, name, &boolean, &error));
        if (values[i].boolean == SES_TYPE)
            assert_message(name);
    }
    ses_session_close(session);
}

TEST(booleans)
{
    ses_session *session = create(fixture->store, Q("{'t':true,'f':false,'app:t': true }"));
    int value = 7;

    memset(&error, 1, sizeof error);
    assert_ok(ses_state_get_bool(session, "t", &value, &error));
    assert_int_equal(value, 1);
    assert_int_equal(error.code, SES_OK); /* cleared */
    assert_string_equal(error.message, "");
    assert_ok(ses_state_get_bool(session, "f", &value, &error));
    assert_int_equal(value, 0);
    assert_ok(ses_state_get_bool(session, "app:t", &value, &error));
    assert_int_equal(value, 1);
    assert_code(SES_ABSENT, ses_state_get_bool(session, "app:f", &value, &error));
    assert_int_equal(value, 1);
    ses_session_close(session);
}

TEST(null_arguments_are_misuse)
{
    ses_session *session = create(fixture->store, Q("{'a':1}"));
    const char *text = NULL;
    char *owned = NULL;
    int64_t integer = 0;
    double real = 0;
    int boolean = 0;

    assert_code(SES_MISUSE, ses_state_get(NULL, "a", &text, NULL, &error));
    assert_code(SES_MISUSE, ses_state_get(session, NULL, &text, NULL, &error));
    assert_code(SES_MISUSE, ses_state_get(session, "a", NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_state_get_string(NULL, "a", &text, NULL, &error));
    assert_code(SES_MISUSE, ses_state_get_string(session, NULL, &text, NULL, &error));
    assert_code(SES_MISUSE, ses_state_get_string(session, "a", NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_state_get_int64(NULL, "a", &integer, &error));
    assert_code(SES_MISUSE, ses_state_get_int64(session, "a", NULL, &error));
    assert_code(SES_MISUSE, ses_state_get_double(session, NULL, &real, &error));
    assert_code(SES_MISUSE, ses_state_get_bool(session, "a", NULL, &error));
    assert_code(SES_MISUSE, ses_state_get_bool(NULL, "a", &boolean, &error));
    assert_code(SES_MISUSE, ses_state_at(NULL, 0, NULL, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_state_json_by_key(fixture->store, &key, NULL, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_state_json_by_key(NULL, &key, NULL, &owned, NULL, &error));
    assert_code(SES_MISUSE, ses_state_get_by_key(fixture->store, &key, NULL, NULL, &owned, NULL, &error));
    assert_code(SES_MISUSE, ses_state_get_by_key(fixture->store, NULL, "a", NULL, &owned, NULL, &error));
    assert_int_equal(ses_state_get(session, "none", &text, NULL, NULL), SES_ABSENT);
    assert_int_equal(ses_state_get(session, "a", &text, NULL, NULL), SES_OK);
    ses_session_close(session);
}

/* "... nor the outputs, except that an output handle or text is set to NULL." */
TEST(failed_reads_set_the_text_to_null)
{
    ses_session *session = create(fixture->store, Q("{'n':1,'lone':'\\ud800'}"));
    const char *texts[2] = {"before", "before"};
    char *owned[2] = {(char *)(uintptr_t) "before", (char *)(uintptr_t) "before"};
    size_t len = 99;

    assert_code(SES_NOTFOUND, ses_state_get_by_key(fixture->store, &(ses_key){"app", "user", "none"}, "n",
                                                   NULL, &owned[0], &len, &error));
    assert_null(owned[0]);
    assert_code(SES_NOTFOUND, ses_state_json_by_key(fixture->store, &(ses_key){"app", "user", "none"}, NULL,
                                                    &owned[1], &len, &error));
    assert_null(owned[1]);
    assert_code(SES_TYPE, ses_state_get_string(session, "n", &texts[0], &len, &error));
    assert_code(SES_RANGE, ses_state_get_string(session, "lone", &texts[1], &len, &error));
    assert_int_equal(len, 99);
    ses_session_close(session);
    for (int i = 0; i < 2; i++)
        assert_null(texts[i]);
}

/* A getter of a missing key says so, clears the error, and leaves defaults as they are. */
TEST_FILE_AND_MEMORY(a_missing_key_is_no_error)
{
    ses_session *session = create(fixture->store, Q("{'a':1,'app:b':2}"));
    static const char *const missing[] = {"b", "", "app:a", "user:a", "temp:a", "a ", "app:"};

    for (size_t i = 0; i < sizeof missing / sizeof missing[0]; i++) {
        const char *json = "before";
        const char *text = "before";
        char *owned = (char *)(uintptr_t) "before";
        size_t lens[3] = {99, 99, 99};
        int64_t integer = -5;
        double real = -0.5;
        int flag = 3;
        memset(&error, 1, sizeof error);
        assert_code(SES_ABSENT, ses_state_get(session, missing[i], &json, &lens[0], &error));
        assert_int_equal(error.code, SES_OK);
        assert_string_equal(error.message, "");
        assert_code(SES_ABSENT, ses_state_get_string(session, missing[i], &text, &lens[1], &error));
        assert_code(SES_ABSENT, ses_state_get_int64(session, missing[i], &integer, &error));
        assert_code(SES_ABSENT, ses_state_get_double(session, missing[i], &real, &error));
        assert_code(SES_ABSENT, ses_state_get_bool(session, missing[i], &flag, &error));
        memset(&error, 1, sizeof error);
        assert_code(SES_ABSENT,
                    ses_state_get_by_key(fixture->store, &key, missing[i], NULL, &owned, &lens[2], &error));
        assert_int_equal(error.code, SES_OK);
        assert_string_equal(error.message, "");
        assert_true(json == NULL && text == NULL && owned == NULL);
        assert_true(integer == -5 && real == -0.5 && flag == 3);
        assert_true(lens[0] == 0 && lens[1] == 0 && lens[2] == 0);
        assert_code(SES_ABSENT, ses_state_get(session, missing[i], &json, NULL, NULL));
        assert_code(SES_ABSENT,
                    ses_state_get_by_key(fixture->store, &key, missing[i], NULL, &owned, NULL, NULL));
    }
    ses_session_close(session);
}

/* ------------------------------------------------------------------------------------------ strings */

TEST(strings_are_unescaped)
{
    static const struct {
        const char *json;
        const char *text;
        size_t len;
    } strings[] = {
        {"\"\"", "", 0},
        {"\"plain\"", "plain", 5},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t", 8},
        {"\"\\u0041\\u00e9\\u20AC\"", "A\xC3\xA9\xE2\x82\xAC", 6},
        {"\"\xC3\xA9 as it is\"", "\xC3\xA9 as it is", 11},
        {"\"\\ud83d\\ude00\"", "\xF0\x9F\x98\x80", 4},
        {"\"\\uD800\\uDC00\"", "\xF0\x90\x80\x80", 4},
        {"\"\\uDBFF\\uDFFF\"", "\xF4\x8F\xBF\xBF", 4},
        {"\"\\ud7ff\\ue000\\uffff\"", "\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF", 9},
        {"\"\\u007f\\u0080\\u07ff\\u0800\"", "\x7F\xC2\x80\xDF\xBF\xE0\xA0\x80", 8},
        {"\"a\\u0000b\"", "a\0b", 3},
        {"\"\\u0000\"", "\0", 1},
        {"\"\\\\u0041\"", "\\u0041", 6},
        {"\"12345678\\n12345678\\n1234567\"", "12345678\n12345678\n1234567", 25},
    };
    ses_session *session = create(fixture->store, NULL);

    for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++) {
        const char *text = NULL;
        const char *again = NULL;
        size_t len = 99;
        char delta[100];
        snprintf(delta, sizeof delta, "{\"s\":%s}", strings[i].json);
        append_delta(session, delta);
        assert_ok(ses_state_get_string(session, "s", &text, &len, &error));
        assert_int_equal(len, strings[i].len);
        assert_memory_equal(text, strings[i].text, len + 1); /* with the NUL that is not counted */
        assert_ok(ses_state_get_string(session, "s", &again, NULL, &error));
        assert_ptr_equal(again, text);
        assert_ok(ses_state_get(session, "s", &text, NULL, &error));
        assert_string_equal(text, strings[i].json);
    }
    ses_session_close(session);
}

TEST(lone_surrogates_are_out_of_range_as_text)
{
    static const char *const lone[] = {
        "\"\\ud800\"",
        "\"\\udfff\"",
        "\"a\\udbffb\"",
        "\"\\ud800\\u0041\"",
        "\"\\udc00\\ud800\"",
        "\"\\ud800\\ud800\"",
        "\"\\ud83d\\ude00\\ud83d\"",
        "\"\\ud800 \\udc00\"",
        "\"\\ud800\\\\udc00\"",
        "\"\\ud800\xF0\x90\x80\x80\"",
    };
    ses_session *session = create(fixture->store, NULL);

    for (size_t i = 0; i < sizeof lone / sizeof lone[0]; i++) {
        const char *text = NULL;
        char delta[100];
        snprintf(delta, sizeof delta, "{\"s\":%s}", lone[i]);
        append_delta(session, delta);
        assert_code(SES_RANGE, ses_state_get_string(session, "s", &text, NULL, &error));
        assert_code(SES_RANGE, ses_state_get_string(session, "s", &text, NULL, &error));
        assert_ok(ses_state_get(session, "s", &text, NULL, &error));
        assert_string_equal(text, lone[i]); /* stored byte for byte nevertheless */
    }
    ses_session_close(session);
}

/* -------------------------------------------------------------------------------------- all of it */

static const char everything[] =
    "{\"app:\":0,\"app:B\":1,\"app:a\":2,\"app:a b\":3,\"app:a-\":4,\"app:aa\":5,"
    "\"user:x\":[1, 2],\"user:xx\":{\"k\" : null},"
    "\"\":6,\" \":7,\"App:\":8,\"Z\":9,\"a\":1.10,\"b\":\"\\u0041\",\"zz\":-0.0,"
    "\"\xC3\xA9\":10,\"temp:a\":11,\"temp:b\":12}";

TEST(state_walks_by_scope_and_key)
{
    static const char *const names[] = {"app:",   "app:B",   "app:a", "app:a b",  "app:a-", "app:aa",
                                        "user:x", "user:xx", "",      " ",        "App:",   "Z",
                                        "a",      "b",       "zz",    "\xC3\xA9", "temp:a", "temp:b"};
    enum { NAMES = sizeof names / sizeof names[0] };
    ses_session *session = create(fixture->store, NULL);
    const char *name = NULL;
    const char *json = NULL;
    size_t len = 0;

    append_delta(session, everything);
    assert_string_equal(support_state(session, &len), everything);
    assert_int_equal(len, sizeof everything - 1);
    assert_int_equal(ses_state_count(session), NAMES);
    for (size_t i = 0; i < NAMES; i++) {
        const char *by_name = NULL;
        assert_ok(ses_state_at(session, i, &name, &json, &len, &error));
        assert_string_equal(name, names[i]);
        assert_int_equal(len, strlen(json));
        assert_ok(ses_state_get(session, name, &by_name, NULL, &error));
        assert_string_equal(by_name, json);
    }
    assert_ok(ses_state_at(session, 0, NULL, NULL, NULL, &error));
    assert_code(SES_NOTFOUND, ses_state_at(session, NAMES, &name, &json, &len, &error));
    assert_code(SES_NOTFOUND, ses_state_at(session, SIZE_MAX, &name, &json, &len, &error));
    append_delta(session, Q("{'a':" REMOVED ",'c':1}")); /* the walk is of the state as it is now */
    assert_ok(ses_state_at(session, 13, &name, &json, &len, &error));
    assert_string_equal(name, "c");
    ses_session_close(session);
}

TEST(empty_state)
{
    ses_session *session = create(fixture->store, NULL);
    size_t len = 99;

    assert_string_equal(support_state(session, &len), "{}");
    assert_int_equal(len, 2);
    assert_int_equal(ses_state_count(session), 0);
    assert_code(SES_NOTFOUND, ses_state_at(session, 0, NULL, NULL, NULL, &error));
    ses_session_close(session);
}

TEST(values_stay_until_the_next_change)
{
    ses_session *session = create(fixture->store, NULL);
    const char *json = NULL;
    const char *text = NULL;
    const char *name = NULL;
    const char *other = NULL;
    double real = 0;

    append_delta(session, everything);
    const char *all = support_state(session, NULL);
    assert_ok(ses_state_get(session, "user:xx", &json, NULL, &error));
    assert_ok(ses_state_get_string(session, "b", &text, NULL, &error));
    assert_ok(ses_state_at(session, 2, &name, NULL, NULL, &error));
    for (size_t i = 0; i < ses_state_count(session); i++) {
        assert_ok(ses_state_at(session, i, &other, NULL, NULL, &error));
        (void)ses_state_get_double(session, other, &real, &error);
        (void)ses_state_get_string(session, other, &other, NULL, &error);
    }
    assert_code(SES_ABSENT, ses_state_get(session, "none", &other, NULL, &error));
    must_append_by_key(fixture->store, &key, Q("{'actions':{'stateDelta':{'b':1}}}")); /* by others */
    assert_ptr_equal(support_state(session, NULL), all);
    assert_string_equal(all, everything);
    assert_string_equal(json, Q("{'k' : null}"));
    assert_string_equal(text, "A");
    assert_string_equal(name, "app:a");
    ses_session_close(session);
}

/* ------------------------------------------------------------------------------------------ by key */

TEST_FILE_AND_MEMORY(reading_by_key)
{
    const ses_key none = {"app", "user", "none"};
    ses_session *session = create(fixture->store, NULL);
    char *json = NULL;
    size_t len = 0;

    append_delta(session, everything);
    assert_ok(ses_state_json_by_key(fixture->store, &key, NULL, &json, &len, &error));
    assert_int_equal(len, strlen(json));
    const char *temp = strstr(everything, ",\"temp:a\"");
    assert_int_equal(len, (size_t)(temp - everything) + 1); /* all but the temp: keys, and the brace */
    assert_memory_equal(json, everything, len - 1);
    ses_free(json);
    for (size_t i = 0; i < ses_state_count(session); i++) {
        const char *name = NULL;
        const char *value = NULL;
        assert_ok(ses_state_at(session, i, &name, &value, NULL, &error));
        bool stored = strncmp(name, "temp:", 5) != 0;
        assert_code(stored ? SES_OK : SES_ABSENT,
                    ses_state_get_by_key(fixture->store, &key, name, NULL, &json, &len, &error));
        if (stored) {
            assert_string_equal(json, value);
            assert_int_equal(len, strlen(value));
        }
        ses_free(json);
    }
    assert_code(SES_ABSENT, ses_state_get_by_key(fixture->store, &key, "none", NULL, &json, &len, &error));
    assert_code(SES_NOTFOUND, ses_state_get_by_key(fixture->store, &none, "a", NULL, &json, &len, &error));
    assert_message("session");
    assert_code(SES_NOTFOUND, ses_state_json_by_key(fixture->store, &none, NULL, &json, &len, &error));
    ses_session_close(session);
}

TEST(texts_outlive_the_store)
{
    char *all = NULL;
    char *value = NULL;

    ses_session_close(create(fixture->store, Q("{'a':[1,2,3]}")));
    assert_ok(ses_state_json_by_key(fixture->store, &key, NULL, &all, NULL, &error));
    assert_ok(ses_state_get_by_key(fixture->store, &key, "a", NULL, &value, NULL, &error));
    fixture_reopen(fixture);
    assert_string_equal(all, Q("{'a':[1,2,3]}"));
    assert_string_equal(value, "[1,2,3]");
    ses_free(all);
    ses_free(value);
    ses_free(NULL);
}
