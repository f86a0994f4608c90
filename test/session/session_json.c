/* A session as the JSON that the ADK writes, and texts as JSON strings. */
#include <sqlite3.h>

#include "append.h"
#include "seslite_agent.h"

static char *json_of(const ses_session *session)
{
    char *json = NULL;
    size_t len = 0;
    ses_error error;

    assert_ok(ses_session_json(session, &json, &len, &error));
    assert_int_equal(strlen(json), len);
    return json;
}

static void assert_json(const ses_session *session, const char *expected)
{
    char *json = json_of(session);
    assert_string_equal(json, expected);
    ses_free(json);
}

/* ------------------------------------------------------------------------------------------ sessions */

TEST(a_new_session)
{
    ses_session *session = must_open_new(fixture->store, &key, NULL);

    assert_json(session, Q("{'id':'session','appName':'app','userId':'user','state':{},'events':[],"
                           "'lastUpdateTime':1700000000}"));
}

TEST(state_and_events_keep_their_bytes)
{
    ses_session *session =
        must_open_new(fixture->store, &key,
                      Q("{'app:a': [1.10, 9007199254740993],'user:u':1e400,'n':null,'k\\u0022':'\\u0041'}"));

    must_append(session, Q(" { 'id':'1','timestamp':1700000001.5,'x': -0.0 } "));
    must_append(session, Q("{'id':'2','timestamp':1700000002,'snake_case':'\\ud800'}"));
    assert_json(session,
                Q("{'id':'session','appName':'app','userId':'user','state':{'app:a':[1.10, 9007199254740993],"
                  "'user:u':1e400,'k\\\"':'\\u0041','n':null},'events':["
                  " { 'id':'1','timestamp':1700000001.5,'x': -0.0 } ,"
                  "{'id':'2','timestamp':1700000002,'snake_case':'\\ud800'}],'lastUpdateTime':1700000002}"));
    ses_session_close(session);
}

TEST(temp_keys_are_left_out)
{
    ses_session *session = must_open_new(fixture->store, &key, Q("{'k':1}"));

    must_append(session, Q("{'id':'1','timestamp':1700000003,'invocationId':'i','actions':{'stateDelta':{"
                           "'temp:t':1}}}"));
    assert_state(session, Q("{'k':1,'temp:t':1}"));
    assert_json(session,
                Q("{'id':'session','appName':'app','userId':'user','state':{'k':1},'events':["
                  "{'id':'1','timestamp':1700000003,'invocationId':'i','actions':{'stateDelta':{}}}],"
                  "'lastUpdateTime':1700000003}"));
}

TEST(ids_are_escaped)
{
    const ses_key odd = {"a\"b", "\n\x01", "\xE2\x82\xAC\\"};
    ses_session *session = must_open_new(fixture->store, &odd, NULL);

    assert_json(session, "{\"id\":\"\xE2\x82\xAC\\\\\",\"appName\":\"a\\\"b\",\"userId\":\"\\n\\u0001\","
                         "\"state\":{},\"events\":[],\"lastUpdateTime\":1700000000}");
}

TEST(times_are_exact_and_short)
{
    static const struct {
        int64_t us;
        const char *text;
    } times[] = {
        {INT64_C(1760603698332073), ":1760603698.332073}"},
        {INT64_C(1760603698300000), ":1760603698.3}"},
        {INT64_C(1760603698000001), ":1760603698.000001}"},
        {INT64_C(1760603690000000), ":1760603690}"},
        {0, ":0}"},
        {1, ":0.000001}"},
        {-1, ":-0.000001}"},
        {INT64_C(-62167219200000000), ":-62167219200}"},
        {INT64_C(253402300799999999), ":253402300799999.999}"},
    };

    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        const ses_create_options options = {.size = sizeof options, .created_us = &times[i].us};
        ses_session *session = NULL;
        const ses_key nameless = {"app", "user", NULL};
        assert_ok(ses_create(fixture->store, &nameless, NULL, 0, &options, &session, &error));
        char *json = json_of(session);
        assert_string_equal(strrchr(json, ':'), times[i].text);
        ses_free(json);
        ses_session_close(session);
    }
}

TEST(only_the_events_that_the_handle_holds)
{
    const ses_range newest = {.size = sizeof newest, .which = SES_RANGE_NEWEST, .newest = 1};
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    ses_session *part = NULL;

    must_append(session, Q("{'id':'1','timestamp':1700000001}"));
    must_append(session, Q("{'id':'2','timestamp':1700000002}"));
    assert_ok(ses_get(fixture->store, &key, GET_RANGE(&newest), &part, &error));
    assert_json(part, Q("{'id':'session','appName':'app','userId':'user','state':{},'events':["
                        "{'id':'2','timestamp':1700000002}],'lastUpdateTime':1700000002}"));
    ses_session_close(part);
}

TEST(the_sessions_of_a_list)
{
    ses_page *page = NULL;

    must_create(fixture->store, &key, Q("{'k':1}"));
    must_append_by_key(fixture->store, &key, "{}");
    assert_ok(ses_list(fixture->store, "app", NULL, NULL, &page, &error));
    assert_json(ses_page_session(page, 0),
                Q("{'id':'session','appName':'app','userId':'user','state':{'k':1},"
                  "'events':[],'lastUpdateTime':1700000000}"));
    ses_page_close(page);
}

TEST(a_handle_tells_it_after_the_store_is_closed)
{
    ses_session *session = must_open_new(fixture->store, &key, Q("{'k':1}"));

    ses_close(fixture->store);
    fixture->store = NULL;
    char *json = json_of(session);
    ses_session_close(session);
    assert_string_equal(json, Q("{'id':'session','appName':'app','userId':'user','state':{'k':1},'events':[],"
                                "'lastUpdateTime':1700000000}"));
    ses_free(json);
}

static void change_file(const struct fixture *fixture, const char *sql)
{
    sqlite3 *db = NULL;

    support_need_file();
    assert_int_equal(sqlite3_open(fixture->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

TEST(text_that_is_not_json_is_corrupt)
{
    static const char *const changes[] = {
        "UPDATE session_state SET value = '{' WHERE key = 'k'",
        "UPDATE session_state SET value = '1'; UPDATE events SET id_at = 'x', "
        "invocation_at = '', body = '{\"id\":\"x\",}'"};
    static const char *const words[] = {"\"k\" is not JSON", "the stored event 1 is not JSON"};

    must_create(fixture->store, &key, Q("{'k':1}"));
    must_append_by_key(fixture->store, &key, Q("{'id':'x'}"));
    for (int i = 0; i < 2; i++) {
        char *json = (char *)1;
        change_file(fixture, changes[i]);
        ses_session *session = must_get(fixture->store, &key);
        assert_code(SES_CORRUPT, ses_session_json(session, &json, NULL, &error));
        assert_message(words[i]);
        assert_null(json);
        assert_code(i == 0 ? SES_OK : SES_CORRUPT, ses_session_markdown(session, NULL, &json, NULL, &error));
        ses_free(json);
        ses_session_close(session);
    }
}

TEST(a_session_that_is_wrong)
{
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    char *json = NULL;

    assert_code(SES_MISUSE, ses_session_json(NULL, &json, NULL, &error));
    assert_code(SES_MISUSE, ses_session_json(session, NULL, NULL, &error));
}

/* -------------------------------------------------------------------------------------------- quoting */

static void assert_quoted(ses_store *store, const char *text, size_t len, const char *expected)
{
    char *json = NULL;
    size_t json_len = 0;
    ses_error error;

    assert_ok(ses_text_quote(store, text, len, &json, &json_len, &error));
    assert_string_equal(json, expected);
    assert_int_equal(json_len, strlen(expected));
    ses_free(json);
}

TEST(any_text_is_quoted)
{
    assert_quoted(fixture->store, "", 0, "\"\"");
    assert_quoted(fixture->store, "say \"no\"\\\n\t\x01\x7F/", SES_NUL,
                  "\"say \\\"no\\\"\\\\\\n\\t\\u0001\x7F/\"");
    assert_quoted(fixture->store, "a\0b", 3, "\"a\\u0000b\"");
    assert_quoted(fixture->store, "\xF0\x9F\x98\x80 \xE2\x82\xAC", SES_NUL,
                  "\"\xF0\x9F\x98\x80 \xE2\x82\xAC\"");
    assert_quoted(fixture->store, "cut here", 3, "\"cut\"");
}

TEST(a_text_that_is_not_utf8_is_invalid)
{
    static const char *const texts[] = {"\xFF", "a\xC3", "\xED\xA0\x80", "\xC0\x80"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char *json = (char *)1;
        assert_code(SES_INVALID, ses_text_quote(fixture->store, texts[i], SES_NUL, &json, NULL, &error));
        assert_null(json);
    }
}

TEST(quoting_without_arguments)
{
    char *json = NULL;

    assert_code(SES_MISUSE, ses_text_quote(NULL, "a", 1, &json, NULL, &error));
    assert_code(SES_MISUSE, ses_text_quote(fixture->store, NULL, 0, &json, NULL, &error));
    assert_code(SES_MISUSE, ses_text_quote(fixture->store, "a", 1, NULL, NULL, &error));
    assert_int_equal(ses_text_quote(fixture->store, "a", 1, &json, NULL, NULL), SES_OK);
    ses_free(json);
}

/* ------------------------------------------------------------------------------------- out of memory */

struct scarce {
    int left; /* allocations that succeed; negative: all */
};

static void *scarce_allocate(void *context, size_t bytes)
{
    struct scarce *scarce = context;
    return scarce->left == 0 ? NULL : (scarce->left--, malloc(bytes));
}

static void *scarce_resize(void *context, void *memory, size_t bytes)
{
    struct scarce *scarce = context;
    return scarce->left == 0 ? NULL : (scarce->left--, realloc(memory, bytes));
}

static void scarce_release(void *context, void *memory)
{
    (void)context;
    free(memory);
}

PLAIN_TEST(memory_that_runs_out_is_told)
{
    struct scarce scarce = {-1};
    const ses_allocator allocator = {sizeof allocator, &scarce, scarce_allocate, scarce_resize,
                                     scarce_release};
    const ses_open_options options = {.size = sizeof options, .allocator = &allocator};

    ses_store *store = must_open(":memory:", &options);
    ses_session *session = must_open_new(store, &key, Q("{'k':1}"));
    must_append(session, Q("{'text':'so long that the buffer grows once more: ......................'}"));
    for (int quotes = 0; quotes < 2; quotes++) {
        int code = SES_NOMEM;
        for (int i = 0; code == SES_NOMEM; i++) {
            char *json = (char *)1;
            assert_in_range(i, 0, 50);
            scarce.left = i;
            code = quotes ? ses_text_quote(store, "a", 1, &json, NULL, &error)
                          : ses_session_json(session, &json, NULL, &error);
            scarce.left = -1;
            assert_true(code == SES_OK ? i > 0 && json : !json);
            ses_free(json);
        }
        assert_int_equal(code, SES_OK);
    }
    ses_session_close(session);
    ses_close(store);
}
