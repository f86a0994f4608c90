/* State keys: their scopes, what may stand in them, how long they may be. */
#include "support.h"

static const ses_key first = {"app", "user", "first"};

/* `{"PREFIX` + len times `byte` + `":1}`; free it. */
static char *object_with_key(const char *prefix, char byte, size_t len)
{
    size_t room = strlen(prefix) + len + 8;
    char *json = malloc(room);
    assert_non_null(json);
    int start = snprintf(json, room, "{\"%s", prefix);
    memset(json + start, byte, len);
    strcpy(json + (size_t)start + len, "\":1}");
    return json;
}

static char *event_with_delta(const char *delta)
{
    size_t room = strlen(delta) + 40;
    char *json = malloc(room);
    assert_non_null(json);
    snprintf(json, room, "{\"actions\":{\"stateDelta\":%s}}", delta);
    return json;
}

/* The code of creating with the object, and of appending it as a delta; the same for both. */
static void check_object(ses_store *store, const char *object, int expected)
{
    static int number = 0;
    char name[32];
    char *event = event_with_delta(object);
    const ses_key key = {"app", "user", name};
    ses_error error;

    snprintf(name, sizeof name, "check-%d", number++);
    assert_code(expected, ses_create(store, &key, object, SES_NUL, NULL, NULL, &error));
    snprintf(name, sizeof name, "check-%d", number++);
    ses_session *session = must_open_new(store, &key, NULL);
    assert_code(expected, ses_append(session, event, SES_NUL, NULL, NULL, &error));
    assert_code(expected, ses_append_by_key(store, &key, event, SES_NUL, NULL, NULL, &error));
    assert_int_equal(ses_session_stored(session), expected == SES_OK ? 1 : 0);
    ses_session_close(session);
    free(event);
}

TEST(keys_have_at_most_512_bytes_behind_their_prefix)
{
    const char *const prefixes[] = {"", "app:", "user:", "temp:"};

    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        char *longest = object_with_key(prefixes[i], 'k', SES_ID_MAX);
        char *too_long = object_with_key(prefixes[i], 'k', SES_ID_MAX + 1);
        check_object(fixture->store, longest, SES_OK);
        check_object(fixture->store, too_long, SES_INVALID);
        free(longest);
        free(too_long);
    }
    /* Not a prefix: it counts. */
    char *plain = object_with_key("App:", 'k', SES_ID_MAX - 3);
    check_object(fixture->store, plain, SES_INVALID);
    free(plain);
}

TEST(length_counts_bytes_of_the_unescaped_key)
{
    const size_t counts[] = {256, 257};

    for (size_t i = 0; i < 2; i++) {
        char json[8 * 257 + 16] = "{\"";
        for (size_t j = 0; j < counts[i]; j++)
            strcat(json, "\\u00e9");
        strcat(json, "\":1}");
        check_object(fixture->store, json, i == 0 ? SES_OK : SES_INVALID);
    }
}

TEST(longest_keys_come_back)
{
    const char *const prefixes[] = {"", "app:", "user:"};

    must_create(fixture->store, &first, NULL);
    for (size_t i = 0; i < 3; i++) {
        char *object = object_with_key(prefixes[i], 'k', SES_ID_MAX);
        char *event = event_with_delta(object);
        char name[600];
        char *json = NULL;
        snprintf(name, sizeof name, "%.*s", (int)(strlen(object) - 6), object + 2);
        assert_int_equal(strlen(name), strlen(prefixes[i]) + SES_ID_MAX);
        must_append_by_key(fixture->store, &first, event);
        assert_ok(ses_state_get_by_key(fixture->store, &first, name, NULL, &json, NULL, &error));
        assert_string_equal(json, "1");
        ses_free(json);
        strcat(name, "k");
        assert_code(SES_INVALID,
                    ses_state_get_by_key(fixture->store, &first, name, NULL, &json, NULL, &error));
        assert_null(json);
        free(object);
        free(event);
    }
}

TEST(keys_without_a_utf8_text_are_refused)
{
    char *json = NULL;

    check_object(fixture->store, Q("{'a\\u0000b':1}"), SES_INVALID);
    check_object(fixture->store, Q("{'\\u0000':1}"), SES_INVALID);
    check_object(fixture->store, Q("{'app:\\u0000':1}"), SES_INVALID);
    check_object(fixture->store, Q("{'user:a\\u0000':1}"), SES_INVALID);
    check_object(fixture->store, Q("{'temp:a\\u0000':1}"), SES_INVALID);
    check_object(fixture->store, Q("{'good':1,'bad\\u0000':1}"), SES_INVALID);
    check_object(fixture->store, Q("{'\\ud800':1}"), SES_INVALID);
    check_object(fixture->store, Q("{'a\\udc00b':1}"), SES_INVALID);
    check_object(fixture->store, Q("{'\\udc00\\ud800':1}"), SES_INVALID);
    check_object(fixture->store, Q("{'\xFF':1}"), SES_JSON); /* not even text */
    check_object(fixture->store, Q("{'\xED\xA0\x80':1}"), SES_JSON);
    must_create(fixture->store, &first, NULL);
    assert_code(SES_INVALID, ses_state_get_by_key(fixture->store, &first, "\xFF", NULL, &json, NULL, &error));
    assert_null(json);
}

TEST(refused_key_says_where_it_stands)
{
    assert_code(SES_INVALID,
                ses_create(fixture->store, &first, Q("{'a':1, 'b\\u0000':1}"), SES_NUL, NULL, NULL, &error));
    assert_int_equal(error.offset, 8);
    assert_message("NUL");
}

TEST(any_other_character_is_allowed)
{
    static const struct {
        const char *json; /* as it stands in the delta */
        const char *name; /* what it is called */
    } keys[] = {
        {"", ""},
        {" ", " "},
        {"a b", "a b"},
        {"a ", "a "},
        {" a", " a"},
        {"a", "a"},
        {"A", "A"},
        {"a/b", "a/b"},
        {"a\\/c", "a/c"},
        {"/", "/"},
        {"a.b.c", "a.b.c"},
        {".", "."},
        {"$[0]", "$[0]"},
        {"it's", "it's"},
        {"\\\"quoted\\\"", "\"quoted\""},
        {"back\\\\slash", "back\\slash"},
        {"line\\nend\\t", "line\nend\t"},
        {"\\u0001", "\x01"},
        {"%_*?", "%_*?"},
        {"caf\xC3\xA9", "caf\xC3\xA9"},
        {"cafe\xCC\x81", "cafe\xCC\x81"},
        {"\\ud83d\\ude00", "\xF0\x9F\x98\x80"},
        {"\xEF\xBF\xBF", "\xEF\xBF\xBF"},
        {"__proto__", "__proto__"},
        {":", ":"},
        {":app", ":app"},
    };
    enum { KEYS = sizeof keys / sizeof keys[0] };
    const char *const prefixes[] = {"", "app:", "user:"};

    must_create(fixture->store, &first, NULL);
    for (size_t i = 0; i < KEYS * 3; i++) {
        char delta[100];
        snprintf(delta, sizeof delta, "{\"%s%s\":%zu}", prefixes[i % 3], keys[i / 3].json, i);
        char *event = event_with_delta(delta);
        must_append_by_key(fixture->store, &first, event);
        free(event);
    }
    ses_session *session = must_get(fixture->store, &first);
    assert_int_equal(ses_state_count(session), KEYS * 3);
    for (size_t i = 0; i < KEYS * 3; i++) {
        char name[64];
        char *json = NULL;
        int64_t value = -1;
        snprintf(name, sizeof name, "%s%s", prefixes[i % 3], keys[i / 3].name);
        assert_ok(ses_state_get_int64(session, name, &value, &error));
        assert_int_equal(value, i);
        assert_ok(ses_state_get_by_key(fixture->store, &first, name, NULL, &json, NULL, &error));
        assert_int_equal(strtol(json, NULL, 10), i);
        ses_free(json);
    }
}

TEST(keys_in_json_text_are_escaped_again)
{
    char *json = NULL;

    must_create(fixture->store, &first, Q("{'\\'\\\\\\u0001\\u00e9\\/':1}"));
    assert_ok(ses_state_json_by_key(fixture->store, &first, NULL, &json, NULL, &error));
    must_create(fixture->store, &(ses_key){"app", "user", "copy"}, json);
    ses_free(json);
    assert_ok(ses_state_get_by_key(fixture->store, &(ses_key){"app", "user", "copy"}, "\"\\\x01\xC3\xA9/",
                                   NULL, &json, NULL, &error));
    assert_string_equal(json, "1");
    ses_free(json);
}

/* ------------------------------------------------------------------------------------------- scopes */

TEST(prefix_is_case_sensitive_and_ends_at_the_first_colon)
{
    const ses_key same_user = {"app", "user", "second"};
    const ses_key other_user = {"app", "other", "first"};
    const ses_key other_app = {"elsewhere", "user", "first"};
    char *json = NULL;

    must_create(fixture->store, &first,
                Q("{'App:x':1,'other:x':2,'USER:x':3,'Temp:x':4,' app:x':5,'app':6,'user':7,"
                  "'temp':8,'app:user:x':9,'user:app:x':10,'app:':11,'user:':12,'temp:':13,"
                  "'temp:app:x':14,'app:temp:x':15,'apps:x':16}"));
    assert_ok(ses_state_json_by_key(fixture->store, &first, NULL, &json, NULL, &error));
    assert_string_equal(json, Q("{'app:':11,'app:temp:x':15,'app:user:x':9,'user:':12,'user:app:x':10,"
                                "' app:x':5,'App:x':1,'Temp:x':4,'USER:x':3,'app':6,'apps:x':16,"
                                "'other:x':2,'temp':8,'user':7}"));
    ses_free(json);
    must_create(fixture->store, &same_user, NULL);
    must_create(fixture->store, &other_user, NULL);
    must_create(fixture->store, &other_app, NULL);
    assert_ok(ses_state_json_by_key(fixture->store, &same_user, NULL, &json, NULL, &error));
    assert_string_equal(json, Q("{'app:':11,'app:temp:x':15,'app:user:x':9,'user:':12,'user:app:x':10}"));
    ses_free(json);
    assert_ok(ses_state_json_by_key(fixture->store, &other_user, NULL, &json, NULL, &error));
    assert_string_equal(json, Q("{'app:':11,'app:temp:x':15,'app:user:x':9}"));
    ses_free(json);
    assert_ok(ses_state_json_by_key(fixture->store, &other_app, NULL, &json, NULL, &error));
    assert_string_equal(json, "{}");
    ses_free(json);
}

TEST(escaped_prefix_is_the_prefix)
{
    const ses_key other_user = {"app", "other", "first"};
    char *json = NULL;

    must_create(fixture->store, &first,
                Q("{'\\u0061pp:x':1,'user\\u003ay':2,'temp\\u003Az':3,'\\u0041pp:x':4}"));
    assert_ok(ses_state_json_by_key(fixture->store, &first, NULL, &json, NULL, &error));
    assert_string_equal(json, Q("{'app:x':1,'user:y':2,'App:x':4}"));
    ses_free(json);
    must_create(fixture->store, &other_user, NULL);
    assert_ok(ses_state_json_by_key(fixture->store, &other_user, NULL, &json, NULL, &error));
    assert_string_equal(json, Q("{'app:x':1}"));
    ses_free(json);
}

TEST(escaped_and_plain_spellings_are_one_key)
{
    ses_session *session = must_open_new(fixture->store, &first, Q("{'k':1,'\\u006b':2}"));

    assert_string_equal(support_state(session, NULL), Q("{'k':2}"));
    must_append(session, Q("{'actions':{'stateDelta':{'\\u006B':3}}}"));
    assert_string_equal(support_state(session, NULL), Q("{'k':3}"));
}
