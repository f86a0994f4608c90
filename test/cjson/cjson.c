/* Trees of cJSON in: what is written is what the tree holds, and a tree that is no JSON is refused. */
#include "support.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>

#include "seslite_cjson.h"

static const ses_key key = {"app", "user", "session"};

/* {"actions":{"stateDelta":{"v":VALUE}}}; takes the value. */
static cJSON *event_with(cJSON *value)
{
    cJSON *event = cJSON_CreateObject();
    cJSON *delta = cJSON_AddObjectToObject(cJSON_AddObjectToObject(event, "actions"), "stateDelta");
    assert_non_null(value);
    assert_true(cJSON_AddItemToObject(delta, "v", value));
    return event;
}

/* Appends the value, takes it over, and returns the code. */
static int append_value(ses_session *session, cJSON *value, ses_error *error)
{
    cJSON *event = event_with(value);
    int code = ses_append_cjson(session, event, NULL, NULL, error);
    cJSON_Delete(event);
    return code;
}

static void check_value(const ses_session *session, const char *expected)
{
    const char *json = NULL;
    ses_error error;
    assert_ok(ses_state_get(session, "v", &json, NULL, &error));
    assert_string_equal(json, expected);
}

static ses_session *create(ses_store *store)
{
    ses_session *session = must_open_new(store, &key, NULL);

    return session;
}

/* ----------------------------------------------------------------------------------------- the calls */

TEST(state_and_events_go_in_as_trees)
{
    cJSON *tree = cJSON_Parse(Q("{'a':1,'app:b':[true,null,'x'],'user:c':{'d':1.5},'temp:e':2}"));
    cJSON *event = cJSON_Parse(Q("{'id':'e1','timestamp':5,'actions':{'stateDelta':{'a':3,'temp:t':4}}}"));
    cJSON *later = cJSON_Parse(Q("{'id':'e2','timestamp':6,'author':'x'}"));
    cJSON *partial = cJSON_Parse(Q("{'partial':true}"));
    ses_session *session = NULL;
    ses_appended appended;

    assert_ok(ses_create_cjson(fixture->store, &key, tree, NULL, &session, &error));
    assert_string_equal(support_state(session, NULL),
                        Q("{'app:b':[true,null,'x'],'user:c':{'d':1.5},'a':1}"));
    assert_code(SES_EXISTS, ses_create_cjson(fixture->store, &key, tree, NULL, NULL, &error));
    assert_ok(ses_append_cjson(session, event, NULL, &appended, &error));
    assert_int_equal(appended.seq, 1);
    assert_int_equal(appended.time_us, 5000000);
    assert_string_equal(ses_session_event(session, 0)->json,
                        Q("{'id':'e1','timestamp':5,'actions':{'stateDelta':{'a':3}}}"));
    assert_string_equal(support_state(session, NULL),
                        Q("{'app:b':[true,null,'x'],'user:c':{'d':1.5},'a':3,'temp:t':4}"));
    assert_code(SES_DUPLICATE, ses_append_cjson(session, event, NULL, &appended, &error));
    assert_code(SES_PARTIAL, ses_append_cjson(session, partial, NULL, &appended, &error));
    assert_ok(ses_append_by_key_cjson(fixture->store, &key, later, NULL, &appended, &error));
    assert_int_equal(appended.version, 2);
    assert_code(SES_STALE, append_value(session, cJSON_CreateNull(), &error));
    must_refresh(session);
    assert_string_equal(ses_session_event(session, 1)->json, Q("{'id':'e2','timestamp':6,'author':'x'}"));
    ses_session_close(session);
    assert_ok(
        ses_create_cjson(fixture->store, &(ses_key){"app", "user", "empty"}, NULL, NULL, &session, &error));
    assert_string_equal(support_state(session, NULL), Q("{'app:b':[true,null,'x'],'user:c':{'d':1.5}}"));
    ses_session_close(session);
    cJSON_Delete(tree);
    cJSON_Delete(event);
    cJSON_Delete(later);
    cJSON_Delete(partial);
}

TEST(trees_obey_the_rules_of_text)
{
    static const char *const states[] = {"[]", "1", "null", "true", "\"x\""};
    cJSON *wrong_id = cJSON_Parse(Q("{'author':'a', 'id': 5}"));
    cJSON *array = cJSON_CreateArray();
    ses_session *session = (ses_session *)(void *)&fixture;

    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        cJSON *tree = cJSON_Parse(states[i]);
        assert_non_null(tree);
        assert_code(SES_INVALID, ses_create_cjson(fixture->store, &key, tree, NULL, &session, &error));
        assert_null(session);
        cJSON_Delete(tree);
    }
    session = create(fixture->store);
    assert_code(SES_INVALID, ses_append_cjson(session, array, NULL, NULL, &error));
    assert_code(SES_INVALID, ses_append_by_key_cjson(fixture->store, &key, wrong_id, NULL, NULL, &error));
    assert_int_equal(error.offset, strlen("{\"author\":\"a\",\"id\":")); /* in the text without spaces */
    assert_message("id");
    cJSON *good = event_with(array);
    assert_code(SES_NOTFOUND, ses_append_by_key_cjson(fixture->store, &(ses_key){"app", "user", "none"}, good,
                                                      NULL, NULL, &error));
    assert_int_equal(ses_session_stored(session), 0);
    ses_session_close(session);
    cJSON_Delete(wrong_id);
    cJSON_Delete(good);
}

TEST(too_large_trees_are_a_limit)
{
    fixture->options.max_event_bytes = strlen("{\"actions\":{\"stateDelta\":{\"v\":\"12345\"}}}");
    fixture_reopen(fixture);
    ses_session *session = create(fixture->store);
    assert_ok(append_value(session, cJSON_CreateString("12345"), &error));
    assert_code(SES_LIMIT, append_value(session, cJSON_CreateString("123456"), &error));
    ses_session_close(session);
}

TEST(null_arguments_are_misuse)
{
    ses_session *session = create(fixture->store);
    cJSON *event = cJSON_CreateObject();
    ses_session *none = session;

    assert_code(SES_MISUSE, ses_create_cjson(NULL, &key, event, NULL, &none, &error));
    assert_null(none);
    assert_code(SES_MISUSE, ses_create_cjson(fixture->store, NULL, event, NULL, &none, &error));
    assert_code(SES_MISUSE, ses_append_cjson(NULL, event, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_append_cjson(session, NULL, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_append_by_key_cjson(NULL, &key, event, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_append_by_key_cjson(fixture->store, NULL, event, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_append_by_key_cjson(fixture->store, &key, NULL, NULL, NULL, &error));
    assert_int_equal(ses_append_cjson(session, NULL, NULL, NULL, NULL), SES_MISUSE);
    assert_int_equal(ses_append_cjson(session, event, NULL, NULL, NULL), SES_OK);
    ses_session_close(session);
    cJSON_Delete(event);
}

/* ------------------------------------------------------------------------------------------- numbers */

static const double doubles[] = {
    0.0,
    -0.0,
    1.0,
    -1.0,
    42.0,
    0.1,
    1.5,
    -1e-7,
    1.0 / 3.0,
    2.0 / 3.0,
    1e21,
    1e22,
    1e23,
    123456789012345680.0,
    9007199254740991.0,
    9007199254740992.0,
    9007199254740994.0,
    -9007199254740992.0,
    DBL_MIN,
    DBL_MAX,
    -DBL_MAX,
    DBL_EPSILON,
    1.0 + DBL_EPSILON,
    4.9406564584124654e-324,
    2.2250738585072009e-308,
    1e300,
    1e-300,
    5e-324,
    0.30000000000000004,
    100.0,
    1e15,
    123456.789,
    2147483648.0,
};
enum { DOUBLES = sizeof doubles / sizeof doubles[0] };

static void check_doubles(ses_store *store)
{
    ses_session *session = must_open_new(store, &(ses_key){"app", "user", NULL}, NULL);
    ses_error error;

    for (size_t i = 0; i < DOUBLES; i++) {
        double value = -7.7;
        assert_ok(append_value(session, cJSON_CreateNumber(doubles[i]), &error));
        assert_ok(ses_state_get_double(session, "v", &value, &error));
        if (value != doubles[i] || signbit(value) != signbit(doubles[i]))
            fail_msg("%.17g came out as %.17g", doubles[i], value);
    }
    ses_session_close(session);
}

TEST(numbers_are_exact_to_the_double)
{
    int64_t integer = 0;

    check_doubles(fixture->store);
    ses_session *session = create(fixture->store);
    assert_ok(append_value(session, cJSON_CreateNumber(0.1), &error));
    check_value(session, "0.1"); /* no more digits than it takes */
    assert_ok(append_value(session, cJSON_CreateNumber(-42), &error));
    check_value(session, "-42");
    assert_ok(append_value(session, cJSON_CreateNumber(9007199254740992.0), &error));
    assert_ok(ses_state_get_int64(session, "v", &integer, &error));
    assert_int_equal(integer, INT64_C(9007199254740992));
    ses_session_close(session);
}

TEST(many_numbers_are_exact_to_the_double)
{
    ses_session *session = create(fixture->store);
    uint64_t bits = UINT64_C(0x9E3779B97F4A7C15);

    for (int round = 0; round < 20; round++) {
        double values[500];
        cJSON *array = cJSON_CreateArray();
        for (int i = 0; i < 500; i++) {
            do {
                bits ^= bits << 13; /* xorshift64: any bits, of any size of number */
                bits ^= bits >> 7;
                bits ^= bits << 17;
                memcpy(&values[i], &bits, sizeof bits);
            } while (!isfinite(values[i]));
            cJSON_AddItemToArray(array, cJSON_CreateNumber(values[i]));
        }
        assert_ok(append_value(session, array, &error));
        const char *at = NULL;
        assert_ok(ses_state_get(session, "v", &at, NULL, &error));
        for (int i = 0; i < 500; i++) {
            double value = strtod(at + 1, (char **)(uintptr_t)&at);
            if (value != values[i])
                fail_msg("%.17g came out as %.17g", values[i], value);
        }
    }
    ses_session_close(session);
}

TEST(numbers_do_not_depend_on_the_locale)
{
    if (!support_comma_locale())
        return;
    check_doubles(fixture->store);
    assert_string_equal(localeconv()->decimal_point, ",");
    setlocale(LC_ALL, "C");
}

TEST(infinite_numbers_are_invalid)
{
    ses_session *session = create(fixture->store);
    cJSON *tree = cJSON_CreateObject();

    assert_code(SES_INVALID, append_value(session, cJSON_CreateNumber(INFINITY), &error));
    assert_message("infinite or NaN");
    assert_code(SES_INVALID, append_value(session, cJSON_CreateNumber(-INFINITY), &error));
    assert_code(SES_INVALID, append_value(session, cJSON_CreateNumber(NAN), &error));
    cJSON_AddNumberToObject(tree, "ok", 1);
    cJSON_AddNumberToObject(cJSON_AddObjectToObject(tree, "deep"), "bad", INFINITY);
    assert_code(SES_INVALID,
                ses_create_cjson(fixture->store, &(ses_key){"app", "user", "new"}, tree, NULL, NULL, &error));
    assert_int_equal(ses_session_stored(session), 0);
    ses_session_close(session);
    cJSON_Delete(tree);
}

/* ------------------------------------------------------------------------------------------- strings */

TEST(strings_and_names_are_escaped)
{
    static const char *const texts[] = {
        "",
        "plain",
        "\"quotes\"",
        "back\\slash",
        "\b\f\n\r\t",
        "\x01\x02\x1e\x1f\x7f",
        "a/b",
        "\\u0041",
        "\xC3\xA9\xE2\x82\xAC",
        "\xF0\x9F\x98\x80",
        "</script>",
        "__ADK_SENTINEL_REMOVED__x",
        "{}",
        "'",
        "\xEF\xBB\xBF",
    };
    ses_session *session = create(fixture->store);

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        cJSON *event = event_with(cJSON_CreateString(texts[i]));
        cJSON *delta = cJSON_GetObjectItem(cJSON_GetObjectItem(event, "actions"), "stateDelta");
        char name[64];
        const char *text = NULL;
        size_t len = 0;
        double number = 0;
        snprintf(name, sizeof name, "name of %s", texts[i]);
        cJSON_AddNumberToObject(delta, name, (double)i);
        assert_ok(ses_append_cjson(session, event, NULL, NULL, &error));
        assert_ok(ses_state_get_string(session, "v", &text, &len, &error));
        assert_string_equal(text, texts[i]);
        assert_int_equal(len, strlen(texts[i]));
        assert_ok(ses_state_get_double(session, name, &number, &error));
        assert_true(number == (double)i);
        cJSON_Delete(event);
    }
    assert_code(SES_JSON, append_value(session, cJSON_CreateString("\xFF"), &error));
    assert_code(SES_JSON, append_value(session, cJSON_CreateString("\xED\xA0\x80"), &error));
    assert_ok(append_value(session, cJSON_CreateString("__ADK_SENTINEL_REMOVED__"), &error));
    assert_code(SES_ABSENT, ses_state_get(session, "v", &(const char *){NULL}, NULL, &error));
    ses_session_close(session);
}

/* ------------------------------------------------------------------------------- one spelling for all */

/* Every character that has an escape, and some that have none. */
static const char escaped[] = "\b\t\n\v\f\r\x01\x1f\"\\/'\x7f\xC3\xA9\xF0\x9F\x98\x80";

TEST(an_event_as_text_and_as_a_tree_is_one)
{
    ses_session *session = create(fixture->store);
    ses_builder *builder = NULL;

    assert_ok(ses_builder_open(fixture->store, "a\n\"b\"", "inv\t1", &builder, &error));
    assert_ok(ses_builder_text(builder, escaped, SES_NUL, &error));
    assert_ok(ses_builder_call(builder, "call", "tool", "{\"n\":3,\"x\":0.1}", SES_NUL, &error));
    assert_ok(ses_builder_field_string(builder, "id", "e1", SES_NUL, &error));
    assert_ok(ses_builder_field_string(builder, "errorMessage", escaped, SES_NUL, &error));
    const char *text = ses_builder_json(builder, NULL);
    cJSON *tree = cJSON_Parse(text);
    assert_non_null(tree);
    must_append(session, text);
    assert_code(SES_DUPLICATE, ses_append_cjson(session, tree, NULL, NULL, &error));
    cJSON_ReplaceItemInObject(tree, "id", cJSON_CreateString("e2"));
    assert_ok(ses_append_cjson(session, tree, NULL, NULL, &error));
    assert_ok(ses_builder_field_string(builder, "id", "e2", SES_NUL, &error));
    assert_code(SES_DUPLICATE,
                ses_append(session, ses_builder_json(builder, NULL), SES_NUL, NULL, NULL, &error));
    ses_builder_close(builder);
    cJSON_Delete(tree);
    ses_session_close(session);
}

static void check_same(const ses_tracked *tracked)
{
    const char *json = NULL;
    const char *tree = NULL;
    ses_error error;

    assert_ok(ses_tracked_get(tracked, "json", &json, NULL, &error));
    assert_ok(ses_tracked_get(tracked, "tree", &tree, NULL, &error));
    assert_string_equal(json, tree);
}

TEST(values_have_one_spelling)
{
    ses_session *session = create(fixture->store);
    ses_tracked *tracked = NULL;

    assert_ok(ses_tracked_open(session, NULL, &tracked, &error));
    for (size_t i = 0; i < DOUBLES; i++) {
        cJSON *number = cJSON_CreateNumber(doubles[i]);
        assert_ok(ses_tracked_set_cjson(tracked, "tree", number, &error));
        assert_ok(ses_tracked_set_double(tracked, "json", doubles[i], &error));
        check_same(tracked);
        cJSON_Delete(number);
    }
    for (size_t len = 0; len < sizeof escaped; len++) {
        char text[sizeof escaped] = "";
        memcpy(text, escaped, len);
        if (len > 0 && (escaped[len] & 0xC0) == 0x80)
            continue; /* in the middle of a character */
        cJSON *string = cJSON_CreateString(text);
        assert_ok(ses_tracked_set_cjson(tracked, "tree", string, &error));
        assert_ok(ses_tracked_set_string(tracked, "json", text, SES_NUL, &error));
        check_same(tracked);
        cJSON_Delete(string);
    }
    ses_tracked_close(tracked);
    ses_session_close(session);
}
