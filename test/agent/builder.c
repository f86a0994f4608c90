/* Building the JSON of events. */
#include "agent.h"

#include <math.h>

#include "seslite_cjson.h"

static ses_builder *open_builder(struct fixture *fixture, const char *author, const char *invocation)
{
    ses_builder *builder = NULL;
    ses_error error;
    assert_ok(ses_builder_open(fixture->store, author, invocation, &builder, &error));
    return builder;
}

/* The event is these bytes, and the store takes it. */
static void assert_builds(struct fixture *fixture, ses_builder *builder, const char *expected)
{
    ses_session *session = agent_session(fixture, NULL);
    size_t len = 0;
    ses_error error;
    const char *json = ses_builder_json(builder, &len);

    assert_string_equal(json, expected);
    assert_int_equal(len, strlen(expected));
    assert_true(ses_append(session, json, len, NULL, NULL, &error) >= 0);
    ses_session_close(session);
    must_delete(fixture->store, &agent_key);
}

MEMORY_TEST(a_users_message)
{
    ses_builder *builder = open_builder(fixture, "user", "e-1");
    assert_ok(ses_builder_text(builder, "hi", SES_NUL, &error));
    assert_builds(fixture, builder,
                  Q("{'content':{'parts':[{'text':'hi'}],'role':'user'},'invocationId':'e-1',"
                    "'author':'user'}"));
    ses_builder_close(builder);
}

MEMORY_TEST(a_models_turn)
{
    ses_builder *builder = open_builder(fixture, "my_agent", "e-1");
    assert_ok(ses_builder_thought(builder, "hm", SES_NUL, &error));
    assert_ok(ses_builder_text(builder, "look: ", SES_NUL, &error));
    assert_ok(ses_builder_call(builder, "c-1", "get", " {\"city\": \"Oslo\"} ", SES_NUL, &error));
    assert_ok(ses_builder_call(builder, NULL, "now", NULL, 0, &error));
    assert_ok(ses_builder_part(builder, Q("{'inlineData':{'data':'QQ=='}}"), SES_NUL, &error));
    assert_builds(fixture, builder,
                  Q("{'content':{'parts':[{'text':'hm','thought':true},{'text':'look: '},"
                    "{'functionCall':{'id':'c-1','args':{'city': 'Oslo'},'name':'get'}},"
                    "{'functionCall':{'args':{},'name':'now'}},{'inlineData':{'data':'QQ=='}}],"
                    "'role':'model'},'invocationId':'e-1','author':'my_agent'}"));
    ses_builder_close(builder);
}

MEMORY_TEST(function_responses_have_the_role_of_the_user)
{
    ses_builder *builder = open_builder(fixture, "my_agent", "e-1");
    assert_ok(ses_builder_response(builder, "c-1", "get", "{\"n\": 1.10}", SES_NUL, &error));
    assert_ok(ses_builder_response(builder, NULL, "now", NULL, 0, &error));
    assert_builds(fixture, builder,
                  Q("{'content':{'parts':[{'functionResponse':{'id':'c-1','name':'get','response':"
                    "{'n': 1.10}}},{'functionResponse':{'name':'now','response':{}}}],'role':'user'},"
                    "'invocationId':'e-1','author':'my_agent'}"));
    assert_ok(ses_builder_text(builder, "and", SES_NUL, &error));
    assert_non_null(strstr(ses_builder_json(builder, NULL), "\"role\":\"model\""));
    ses_builder_close(builder);
}

MEMORY_TEST(the_response_to_a_call_that_was_read)
{
    static const char event[] =
        "{\"content\":{\"parts\":[{\"functionCall\":{\"id\":\"c-\\u00e91\",\"name\":\"get \\\"it\\\"\"}},"
        "{\"functionCall\":{\"name\":\"now\"}},{\"functionCall\":{\"id\":\"c-3\"}}]}}";
    ses_builder *builder = open_builder(fixture, "my_agent", NULL);
    ses_content *content = NULL;

    assert_ok(ses_content_open(fixture->store, event, SES_NUL, &content, &error));
    const ses_function *call = ses_content_call(content, 0);
    assert_ok(ses_builder_response_to(builder, call, Q("{'n':1}"), SES_NUL, &error));
    assert_ok(ses_builder_response_to(builder, ses_content_call(content, 1), NULL, 0, &error));
    assert_code(SES_MISUSE, ses_builder_response_to(builder, ses_content_call(content, 2), NULL, 0, &error));
    assert_message("name");
    assert_code(SES_INVALID, ses_builder_response_to(builder, call, "[]", SES_NUL, &error));
    assert_code(SES_MISUSE, ses_builder_response_to(builder, NULL, NULL, 0, &error));
    assert_code(SES_MISUSE, ses_builder_response_to(NULL, call, NULL, 0, &error));
    ses_content_close(content);
    assert_builds(fixture, builder,
                  Q("{'content':{'parts':[{'functionResponse':{'id':'c-\xc3\xa9"
                    "1','name':'get \\'it\\'','response':{'n':1}}},"
                    "{'functionResponse':{'name':'now','response':{}}}],'role':'user'},"
                    "'author':'my_agent'}"));
    ses_builder_close(builder);
}

MEMORY_TEST(an_event_that_only_changes_state)
{
    ses_builder *builder = open_builder(fixture, "my_agent", NULL);
    assert_builds(fixture, builder, Q("{'author':'my_agent'}"));
    assert_ok(ses_builder_action(builder, "skipSummarization", "true", SES_NUL, &error));
    assert_ok(ses_builder_delta(builder, Q("{'a':1}"), SES_NUL, &error));
    assert_ok(ses_builder_delta(builder, Q("{'b': 2}"), SES_NUL, &error)); /* the last one counts */
    assert_ok(ses_builder_action(builder, "artifactDelta", "{}", SES_NUL, &error));
    assert_builds(fixture, builder,
                  Q("{'author':'my_agent','actions':{'skipSummarization':true,'stateDelta':{'b': 2},"
                    "'artifactDelta':{}}}"));
    ses_builder_close(builder);
}

MEMORY_TEST(fields_stand_in_the_order_of_the_adk)
{
    ses_builder *builder = open_builder(fixture, "a", "i");
    assert_ok(ses_builder_field(builder, "timestamp", "1.5", SES_NUL, &error));
    assert_ok(ses_builder_field(builder, "id", Q("'x'"), SES_NUL, &error));
    assert_ok(ses_builder_field(builder, "branch", Q("'old'"), SES_NUL, &error));
    assert_ok(ses_builder_field(builder, "longRunningToolIds", Q("['c-1']"), SES_NUL, &error));
    assert_ok(ses_builder_field(builder, "customMetadata", Q("{'k':[]}"), SES_NUL, &error));
    assert_ok(ses_builder_field(builder, "usage\"Metadata", "{}", SES_NUL, &error));
    assert_ok(ses_builder_field(builder, "partial", "false", SES_NUL, &error));
    assert_ok(ses_builder_field(builder, "modelVersion", Q("'m'"), SES_NUL, &error));
    assert_ok(ses_builder_field_string(builder, "branch", "a.b", SES_NUL, &error));
    assert_ok(ses_builder_field_string(builder, "errorMessage", "a \"b\"\n\0c", 8, &error));
    assert_ok(ses_builder_action_string(builder, "transferToAgent", "other", SES_NUL, &error));
    assert_ok(ses_builder_text(builder, "t", SES_NUL, &error));
    assert_ok(ses_builder_delta(builder, "{}", SES_NUL, &error));
    assert_builds(fixture, builder,
                  Q("{'modelVersion':'m','content':{'parts':[{'text':'t'}],'role':'model'},"
                    "'partial':false,'errorMessage':'a "
                    "\\'b\\'\\n\\u0000c','customMetadata':{'k':[]},'usage\\'Metadata':{},"
                    "'invocationId':'i',"
                    "'author':'a','actions':{'stateDelta':{},'transferToAgent':'other'},"
                    "'longRunningToolIds':['c-1'],"
                    "'branch':'a.b','id':'x','timestamp':1.5}"));
    ses_builder_close(builder);
}

MEMORY_TEST(any_valid_utf8_is_escaped_as_json_needs_it)
{
    char text[128 + 16];
    size_t len = 0;
    ses_content *content = NULL;

    for (int i = 0; i < 128; i++)
        text[len++] = (char)i;
    memcpy(text + len, "\xc3\xa9\xe2\x80\xa8\xf0\x9f\x98\x80\xef\xbf\xbf", 12);
    len += 12;
    ses_builder *builder = open_builder(fixture, "q\"\\\n\xc3\xa9", "i\"");
    assert_ok(ses_builder_text(builder, text, len, &error));
    assert_ok(ses_builder_call(builder, "\"id", "na\\me", NULL, 0, &error));
    size_t json_len = 0;
    const char *json = ses_builder_json(builder, &json_len);
    assert_int_equal(strlen(json), json_len);
    /* Read back, it is the text that went in. */
    assert_ok(ses_content_open(fixture->store, json, json_len, &content, &error));
    size_t read_len = 0;
    const char *read = ses_content_text(content, &read_len);
    assert_int_equal(read_len, len);
    assert_memory_equal(read, text, len);
    assert_int_equal(ses_content_call(content, 0)->id.len, 3);
    assert_memory_equal(ses_content_call(content, 0)->name.text, "na\\me", 5);
    ses_content_close(content);
    ses_builder_close(builder);
}

MEMORY_TEST(a_whole_content_in_place_of_parts)
{
    ses_builder *builder = open_builder(fixture, "a", NULL);
    assert_ok(ses_builder_text(builder, "goes", SES_NUL, &error));
    assert_ok(ses_builder_content(builder, Q("{'role':'x','parts':[]}"), SES_NUL, &error));
    assert_builds(fixture, builder, Q("{'content':{'role':'x','parts':[]},'author':'a'}"));
    assert_code(SES_MISUSE, ses_builder_text(builder, "no", SES_NUL, &error));
    assert_message("whole content");
    assert_code(SES_MISUSE, ses_builder_call(builder, NULL, "n", NULL, 0, &error));
    assert_code(SES_MISUSE, ses_builder_part(builder, "{}", SES_NUL, &error));
    assert_ok(ses_builder_content(builder, "{}", SES_NUL, &error));
    assert_builds(fixture, builder, Q("{'content':{},'author':'a'}"));
    ses_builder_close(builder);
}

MEMORY_TEST(trees)
{
    ses_builder *builder = open_builder(fixture, "a", NULL);
    ses_session *session = agent_session(fixture, NULL);
    ses_tracked *tracked = agent_view(session, 0);
    cJSON *tree = cJSON_Parse(Q("{'role':'model','parts':[{'text':'t\\n'}]}"));
    cJSON *number = cJSON_CreateNumber(0.1);
    cJSON *infinite = cJSON_CreateNumber((double)INFINITY);
    cJSON *read = NULL;

    assert_ok(ses_builder_content_cjson(builder, tree, &error));
    assert_ok(ses_builder_field_cjson(builder, "customMetadata", tree, &error));
    assert_ok(ses_tracked_set_cjson(tracked, "n", number, &error));
    agent_assert_value(tracked, "n", "0.1");
    assert_ok(ses_tracked_get_cjson(tracked, "n", &read, &error));
    assert_true(cJSON_Compare(read, number, 1));
    cJSON_Delete(read);
    assert_code(SES_ABSENT, ses_tracked_get_cjson(tracked, "gone", &read, &error));
    assert_null(read);
    assert_code(SES_MISUSE, ses_tracked_get_cjson(tracked, "n", NULL, &error));
    assert_code(SES_INVALID, ses_tracked_set_cjson(tracked, "n", infinite, &error));
    assert_code(SES_INVALID, ses_builder_field_cjson(builder, "x", infinite, &error));
    assert_code(SES_INVALID, ses_builder_content_cjson(builder, infinite, &error));
    assert_code(SES_INVALID, ses_builder_content_cjson(builder, number, &error));
    assert_message("object");
    assert_code(SES_MISUSE, ses_tracked_set_cjson(tracked, "n", NULL, &error));
    assert_code(SES_MISUSE, ses_builder_field_cjson(builder, "x", NULL, &error));
    assert_code(SES_MISUSE, ses_builder_content_cjson(builder, NULL, &error));
    cJSON_Delete(infinite);
    cJSON_Delete(number);
    cJSON_Delete(tree);
    ses_tracked_close(tracked);
    ses_session_close(session);
    must_delete(fixture->store, &agent_key);
    assert_builds(fixture, builder,
                  Q("{'content':{'role':'model','parts':[{'text':'t\\n'}]},"
                    "'customMetadata':{'role':'model','parts':[{'text':'t\\n'}]},'author':'a'}"));
    ses_builder_close(builder);
}

/* A refused call leaves the builder as it was. */
MEMORY_TEST(a_refused_call_changes_nothing)
{
    ses_builder *builder = open_builder(fixture, "a", NULL);
    char deep[4000];

    assert_ok(ses_builder_text(builder, "t", SES_NUL, &error));
    char *before = strdup(ses_builder_json(builder, NULL));
    memset(deep, '[', 2000);
    memset(deep + 2000, ']', 2000);

    assert_code(SES_INVALID, ses_builder_text(builder, "\xc3", SES_NUL, &error));
    assert_code(SES_INVALID, ses_builder_thought(builder, "\xff", SES_NUL, &error));
    assert_code(SES_MISUSE, ses_builder_text(builder, NULL, 0, &error));
    assert_code(SES_MISUSE, ses_builder_text(NULL, "t", 1, &error));
    assert_code(SES_MISUSE, ses_builder_call(builder, NULL, NULL, NULL, 0, &error));
    assert_code(SES_INVALID, ses_builder_call(builder, "\xff", "n", NULL, 0, &error));
    assert_code(SES_INVALID, ses_builder_call(builder, NULL, "\xff", NULL, 0, &error));
    assert_code(SES_INVALID, ses_builder_call(builder, NULL, "n", "[]", SES_NUL, &error));
    assert_message("args");
    assert_code(SES_JSON, ses_builder_call(builder, NULL, "n", "{\"a\":}", SES_NUL, &error));
    assert_message("args: at byte 5");
    assert_int_equal(error.offset, 5);
    assert_code(SES_JSON, ses_builder_response(builder, NULL, "n", "{", SES_NUL, &error));
    assert_code(SES_INVALID, ses_builder_response(builder, NULL, "n", "1", SES_NUL, &error));
    assert_code(SES_MISUSE, ses_builder_response(NULL, NULL, "n", "1", SES_NUL, &error));
    assert_code(SES_MISUSE, ses_builder_call(NULL, NULL, "n", "1", SES_NUL, &error));
    assert_code(SES_INVALID, ses_builder_part(builder, "[]", SES_NUL, &error));
    assert_code(SES_JSON, ses_builder_part(builder, "", SES_NUL, &error));
    assert_code(SES_MISUSE, ses_builder_part(NULL, "{}", SES_NUL, &error));
    assert_code(SES_INVALID, ses_builder_content(builder, "null", SES_NUL, &error));
    assert_code(SES_MISUSE, ses_builder_content(NULL, "{}", SES_NUL, &error));
    assert_code(SES_INVALID, ses_builder_delta(builder, "7", SES_NUL, &error));
    assert_code(SES_MISUSE, ses_builder_delta(NULL, "{}", SES_NUL, &error));
    assert_code(SES_INVALID, ses_builder_action(builder, "stateDelta", "{}", SES_NUL, &error));
    assert_message("ses_builder_delta");
    assert_code(SES_INVALID, ses_builder_action(builder, "state_delta", "{}", SES_NUL, &error));
    assert_code(SES_JSON, ses_builder_action(builder, "x", "NaN", SES_NUL, &error));
    assert_code(SES_MISUSE, ses_builder_action(builder, NULL, "1", SES_NUL, &error));
    assert_code(SES_MISUSE, ses_builder_action(NULL, "x", "1", SES_NUL, &error));
    assert_code(SES_INVALID, ses_builder_field(builder, "author", Q("'x'"), SES_NUL, &error));
    assert_code(SES_INVALID, ses_builder_field(builder, "invocation_id", Q("'x'"), SES_NUL, &error));
    assert_code(SES_INVALID, ses_builder_field(builder, "actions", "{}", SES_NUL, &error));
    assert_code(SES_INVALID, ses_builder_field(builder, "content", "{}", SES_NUL, &error));
    assert_code(SES_INVALID, ses_builder_field(builder, "", "{}", SES_NUL, &error));
    assert_code(SES_INVALID, ses_builder_field(builder, "\xff", "{}", SES_NUL, &error));
    assert_code(SES_LIMIT, ses_builder_field(builder, "x", deep, sizeof deep, &error));
    assert_code(SES_LIMIT, ses_builder_field(builder, "x", deep + 1000, 2000, &error));
    assert_code(SES_MISUSE, ses_builder_field(NULL, "x", "1", SES_NUL, &error));
    assert_code(SES_INVALID, ses_builder_field_string(builder, "author", "x", SES_NUL, &error));
    assert_code(SES_INVALID, ses_builder_field_string(builder, "branch", "\xff", SES_NUL, &error));
    assert_code(SES_MISUSE, ses_builder_field_string(builder, "branch", NULL, 0, &error));
    assert_code(SES_MISUSE, ses_builder_field_string(NULL, "branch", "b", SES_NUL, &error));
    assert_code(SES_INVALID, ses_builder_action_string(builder, "stateDelta", "x", SES_NUL, &error));
    assert_code(SES_MISUSE, ses_builder_action_string(NULL, "x", "b", SES_NUL, &error));
    assert_string_equal(ses_builder_json(builder, NULL), before);
    /* 999 levels fit below the event. */
    assert_ok(ses_builder_field(builder, "x", deep + 1001, 1998, &error));
    assert_true(ses_builder_json(builder, NULL) != NULL);
    free(before);
    ses_builder_close(builder);
}

MEMORY_TEST(opening)
{
    ses_builder *builder = (ses_builder *)fixture;

    assert_code(SES_MISUSE, ses_builder_open(NULL, "a", NULL, &builder, &error));
    assert_null(builder);
    assert_code(SES_MISUSE, ses_builder_open(fixture->store, NULL, NULL, &builder, &error));
    assert_code(SES_MISUSE, ses_builder_open(fixture->store, "a", NULL, NULL, &error));
    assert_code(SES_INVALID, ses_builder_open(fixture->store, "", NULL, &builder, &error));
    assert_code(SES_INVALID, ses_builder_open(fixture->store, "\xff", NULL, &builder, &error));
    assert_code(SES_INVALID, ses_builder_open(fixture->store, "a", "", &builder, &error));
    assert_message("invocation");
    ses_builder_close(NULL);
    /* It lives on without its store. */
    builder = open_builder(fixture, "a", NULL);
    ses_close(fixture->store);
    fixture->store = NULL;
    assert_ok(ses_builder_text(builder, "t", SES_NUL, &error));
    assert_non_null(ses_builder_json(builder, NULL));
    ses_builder_close(builder);
}

/* ------------------------------------------------------------------------------------------ appending */

MEMORY_TEST(an_event_is_appended_as_it_was_built)
{
    ses_session *session = agent_session(fixture, NULL);
    ses_builder *builder = NULL;
    ses_appended appended;

    assert_ok(ses_builder_open(fixture->store, "agent", "i", &builder, &error));
    assert_ok(ses_builder_text(builder, "hello", SES_NUL, &error));
    assert_ok(ses_builder_append(builder, session, NULL, &appended, &error));
    assert_int_equal(appended.seq, 1);
    const ses_event *event = ses_session_event(session, 0);
    assert_string_equal(event->id, appended.made_id);
    assert_string_equal(event->author, "agent");
    assert_non_null(strstr(event->json, ses_builder_json(builder, NULL) + 1));
    assert_code(SES_DUPLICATE, ses_builder_append(builder, session, NULL, &appended, &error));
    assert_string_equal(appended.made_id, event->id);
    assert_ok(ses_builder_field_string(builder, "id", "mine", SES_NUL, &error));
    assert_ok(ses_builder_append_by_key(builder, fixture->store, &agent_key, NULL, &appended, &error));
    assert_string_equal(appended.made_id, "");
    must_refresh(session);
    assert_string_equal(ses_session_event(session, 1)->id, "mine");
    ses_builder_close(builder);
}

MEMORY_TEST(an_append_that_fails_is_repeated_with_the_same_id)
{
    ses_session *session = agent_session(fixture, NULL);
    ses_builder *builder = NULL;
    ses_appended appended;

    assert_ok(ses_builder_open(fixture->store, "agent", "i", &builder, &error));
    assert_ok(ses_builder_field(builder, "id", "null", SES_NUL, &error));
    must_append_by_key(fixture->store, &agent_key, "{}");
    assert_code(SES_STALE, ses_builder_append(builder, session, NULL, NULL, &error));
    const char *id = strstr(ses_builder_json(builder, NULL), Q("'id':'"));
    assert_non_null(id);
    char *kept = strdup(id + strlen(Q("'id':'")));
    *strchr(kept, '"') = '\0';
    must_refresh(session);
    assert_ok(ses_builder_append(builder, session, NULL, &appended, &error));
    assert_string_equal(ses_session_event(session, 1)->id, kept);
    assert_string_equal(appended.made_id, kept);
    free(kept);
    assert_code(SES_MISUSE, ses_builder_append(NULL, session, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_builder_append(builder, NULL, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_builder_append_by_key(builder, NULL, &agent_key, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_builder_append_by_key(builder, fixture->store, NULL, NULL, NULL, &error));
    ses_builder_close(builder);
}
