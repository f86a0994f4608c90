/* Trees of cJSON out, and trees of unusual kinds in: raw items, references, broken and deep ones. */
#include "support.h"

#include <math.h>
#include <stdbool.h>

#include "seslite_cjson.h"

static const ses_key key = {"app", "user", "session"};

static ses_session *create(ses_store *store, const char *state)
{
    ses_session *session = must_open_new(store, &key, state);

    return session;
}

static void check_tree(const cJSON *tree, const char *expected)
{
    char *text = cJSON_PrintUnformatted(tree);
    assert_non_null(text);
    assert_string_equal(text, expected);
    cJSON_free(text);
}

/* ----------------------------------------------------------------------------------------------- out */

TEST(state_values_and_events_come_out_as_trees)
{
    ses_session *session = create(fixture->store, Q("{'b':[1, {'c':null}],'app:a':'x','user:u':true}"));
    cJSON *tree = NULL;

    must_append(session, Q("{'id':'e','timestamp':5,'actions':{'stateDelta':{'temp:t':7}}}"));
    memset(&error, 1, sizeof error);
    assert_ok(ses_state_cjson(session, &tree, &error));
    assert_int_equal(error.code, SES_OK);
    assert_string_equal(error.message, "");
    check_tree(tree, Q("{'app:a':'x','user:u':true,'b':[1,{'c':null}],'temp:t':7}"));
    cJSON_Delete(tree);
    assert_ok(ses_state_get_cjson(session, "b", &tree, &error));
    check_tree(tree, Q("[1,{'c':null}]"));
    cJSON_Delete(tree);
    assert_ok(ses_state_get_cjson(session, "temp:t", &tree, &error));
    assert_true(cJSON_IsNumber(tree) && tree->valuedouble == 7);
    cJSON_Delete(tree);
    assert_ok(ses_event_cjson(ses_session_event(session, 0), &tree, &error));
    check_tree(tree, Q("{'id':'e','timestamp':5,'actions':{'stateDelta':{}}}"));
    cJSON_Delete(tree);
    assert_code(SES_ABSENT, ses_state_get_cjson(session, "none", &tree, &error));
    assert_null(tree);
    ses_session_close(session);
}

TEST(events_of_a_cursor_come_out_as_trees)
{
    const ses_event *event = NULL;
    ses_cursor *cursor = NULL;
    cJSON *tree = NULL;

    ses_session_close(create(fixture->store, NULL));
    must_append_by_key(fixture->store, &key, Q("{'id':'e','timestamp':5}"));
    assert_ok(ses_cursor_open(fixture->store, &key, NULL, &cursor, &error));
    assert_code(SES_ROW, ses_cursor_next(cursor, &event, &error));
    assert_ok(ses_event_cjson(event, &tree, &error));
    check_tree(tree, Q("{'id':'e','timestamp':5}"));
    assert_ok(ses_cursor_close(cursor, &error));
    check_tree(tree, Q("{'id':'e','timestamp':5}")); /* it is the caller's */
    cJSON_Delete(tree);
}

TEST(every_scalar_comes_out)
{
    static const char *const scalars[] = {"0",    "42",    "-1.5", "true", "false", "null",
                                          "\"\"", "\"x\"", "[]",   "{}",   "1e5"};
    ses_session *session = create(fixture->store, NULL);

    for (size_t i = 0; i < sizeof scalars / sizeof scalars[0]; i++) {
        cJSON *due = cJSON_Parse(scalars[i]);
        cJSON *tree = NULL;
        char event[80];
        snprintf(event, sizeof event, "{\"actions\":{\"stateDelta\":{\"v\":%s}}}", scalars[i]);
        must_append(session, event);
        assert_ok(ses_state_get_cjson(session, "v", &tree, &error));
        if (!cJSON_Compare(tree, due, true))
            fail_msg("%s came out as something else", scalars[i]);
        cJSON_Delete(tree);
        cJSON_Delete(due);
    }
    ses_session_close(session);
}

TEST(looking_rounds_and_cuts_but_what_is_stored_stays)
{
    static const char json[] = "{\"big\":9007199254740993,\"huge\":1e400,\"nul\":\"a\\u0000b\",\"z\":1.10}";
    ses_session *session = create(fixture->store, json);
    cJSON *tree = NULL;

    assert_ok(ses_state_cjson(session, &tree, &error));
    assert_true(cJSON_GetObjectItem(tree, "big")->valuedouble == 9007199254740992.0);
    assert_true(isinf(cJSON_GetObjectItem(tree, "huge")->valuedouble));
    assert_string_equal(cJSON_GetObjectItem(tree, "nul")->valuestring, "a");
    /* Written back as it was read, it is no JSON any more. */
    assert_code(SES_INVALID, ses_create_cjson(fixture->store, &(ses_key){"app", "user", "copy"}, tree, NULL,
                                              NULL, &error));
    cJSON_Delete(tree);
    assert_string_equal(support_state(session, NULL), json);
    ses_session_close(session);
}

/* Newer versions of cJSON take numbers of any length; older ones take 63 characters. Either way, a number
 * that comes out is the number that went in. */
TEST(long_numbers_come_out_right_or_not_at_all)
{
    char digits[71];
    char json[100];
    cJSON *tree = (cJSON *)(void *)&fixture;

    memset(digits, '7', 70);
    digits[70] = '\0';
    snprintf(json, sizeof json, "{\"long\":%s,\"b\":1}", digits);
    ses_session *session = create(fixture->store, json);
    for (int whole = 0; whole <= 1; whole++) {
        tree = (cJSON *)(void *)&fixture;
        int code = whole ? ses_state_cjson(session, &tree, &error)
                         : ses_state_get_cjson(session, "long", &tree, &error);
        if (code == SES_OK) {
            double value = (whole ? cJSON_GetObjectItem(tree, "long") : tree)->valuedouble;
            if (value != strtod(digits, NULL))
                fail_msg("%s came out as %.17g", digits, value);
            cJSON_Delete(tree);
        } else {
            assert_code(SES_LIMIT, code);
            assert_null(tree);
            assert_message("cJSON");
        }
    }
    assert_ok(ses_state_get_cjson(session, "b", &tree, &error));
    cJSON_Delete(tree);
    ses_session_close(session);
}

TEST(lone_surrogates_do_not_come_out)
{
    ses_session *session = create(fixture->store, Q("{'v':'\\ud800'}"));
    cJSON *tree = (cJSON *)(void *)&fixture;

    assert_code(SES_LIMIT, ses_state_get_cjson(session, "v", &tree, &error));
    assert_null(tree);
    ses_session_close(session);
}

TEST(null_arguments_are_misuse)
{
    ses_session *session = create(fixture->store, Q("{'v':1}"));
    cJSON *tree = (cJSON *)(void *)&fixture;

    assert_code(SES_MISUSE, ses_state_cjson(NULL, &tree, &error));
    assert_null(tree);
    assert_code(SES_MISUSE, ses_state_cjson(session, NULL, &error));
    assert_code(SES_MISUSE, ses_state_get_cjson(NULL, "v", &tree, &error));
    assert_code(SES_MISUSE, ses_state_get_cjson(session, NULL, &tree, &error));
    assert_code(SES_MISUSE, ses_state_get_cjson(session, "v", NULL, &error));
    assert_code(SES_MISUSE, ses_event_cjson(NULL, &tree, &error));
    assert_null(tree);
    must_append(session, "{}");
    assert_code(SES_MISUSE, ses_event_cjson(ses_session_event(session, 0), NULL, &error));
    assert_int_equal(ses_state_cjson(NULL, &tree, NULL), SES_MISUSE);
    ses_session_close(session);
}

/* ------------------------------------------------------------------------------------- unusual trees */

/* Creates a session with {"v":VALUE} and compares "v" in it, or the code; takes the value. */
static int create_with(ses_store *store, cJSON *value, const char *expected, ses_error *error)
{
    cJSON *tree = cJSON_CreateObject();
    ses_session *session = NULL;
    ses_error read;

    assert_non_null(value);
    cJSON_AddItemToObject(tree, "v", value);
    int code = ses_create_cjson(store, &(ses_key){"app", "user", NULL}, tree, NULL, &session, error);
    cJSON_Delete(tree);
    if (code == SES_OK) {
        const char *json = NULL;
        assert_int_equal(ses_state_get(session, "v", &json, NULL, &read), SES_OK);
        assert_string_equal(json, expected);
    }
    ses_session_close(session);
    return code;
}

TEST(raw_items_are_stored_as_they_stand)
{
    static const char *const raw[] = {
        "9007199254740993",    "1e400", "-0.0", "1.10", "\"a\\u0000b\"", "\"\\ud800\"",
        "[1, 2 ,{'a' :null}]", "true"};
    static const char *const bad[] = {"", "1,", "[1", "1 2", "'x'", "NaN", "\"\x01\"", "{\"a\":1}}"};

    for (size_t i = 0; i < sizeof raw / sizeof raw[0]; i++)
        assert_ok(create_with(fixture->store, cJSON_CreateRaw(Q(raw[i])), Q(raw[i]), &error));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_code(SES_JSON, create_with(fixture->store, cJSON_CreateRaw(bad[i]), "", &error));
    assert_int_equal(error.offset, strlen("{\"v\":{\"a\":1}}"));

    cJSON *event = cJSON_CreateRaw("{\"id\" : \"e\", \"timestamp\":1.50}");
    ses_session *session = create(fixture->store, NULL);
    assert_ok(ses_append_cjson(session, event, NULL, NULL, &error));
    assert_string_equal(ses_session_event(session, 0)->json, Q("{'id' : 'e', 'timestamp':1.50}"));
    ses_session_close(session);
    cJSON_Delete(event);
}

TEST(references_are_what_they_refer_to)
{
    cJSON *array = cJSON_Parse(Q("[1,[2,3],{'k':'v'}]"));
    cJSON *object = cJSON_Parse(Q("{'k':'v','l':[]}"));
    cJSON *value = cJSON_CreateObject();

    assert_ok(create_with(fixture->store, cJSON_CreateStringReference("text"), Q("'text'"), &error));
    assert_ok(create_with(fixture->store, cJSON_CreateArrayReference(array->child), Q("[1,[2,3],{'k':'v'}]"),
                          &error));
    assert_ok(create_with(fixture->store, cJSON_CreateObjectReference(object->child), Q("{'k':'v','l':[]}"),
                          &error));
    cJSON_AddItemReferenceToObject(value, "a", array);
    cJSON_AddItemReferenceToObject(value, "again", array);
    cJSON_AddItemToObjectCS(value, "constant", cJSON_CreateTrue());
    assert_ok(create_with(fixture->store, value,
                          Q("{'a':[1,[2,3],{'k':'v'}],'again':[1,[2,3],{'k':'v'}],'constant':true}"),
                          &error));
    cJSON_Delete(array);
    cJSON_Delete(object);
}

TEST(items_that_are_no_json_are_invalid)
{
    static const int types[] = {cJSON_Invalid, cJSON_String, cJSON_Raw, cJSON_False | cJSON_True,
                                0x100,         0xFF};

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        cJSON *item = cJSON_CreateNull();
        item->type = types[i]; /* a string or raw item without its text */
        assert_code(SES_INVALID, create_with(fixture->store, item, "", &error));
        item = cJSON_CreateNull();
        item->type = types[i];
        cJSON *array = cJSON_CreateArray();
        cJSON_AddItemToArray(array, cJSON_CreateNumber(1));
        cJSON_AddItemToArray(array, item);
        assert_code(SES_INVALID, create_with(fixture->store, array, "", &error));
    }
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToArray(object, cJSON_CreateNumber(1)); /* a member without a name */
    assert_code(SES_INVALID, create_with(fixture->store, object, "", &error));
}

/* `levels` arrays in one another, around `innermost` where it is given. */
static cJSON *nested(int levels, cJSON *innermost)
{
    cJSON *tree = cJSON_CreateArray();
    if (innermost)
        cJSON_AddItemToArray(tree, innermost);
    for (int i = 1; i < levels; i++) {
        cJSON *outer = cJSON_CreateArray();
        cJSON_AddItemToArray(outer, tree);
        tree = outer;
    }
    return tree;
}

static char *nested_text(int levels, const char *innermost)
{
    size_t len = (size_t)levels;
    char *text = malloc(2 * len + strlen(innermost) + 1);
    assert_non_null(text);
    memset(text, '[', len);
    strcpy(text + len, innermost);
    memset(text + len + strlen(innermost), ']', len);
    text[2 * len + strlen(innermost)] = '\0';
    return text;
}

TEST(trees_deeper_than_1000_levels_are_a_limit)
{
    char *text = nested_text(999, ""); /* and the object around it */

    assert_ok(create_with(fixture->store, nested(999, NULL), text, &error));
    free(text);
    assert_code(SES_LIMIT, create_with(fixture->store, nested(1000, NULL), "", &error));
    assert_message("1000");
    assert_code(SES_LIMIT, create_with(fixture->store, nested(20000, NULL), "", &error));
}

/* Only containers are levels, in a tree as in a text: a value inside the innermost one adds none. */
TEST(a_value_in_the_thousandth_level_is_no_level_more)
{
    char *text = nested_text(999, "1");
    size_t room = strlen(text) + 16;
    char *json = malloc(room);

    assert_non_null(json);
    snprintf(json, room, "{\"v\":%s}", text);
    ses_session_close(create(fixture->store, json)); /* as text it is good */
    free(json);
    int code = create_with(fixture->store, nested(999, cJSON_CreateNumber(1)), text, &error);
    free(text);
    assert_ok(code);
}

TEST(trees_that_hold_themselves_are_a_limit)
{
    cJSON *array = cJSON_CreateArray();
    cJSON *tree = cJSON_CreateObject();

    cJSON_AddItemToObject(tree, "v", array);
    array->child = array;
    assert_code(SES_LIMIT, ses_create_cjson(fixture->store, &key, tree, NULL, NULL, &error));
    array->child = NULL;
    cJSON_Delete(tree);
}
