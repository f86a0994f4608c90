/* Reading what an event says. */
#include "agent.h"

#include "seslite_cjson.h"

static ses_content *open_content(struct fixture *fixture, const char *event)
{
    ses_content *content = NULL;
    ses_error error;
    assert_ok(ses_content_open(fixture->store, event, SES_NUL, &content, &error));
    return content;
}

static void assert_text(ses_text text, const char *expected)
{
    if (expected) {
        assert_int_equal(text.len, strlen(expected));
        assert_memory_equal(text.text, expected, text.len);
    } else {
        assert_null(text.text);
    }
}

MEMORY_TEST(text_is_that_of_all_parts_but_thoughts)
{
    static const struct {
        const char *event;
        const char *text;
    } cases[] = {
        {"{'content':{'parts':[{'text':'a'},{'text':'b\\n\\u00e9'}]}}", "ab\n\xc3\xa9"},
        {"{'content':{'parts':[{'thought':true,'text':'no'},{'text':'yes','thought':false}]}"
         "}",
         "yes"},
        {"{'content':{'parts':[{'text':'no','thought':true}]}}", NULL},
        {"{'content':{'parts':[{'text':''}]}}", ""},
        {"{'content':{'parts':[{'text':null}]}}", NULL},
        {"{'content':{'parts':[]}}", NULL},
        {"{'content':{'parts':null}}", NULL},
        {"{'content':{'role':7}}", NULL},
        {"{'content':null}", NULL},
        {"{}", NULL},
        {" { 'x' : [ { } ] , 'content' : { 'parts' : [ { 'text' : 's' } ] } } ", "s"},
        {"{'cont\\u0065nt':{'parts':[{'t\\u0065xt':'s'}]}}", "s"},
        {"{'content':{'parts':[{'text':'\\''},{'inlineData':{'text':'no'}}]}}", "\""},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ses_content *content = open_content(fixture, Q(cases[i].event));
        size_t len = 99;
        const char *text = ses_content_text(content, &len);
        if (cases[i].text) {
            assert_string_equal(text, cases[i].text);
            assert_int_equal(len, strlen(cases[i].text));
        } else {
            assert_null(text);
            assert_null(ses_content_text(content, NULL));
            assert_int_equal(len, 0);
        }
        ses_content_close(content);
    }
}

/* Half an emoji does not hide the rest of an event. */
MEMORY_TEST(lone_surrogates_are_shown_as_replacement_characters)
{
    ses_content *content = open_content(
        fixture, Q("{'author':'\\udc00','errorMessage':'\\ud800\\ud83d\\ude00','content':{'parts':["
                   "{'text':'paris \\ud83d'},{'text':'\\ud83d\\n','thought':true},{'text':' 42'},"
                   "{'functionCall':{'id':'c\\udfff','name':'f','args':{'q':'\\udc00'}}}]}}"));
    size_t len = 0;

    assert_string_equal(ses_content_text(content, &len), "paris \xef\xbf\xbd 42");
    assert_int_equal(len, strlen("paris \xef\xbf\xbd 42"));
    assert_text(ses_content_part(content, 1)->text, "\xef\xbf\xbd\n");
    assert_text(ses_content_error_message(content), "\xef\xbf\xbd\xf0\x9f\x98\x80");
    assert_text(ses_content_call(content, 0)->id, "c\xef\xbf\xbd");
    assert_text(ses_content_call(content, 0)->json, Q("{'q':'\\udc00'}"));
    ses_content_close(content);
}

/* The stored text differs from the one that is shown. */
MEMORY_TEST(an_output_with_a_lone_surrogate_is_out_of_range)
{
    char *delta = NULL;

    assert_code(SES_RANGE,
                ses_output_delta(fixture->store, Q("{'author':'a','content':{'parts':[{'text':'\\ud83d'}]}}"),
                                 SES_NUL, "a", "key", &delta, NULL, &error));
    assert_message("lone surrogate");
    assert_null(delta);
}

MEMORY_TEST(the_content_itself)
{
    static const struct {
        const char *event;
        const char *json;
    } cases[] = {
        {"{'author':'a' , 'content' : { 'role':'user', 'parts':[ ] } , 'x':1}",
         "{ 'role':'user', 'parts':[ ] }"},
        {"{'content':{}}", "{}"},
        {"{'content':null}", NULL},
        {"{'x':{'content':{}}}", NULL},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ses_content *content = open_content(fixture, Q(cases[i].event));
        ses_text json = ses_content_json(content);
        assert_text(json, Q(cases[i].json));
        assert_int_equal(json.len, Q(cases[i].json) ? strlen(Q(cases[i].json)) : 0);
        if (json.text) /* borrowed, not copied */
            assert_ptr_equal(json.text, strstr(Q(cases[i].event), Q(cases[i].json)));
        ses_content_close(content);
    }
}

MEMORY_TEST(the_parts_as_they_stand)
{
    static const char *const parts[] = {"{'text':'a', 'thought':true}", "{}",
                                        "{'functionCall':{'name':'f'},'thoughtSignature':'QQ=='}"};
    const char *event = "{\"content\":{\"parts\":[ {\"text\":\"a\", \"thought\":true} ,{} , "
                        "{\"functionCall\":{\"name\":\"f\"},\"thoughtSignature\":\"QQ==\"} ]}}";
    ses_content *content = open_content(fixture, event);

    assert_int_equal(ses_content_part_count(content), 3);
    for (size_t i = 0; i < 3; i++)
        assert_text(ses_content_part(content, i)->json, Q(parts[i]));
    assert_null(ses_content_part(content, 3));
    ses_content_close(content);
    content = open_content(fixture, "{\"content\":{\"parts\":null}}");
    assert_int_equal(ses_content_part_count(content), 0);
    assert_null(ses_content_part(content, 0));
    ses_content_close(content);
}

MEMORY_TEST(a_part_says_what_it_is)
{
    ses_content *content = open_content(
        fixture,
        Q("{'content':{'parts':[{'thought':true,'text':'why\\n'},{'functionCall':{'name':'f'}},"
          "{'functionResponse':{'name':'g'}},{'text':'a','functionCall':{'name':'h'}},{'text':null}]}}"));
    const ses_part *part = ses_content_part(content, 0);

    assert_text(part->text, "why\n");
    assert_int_equal(part->thought, 1);
    assert_null(part->call);
    assert_null(part->response);
    part = ses_content_part(content, 1);
    assert_text(part->text, NULL);
    assert_int_equal(part->thought, 0);
    assert_ptr_equal(part->call, ses_content_call(content, 0));
    assert_ptr_equal(ses_content_part(content, 2)->response, ses_content_response(content, 0));
    assert_null(ses_content_part(content, 2)->call);
    assert_text(ses_content_part(content, 3)->text, "a");
    assert_text(ses_content_part(content, 3)->call->name, "h");
    assert_text(ses_content_part(content, 4)->text, NULL);
    ses_content_close(content);
}

MEMORY_TEST(actions_errors_usage_and_compactions_in_both_spellings)
{
    static const char *const events[] = {
        "{'actions':{ 'stateDelta' : {'k': 1.10} ,'compaction':{'startTimestamp':1.5,"
        "'endTimestamp':'1970-01-01T00:00:02Z','compactedContent':{'parts':[]}}},'errorCode':'E\\u0031',"
        "'errorMessage':'no','usageMetadata':{'promptTokenCount':7,'cachedContentTokenCount':1.0,"
        "'candidatesTokenCount':'x','thoughtsTokenCount':-1,'toolUsePromptTokenCount':4,'totalTokenCount':9007199254740993}}",
        "{'actions':{ 'state_delta' : {'k': 1.10} ,'compaction':{'start_timestamp':1.5,"
        "'end_timestamp':'1970-01-01T00:00:02Z','compacted_content':{'parts':[]}}},'error_code':'E1',"
        "'error_message':'no','usage_metadata':{'prompt_token_count':7,'cached_content_token_count':1,"
        "'thoughts_token_count':1.5,'tool_use_prompt_token_count':4,'total_token_count':9007199254740993}}"};

    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        ses_content *content = open_content(fixture, Q(events[i]));
        const ses_usage *usage = ses_content_usage(content);
        const ses_compaction *compaction = ses_content_compaction(content);
        assert_text(ses_content_state_delta(content), "{\"k\": 1.10}");
        assert_memory_equal(ses_content_actions(content).text, "{ \"state", 8);
        assert_text(ses_content_error_code(content), "E1");
        assert_text(ses_content_error_message(content), "no");
        assert_true(usage->prompt == 7 && usage->cached == 1 && usage->candidates == -1 &&
                    usage->thoughts == -1 && usage->tool_use == 4 &&
                    usage->total == INT64_C(9007199254740993));
        assert_true(compaction->start_us == 1500000 && compaction->end_us == 2000000);
        assert_text(compaction->content, "{\"parts\":[]}");
        ses_content_close(content);
    }
}

MEMORY_TEST(members_that_an_event_lacks_are_absent)
{
    static const char *const events[] = {
        "{}", "{'actions':null,'errorCode':null,'errorMessage':null,'usageMetadata':null}",
        "{'actions':{'compaction':{'startTimestamp':1,'endTimestamp':2},'stateDelta':null}}",
        "{'actions':{'compaction':{'startTimestamp':1,'endTimestamp':'x','compactedContent':{}}}}"};

    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        ses_content *content = open_content(fixture, Q(events[i]));
        assert_int_equal(ses_content_actions(content).text != NULL, i >= 2);
        assert_text(ses_content_state_delta(content), NULL);
        assert_text(ses_content_error_code(content), NULL);
        assert_text(ses_content_error_message(content), NULL);
        assert_null(ses_content_usage(content));
        assert_null(ses_content_compaction(content));
        ses_content_close(content);
    }
}

MEMORY_TEST(functions_in_both_spellings)
{
    static const char event[] =
        "{\"content\":{\"parts\":[{\"functionCall\":{\"id\":\"c-1\",\"args\":{\"n\": "
        "1.10},\"name\":\"get\"}},"
        "{\"function_call\":{\"name\":\"n\\u00e9\"}},{\"function_response\":{\"id\":null,\"name\":\"get\","
        "\"response\":"
        "{ }}},{\"functionResponse\":{\"id\":\"c-2\",\"x\":[1]}},{\"functionCall\":null}]}}";
    ses_content *content = open_content(fixture, event);

    assert_int_equal(ses_content_call_count(content), 2);
    assert_text(ses_content_call(content, 0)->id, "c-1");
    assert_text(ses_content_call(content, 0)->name, "get");
    assert_text(ses_content_call(content, 0)->json, "{\"n\": 1.10}");
    /* Borrowed, not copied, where the text holds no escapes. */
    assert_true(ses_content_call(content, 0)->name.text > event &&
                ses_content_call(content, 0)->name.text < event + sizeof event);
    assert_text(ses_content_call(content, 1)->id, NULL);
    assert_text(ses_content_call(content, 1)->name, "n\xc3\xa9");
    assert_text(ses_content_call(content, 1)->json, NULL);
    assert_null(ses_content_call(content, 2));
    assert_int_equal(ses_content_response_count(content), 2);
    assert_text(ses_content_response(content, 0)->id, NULL);
    assert_text(ses_content_response(content, 0)->json, "{ }");
    assert_text(ses_content_response(content, 1)->id, "c-2");
    assert_text(ses_content_response(content, 1)->name, NULL);
    assert_null(ses_content_response(content, 2));
    ses_content_close(content);
}

MEMORY_TEST(final_responses)
{
#define PARTS(parts) "{\"content\":{\"parts\":[" parts "]}}"
#define CALL "{\"functionCall\":{\"name\":\"f\"}}"
#define RESPONSE "{\"functionResponse\":{\"name\":\"f\"}}"
#define RESULT "{\"codeExecutionResult\":{\"outcome\":\"OK\"}}"
#define TEXT "{\"text\":\"t\"}"
    static const struct {
        const char *event;
        int final;
    } cases[] = {
        {PARTS(TEXT), 1},
        {"{}", 1},
        {PARTS(TEXT "," CALL), 0},
        {PARTS(RESPONSE "," TEXT), 0},
        {PARTS(TEXT "," RESULT), 0},
        {PARTS(RESULT "," TEXT), 1},
        {PARTS("{\"code_execution_result\":{}}"), 0},
        {PARTS("{\"codeExecutionResult\":null}"), 1},
        {"{\"partial\":true}", 0},
        {"{\"errorCode\":\"E\",\"partial\":true}", 0},
        {"{\"errorCode\":\"E\",\"content\":{\"parts\":[" RESPONSE "]}}", 1},
        {"{\"error_code\":\"E\",\"content\":{\"parts\":[{\"code_execution_result\":{}}]}}", 1},
        {"{\"errorCode\":\"E\",\"content\":{\"parts\":[" CALL "]}}", 0},
        {"{\"errorCode\":\"\",\"content\":{\"parts\":[" RESPONSE "]}}", 0},
        {"{\"errorMessage\":\"m\",\"content\":{\"parts\":[" RESPONSE "]}}", 0},
        {"{\"partial\":false}", 1},
        {"{\"partial\":null}", 1},
        {"{\"partial\":true,\"actions\":{\"skipSummarization\":true}}", 1},
        {"{\"partial\":true,\"actions\":{\"skip_summarization\":true}}", 1},
        {"{\"partial\":true,\"actions\":{\"skipSummarization\":false,\"x\":1}}", 0},
        {"{\"actions\":{\"skipSummarization\":null},\"content\":{\"parts\":[" CALL "]}}", 0},
        {"{\"actions\":{\"skipSummarization\":true},\"content\":{\"parts\":[" RESPONSE "]}}", 1},
        {"{\"longRunningToolIds\":[\"c\"],\"content\":{\"parts\":[" CALL "]}}", 1},
        {"{\"long_running_tool_ids\":[\"c\",\"d\"],\"partial\":true}", 1},
        {"{\"longRunningToolIds\":[],\"content\":{\"parts\":[" CALL "]}}", 0},
        {"{\"longRunningToolIds\":null,\"partial\":true}", 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ses_content *content = open_content(fixture, cases[i].event);
        if (ses_content_is_final(content) != cases[i].final)
            fail_msg("%s", cases[i].event);
        ses_content_close(content);
    }
}

MEMORY_TEST(wrong_events_are_refused_by_name)
{
    static const struct {
        const char *event;
        int code;
        int64_t offset;
        const char *words;
    } cases[] = {
        {"", SES_JSON, 0, "ends"},
        {"{", SES_JSON, 1, "key"},
        {"{}x", SES_JSON, 2, "unexpected text"},
        {"[]", SES_INVALID, 0, "must be a JSON object"},
        {"{'content':[]}", SES_INVALID, 11, "the event's content must be an object"},
        {"{'content':{'parts':{}}}", SES_INVALID, 20, "content.parts must be an array"},
        {"{'content':{'parts':[7]}}", SES_INVALID, 21, "content.parts[] must be an object"},
        {"{'content':{'parts':[null]}}", SES_INVALID, 21, "content.parts[] must be an object"},
        {"{'content':{'parts':[x]}}", SES_JSON, 21, "value"},
        {"{'content':{'parts':[{'text':7}]}}", SES_INVALID, 29, "content.parts[].text must be a string"},
        {"{'content':{'parts':[{'thought':7}]}}", SES_INVALID, 32, "content.parts[].thought must be true"},
        {"{'content':{'parts':[{'thought':tru}]}}", SES_JSON, 32, "word"},
        {"{'content':{'parts':[{'functionCall':[]}]}}", SES_INVALID, 37, "functionCall must be an object"},
        {"{'content':{'parts':[{'function_call':{'name':1}}]}}", SES_INVALID, 46, "functionCall.name"},
        {"{'content':{'parts':[{'function_call':{'args':1}}]}}", SES_INVALID, 46, "functionCall.args"},
        {"{'content':{'parts':[{'function_call':{'args':{]}}]}}", SES_JSON, 47, "key"},
        {"{'content':{'parts':[{'functionResponse':{'response':'x'}}]}}", SES_INVALID, 53,
         "functionResponse.response must be an object"},
        {"{'content':{'parts':[{'function_call':{},'functionCall':{}}]}}", SES_INVALID, 41,
         "both content.parts[].function_call and content.parts[].functionCall"},
        {"{'content':{'parts':[{'text':'a','text':'b'}]}}", SES_INVALID, 33, "twice"},
        {"{'content':{'parts':[{'text':'a}]}}", SES_JSON, 35, "unterminated string"},
        {"{'content':{'parts':[{'text':'a'} {}]}}", SES_JSON, 34, "expected , or ]"},
        {"{'content':{'parts':[{'functionCall':{'id':'\\q'}}]}}", SES_JSON, 44, "escape"},
        {"{'content':{'parts':[{'codeExecutionResult':1}]}}", SES_INVALID, 44, "codeExecutionResult"},
        {"{'author':7}", SES_INVALID, 10, "the event's author must be a string"},
        {"{'partial':1}", SES_INVALID, 11, "the event's partial must be true or false"},
        {"{'actions':7}", SES_INVALID, 11, "actions must be an object"},
        {"{'actions':{'skip_summarization':'yes'}}", SES_INVALID, 33, "actions.skip_summarization must be"},
        {"{'actions':{'stateDelta':[]}}", SES_INVALID, 25, "actions.stateDelta must be an object"},
        {"{'errorCode':7}", SES_INVALID, 13, "errorCode must be a string"},
        {"{'usage_metadata':7}", SES_INVALID, 18, "usage_metadata must be an object"},
        {"{'longRunningToolIds':{}}", SES_INVALID, 22, "longRunningToolIds must be an array"},
        {"{'longRunningToolIds':['a' 'b']}", SES_JSON, 27, "expected , or ]"},
        {"{'longRunningToolIds':['a',]}", SES_JSON, 27, "value"},
        {"{'longRunningToolIds':[],'long_running_tool_ids':[]}", SES_INVALID, 25,
         "the event has both longRunningToolIds and long_running_tool_ids"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ses_content *content = (ses_content *)fixture;
        assert_code(cases[i].code,
                    ses_content_open(fixture->store, Q(cases[i].event), SES_NUL, &content, &error));
        assert_message(cases[i].words);
        assert_int_equal(error.offset, cases[i].offset);
        assert_null(content);
    }
}

MEMORY_TEST(deep_events)
{
    ses_content *content = NULL;
    char event[4100] = "{\"content\":{\"parts\":[{\"functionCall\":{\"args\":{\"a\":";
    size_t start = strlen(event);

    memset(event + start, '[', 1001);
    assert_code(SES_LIMIT, ses_content_open(fixture->store, event, start + 1001, &content, &error));
    assert_message("1000 levels");
}

MEMORY_TEST(wrong_arguments)
{
    ses_content *content = NULL;

    assert_code(SES_MISUSE, ses_content_open(NULL, "{}", SES_NUL, &content, &error));
    assert_code(SES_MISUSE, ses_content_open(fixture->store, NULL, 0, &content, &error));
    assert_code(SES_MISUSE, ses_content_open(fixture->store, "{}", SES_NUL, NULL, &error));
    ses_content_close(NULL);
    /* It lives on without its store. */
    content = open_content(fixture, "{\"content\":{\"parts\":[{\"text\":\"a\"}]}}");
    ses_close(fixture->store);
    fixture->store = NULL;
    assert_string_equal(ses_content_text(content, NULL), "a");
    ses_content_close(content);
}

/* Recorded events, beside what a tree of them says. */
static void check_recorded(struct fixture *fixture, const char *name)
{
    char *text = support_test_data(name, NULL);
    cJSON *recorded = text ? cJSON_Parse(text) : NULL;
    const cJSON *event;
    ses_error error;

    cJSON_ArrayForEach(event, cJSON_GetObjectItem(recorded, "events"))
    {
        char *json = cJSON_PrintUnformatted(event);
        char expected[65536] = "";
        size_t calls = 0;
        size_t responses = 0;
        const cJSON *part;
        ses_content *content = NULL;
        assert_ok(ses_content_open(fixture->store, json, SES_NUL, &content, &error));
        cJSON_ArrayForEach(part, cJSON_GetObjectItem(cJSON_GetObjectItem(event, "content"), "parts"))
        {
            const cJSON *words = cJSON_GetObjectItem(part, "text");
            if (words)
                strcat(expected, words->valuestring);
            calls += cJSON_HasObjectItem(part, "function_call") != 0;
            responses += cJSON_HasObjectItem(part, "function_response") != 0;
        }
        const char *all = ses_content_text(content, NULL);
        assert_string_equal(all ? all : "", expected);
        assert_int_equal(ses_content_call_count(content), calls);
        assert_int_equal(ses_content_response_count(content), responses);
        ses_content_close(content);
        free(json);
    }
    cJSON_Delete(recorded);
    free(text);
}

MEMORY_TEST(recorded_sessions)
{
    check_recorded(fixture, "data/adk-samples/customer_service.session.json");
    check_recorded(fixture, "data/adk-samples/image_search_denim_skirt.session.json");
}
