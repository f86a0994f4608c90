/* Sessions as JSON, on their way in: what ses_session_json and the ADK write is loaded, and whatever else is
 * refused whole. */
#include <cjson/cJSON.h>

#include "support.h"

static const ses_key key = {"app", "user", "s"};

static int load(ses_store *store, const char *json, unsigned flags, ses_load_result *result, ses_error *error)
{
    const ses_load_options options = {.size = sizeof options, .flags = flags};
    return ses_load_json(store, NULL, Q(json), SES_NUL, &options, result, error);
}

static char *json_of(ses_store *store, const ses_key *of)
{
    ses_session *session = must_get(store, of);
    ses_error error;
    char *json = NULL;

    assert_ok(ses_session_json(session, &json, NULL, &error));
    ses_session_close(session);
    return json;
}

static void assert_session_json(ses_store *store, const ses_key *of, const char *expected)
{
    char *json = json_of(store, of);
    assert_string_equal(json, Q(expected));
    ses_free(json);
}

static void assert_initial(ses_store *store, const char *expected)
{
    const ses_point begin = {.size = sizeof begin, .kind = SES_POINT_SEQ, .seq = 0};
    ses_error error;
    char *json = NULL;

    assert_ok(ses_state_json_as_of_by_key(store, &key, &begin, NULL, &json, NULL, &error));
    assert_string_equal(json, Q(expected));
    ses_free(json);
}

static bool is_there(ses_store *store, const ses_key *of)
{
    ses_session *session = NULL;
    int code = ses_get(store, of, NULL, &session, NULL);

    ses_session_close(session);
    return code == SES_OK;
}

/* ------------------------------------------------------------------------------------------ what comes in */

static const char plain[] = "{'id':'s','appName':'app','userId':'user','state':{'app:a':1,'user:u':2,'given':"
                            "1.10,'k':[2],'temp:t':1},"
                            "'events':[{'id':'e1','timestamp':5,'author':'user','actions':{'stateDelta':{'k':"
                            "1,'gone':1,'temp:t':1}}},"
                            "{'id':'e2','timestamp':4,'actions':{'state_delta':{'k':[2],'gone':'__ADK_"
                            "SENTINEL_REMOVED__','user:u':2}}}],"
                            "'lastUpdateTime':6.5}";

TEST(a_session_is_loaded_with_its_events_and_own_state)
{
    ses_load_result result;

    assert_ok(load(fixture->store, plain, 0, &result, &error));
    assert_int_equal(result.outcome, SES_LOADED_NEW);
    assert_int_equal(result.events, 2);
    assert_string_equal(result.session, "s");
    assert_session_json(
        fixture->store, &key,
        "{'id':'s','appName':'app','userId':'user','state':{'given':1.10,'k':[2]},"
        "'events':[{'id':'e1','timestamp':5,'author':'user','actions':{'stateDelta':{'k':1,'gone':1}}},"
        "{'id':'e2','timestamp':4,'actions':{'state_delta':{'k':[2],'gone':'__ADK_SENTINEL_REMOVED__','user:"
        "u':2}}}],"
        "'lastUpdateTime':6.5}");
    assert_initial(fixture->store, "{'given':1.10}");
    ses_session *session = must_get(fixture->store, &key);
    assert_int_equal(ses_session_created_us(session), 4000000);
}

TEST(both_spellings_and_forms_of_time_are_read)
{
    static const char *const texts[] = {
        "{'id':'s','app_name':'app','user_id':'user','events':[],'last_update_time':1700000000.25}",
        ("{'last_update_time':'2023-11-14T22:13:20.25Z','user_id':'user','appName':'app','state':null,'id':'s'"
         "}"),
        " {\n'id' : 's' , 'appName':'app','userId':'user','state':{},'lastUpdateTime':1700000000250 }\n"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_code(i ? SES_UNCHANGED : SES_OK, load(fixture->store, texts[i], 0, NULL, &error));
        assert_session_json(fixture->store, &key,
                            "{'id':'s','appName':'app','userId':'user','state':{},'events':[],'"
                            "lastUpdateTime':1700000000.25}");
    }
}

TEST(the_key_names_the_session_here)
{
    const ses_key other = {"other", NULL, "t"};
    const ses_key whole = {"other", "user", "t"};

    assert_ok(ses_load_json(fixture->store, &other, Q(plain), SES_NUL, NULL, NULL, &error));
    assert_true(is_there(fixture->store, &whole));
    assert_false(is_there(fixture->store, &key));
    assert_code(SES_INVALID, load(fixture->store, "{'id':'s','appName':'app'}", 0, NULL, &error));
    assert_message("no userId");
    const ses_key user = {NULL, "u", NULL};
    assert_ok(
        ses_load_json(fixture->store, &user, Q("{'id':'s','appName':'app'}"), SES_NUL, NULL, NULL, &error));
    assert_code(SES_INVALID, ses_load_json(fixture->store, &user, "{}", 2, NULL, NULL, &error));
    assert_message("no appName");
}

TEST(a_session_of_ours_comes_back_as_it_was)
{
    const ses_key copy = {"app", "user", "copy"};
    char *before;
    char *after;

    must_create(
        fixture->store, &key,
        Q("{'app:a':1,'user:u':{'x':[1,2]},'own':9007199254740993,'text':'\\u005f_ADK_SENTINEL_REMOVED__',"
          "'ab':'\\ud800\\u0000', 'spaced': { 'b' : 1.0 }}"));
    must_append_by_key(fixture->store, &key,
                       Q("{ 'author':'user', 'id':'1','timestamp':1700000000.5,'x':[1e400,-0.0],"
                         "'actions':{'stateDelta':{'own': {'a' : ' b ' },'app:a':2,'temp:t':3}}}"));
    must_append_by_key(fixture->store, &key,
                       Q("{'timestamp':1800000000123,'id':'2','invocation_id':'i','actions':{'state_delta':"
                         "{'text2':'\\u005f_ADK_SENTINEL_REMOVED__','spaced':'__ADK_SENTINEL_REMOVED__'}}}"));
    before = json_of(fixture->store, &key);
    assert_ok(ses_load_json(fixture->store, &copy, before, SES_NUL, NULL, NULL, &error));
    after = json_of(fixture->store, &copy);
    assert_int_equal(strncmp(after, Q("{'id':'copy',"), 13), 0);
    assert_string_equal(after + 13, before + 10);
    assert_int_equal(ses_load_json(fixture->store, &copy, before, SES_NUL, NULL, NULL, &error),
                     SES_UNCHANGED);
    ses_free(before);
    ses_free(after);
}

TEST(blanks_between_tokens_are_no_difference)
{
    assert_ok(load(
        fixture->store,
        "{'id':'s','appName':'app','userId':'user','state':{'k':{\n  'a': [1,\t2],\n  'b \\\\':'x  \\' y'}},"
        "'events':[{'id':'1','timestamp':1,'actions':{'stateDelta':{'k':{ 'a' :[ 1 , 2 ],"
        "'b \\\\':  'x  \\' y'} } } }]}",
        0, NULL, &error));
    assert_code(SES_INVALID,
                load(fixture->store,
                     "{'id':'t','appName':'app','userId':'user','state':{'k':'a b'},"
                     "'events':[{'id':'1','timestamp':1,'actions':{'stateDelta':{'k':'a  b'}}}]}",
                     0, NULL, &error));
}

TEST(the_text_of_the_tombstone_in_a_state_is_a_value)
{
    assert_ok(load(fixture->store,
                   "{'id':'s','appName':'app','userId':'user','state':{'k':'__ADK_SENTINEL_REMOVED__'}}", 0,
                   NULL, &error));
    assert_initial(fixture->store, "{'k':'\\u005f_ADK_SENTINEL_REMOVED__'}");
}

TEST(the_last_of_keys_that_appear_twice_counts)
{
    assert_ok(load(fixture->store,
                   "{'id':'s','appName':'app','userId':'user','state':{'k':1,'l':1,'k':2,'\\u006c':3},"
                   "'events':[{'id':'1','timestamp':1,'actions':{'stateDelta':{'l':0,'l':3}}}]}",
                   0, NULL, &error));
    assert_initial(fixture->store, "{'k':2}");
}

TEST(members_that_events_lack_are_added)
{
    fixture->now = 77000000;
    assert_ok(
        load(fixture->store,
             "{'id':'s','appName':'app','userId':'user','events':[{},{'timestamp':5}],'lastUpdateTime':6}", 0,
             NULL, &error));
    ses_session *session = must_get(fixture->store, &key);
    assert_int_equal(ses_session_event(session, 0)->time_us, 77000000);
    assert_true(strlen(ses_session_event(session, 1)->id) == 36);
    assert_int_equal(ses_session_updated_us(session), 77000000);
}

/* ------------------------------------------------------------------------------------------- shared state */

TEST(shared_keys_are_written_when_asked_for)
{
    must_create(fixture->store, &(ses_key){"app", "user", "other"}, Q("{'app:b':'here'}"));
    assert_ok(
        load(fixture->store,
             "{'id':'s','appName':'app','userId':'user','state':{'app:a':1,'app:b':2,'user:u':[3],'own':4}}",
             SES_LOAD_SHARED | SES_LOAD_DRY_RUN, NULL, &error));
    assert_false(is_there(fixture->store, &key));
    for (int i = 0; i < 2; i++) {
        assert_code(i ? SES_UNCHANGED : SES_OK,
                    load(fixture->store,
                         "{'id':'s','appName':'app','userId':'user','lastUpdateTime':1,"
                         "'state':{'app:a':1,'app:b':2,'user:u':[3],'own':4}}",
                         SES_LOAD_SHARED, NULL, &error));
        assert_session_json(
            fixture->store, &key,
            "{'id':'s','appName':'app','userId':'user','state':"
            "{'app:a':1,'app:b':'here','user:u':[3],'own':4},'events':[],'lastUpdateTime':1}");
    }
    assert_initial(fixture->store, "{'own':4}");
}

/* ------------------------------------------------------------------------------------ sessions that exist */

TEST(a_session_that_exists_is_treated_as_by_ses_load)
{
    static const char more[] =
        "{'id':'s','appName':'app','userId':'user','state':{'given':1.10,'k':3},"
        "'events':[{'id':'e1','timestamp':5,'author':'user','actions':{'stateDelta':{'k':1,'gone':1}}},"
        "{'id':'e2','timestamp':4,'actions':{'state_delta':{'k':[2],'gone':'__ADK_SENTINEL_REMOVED__','user:"
        "u':2}}},"
        "{'id':'e3','timestamp':7,'actions':{'stateDelta':{'k':3}}}],'lastUpdateTime':7}";
    ses_load_result result;

    assert_ok(load(fixture->store, plain, 0, NULL, &error));
    assert_code(SES_UNCHANGED, load(fixture->store, plain, 0, &result, &error));
    assert_int_equal(result.outcome, SES_LOADED_EQUAL);
    assert_code(SES_EXISTS, load(fixture->store, more, 0, NULL, &error));
    assert_ok(load(fixture->store, more, SES_LOAD_UPDATE | SES_LOAD_DRY_RUN, &result, &error));
    assert_ok(load(fixture->store, more, SES_LOAD_UPDATE, &result, &error));
    assert_int_equal(result.outcome, SES_LOADED_UPDATED);
    assert_int_equal(result.events, 1);
    assert_ok(load(fixture->store, plain, SES_LOAD_RENAME, &result, &error));
    assert_string_equal(result.session, "s~2");
    assert_ok(load(fixture->store, plain, SES_LOAD_REPLACE, &result, &error));
    assert_int_equal(result.outcome, SES_LOADED_REPLACED);
}

/* ----------------------------------------------------------------------------------------------- refusals */

#define NAMES "'id':'s','appName':'app','userId':'user'"

TEST(text_that_is_not_a_session_is_refused)
{
    static const struct {
        const char *json;
        int code;
        const char *words;
    } cases[] = {
        {"", SES_JSON, "expected"},
        {"[]", SES_INVALID, "the session must be a JSON object"},
        {"{" NAMES ",'state':{}", SES_JSON, ""},
        {"{" NAMES "} x", SES_JSON, ""},
        {"{" NAMES ",'state':[]}", SES_INVALID, "the session's state must be an object"},
        {"{" NAMES ",'events':{}}", SES_INVALID, "the session's events must be an array"},
        {"{" NAMES ",'lastUpdateTime':true}", SES_INVALID, "a number or a string"},
        {"{" NAMES ",'lastUpdateTime':'today'}", SES_INVALID, "lastUpdateTime"},
        {"{" NAMES ",'lastUpdateTime':1e300}", SES_INVALID, "lastUpdateTime"},
        {"{" NAMES ",'id':'t'}", SES_INVALID, "appears twice"},
        {"{" NAMES ",'app_name':'t'}", SES_INVALID, "only one spelling"},
        {"{" NAMES ",'extra':1}", SES_INVALID, "\"extra\" is not known"},
        {"{'id':1,'appName':'app','userId':'user'}", SES_INVALID, "must be a string"},
        {"{'id':'','appName':'app','userId':'user'}", SES_INVALID, ""},
        {"{'id':'a\\u0000b','appName':'app','userId':'user'}", SES_INVALID, "NUL"},
        {"{'id':'\\ud800','appName':'app','userId':'user'}", SES_INVALID, "surrogate"},
        {"{" NAMES ",'state':{'a\\u0000':1}}", SES_INVALID, ""},
        {"{" NAMES ",'events':[1]}", SES_INVALID, "event 0, counted from 0"},
        {"{" NAMES ",'events':[{'id':'1','timestamp':1},{'id':2}]}", SES_INVALID, "event 1, counted from 0"},
        {"{" NAMES ",'events':[{'partial':true}]}", SES_INVALID, "partial"},
        {"{" NAMES ",'events':[{'id':'1','timestamp':1},{'id':'1','timestamp':1}]}", SES_INVALID, "event 1"},
        {"{" NAMES ",'state':{'k':1},'events':[{'id':'1','timestamp':1,'actions':{'stateDelta':{'k':2}}}]}",
         SES_INVALID, "\"k\""},
        {"{" NAMES ",'state':{'z':1},'events':[{'id':'1','timestamp':1,'actions':{'stateDelta':{'k':2}}}]}",
         SES_INVALID, "\"k\""},
        {"{" NAMES ",'state':{'a':1},'events':[{'id':'1','timestamp':1,'actions':{'stateDelta':{'k':2}}}]}",
         SES_INVALID, "\"k\""},
        {"{" NAMES ",'state':{'k':1},'events':[{'id':'1','timestamp':1,'actions':{'stateDelta':"
         "{'k':'__ADK_SENTINEL_REMOVED__'}}}]}",
         SES_INVALID, "\"k\""},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        print_message("%s\n", cases[i].json);
        assert_code(cases[i].code, load(fixture->store, cases[i].json, 0, NULL, &error));
        assert_message(cases[i].words);
        assert_false(is_there(fixture->store, &key));
    }
    assert_code(SES_MISUSE, ses_load_json(NULL, NULL, "{}", 2, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_load_json(fixture->store, NULL, NULL, 2, NULL, NULL, &error));
    assert_code(SES_MISUSE, load(fixture->store, plain, 0x20, NULL, &error));
    assert_code(SES_MISUSE, load(fixture->store, plain, SES_LOAD_REPLACE | SES_LOAD_RENAME, NULL, &error));
}

TEST(a_text_cut_anywhere_is_refused)
{
    const char *whole = Q(plain);

    for (size_t len = 0; len < strlen(whole); len++) {
        char *part = malloc(len + 1);
        assert_non_null(part);
        memcpy(part + 1, whole, len);
        assert_code(SES_JSON, ses_load_json(fixture->store, NULL, part + 1, len, NULL, NULL, &error));
        free(part);
    }
    assert_false(is_there(fixture->store, &key));
}

TEST(depth_is_bounded)
{
    char *deep = malloc(200000);

    assert_non_null(deep);
    memset(deep, '[', 199999);
    deep[199999] = '\0';
    memcpy(deep, "{\"events\":", 10);
    assert_code(SES_LIMIT, ses_load_json(fixture->store, NULL, deep, SES_NUL, NULL, NULL, &error));
    free(deep);
}

/* --------------------------------------------------------------------------------------- from google-adk */

/* The services return events by time: where that is not the order of appending, the state can contradict
 * them. */
static void load_all(struct fixture *fixture, const char *name)
{
    char *text = support_test_data(name, NULL);
    ses_error error;
    int loaded = 0;
    int contradicting = 0;

    if (!text)
        skip();
    cJSON *all = cJSON_Parse(text);
    const cJSON *session;
    cJSON_ArrayForEach(session, cJSON_GetObjectItemCaseSensitive(all, "sessions"))
    {
        char *json = cJSON_PrintUnformatted(session);
        int code = ses_load_json(fixture->store, NULL, json, SES_NUL, NULL, NULL, &error);
        if (code == SES_INVALID) {
            assert_message("contradicts the events");
            contradicting++;
        } else {
            assert_code(SES_OK, code);
            loaded++;
        }
        free(json);
    }
    print_message("%s: %d loaded, %d contradict themselves\n", name, loaded, contradicting);
    assert_true(loaded >= 4);
    cJSON_Delete(all);
    free(text);
}

TEST(sessions_of_google_adk_are_loaded)
{
    load_all(fixture, "data/adk-stores/python-sqlite-2.13.json");
}
