/* The events to send to a model: the ADK's own answers (vectors/history.json), and cases that these do not
 * cover. */
#include <cjson/cJSON.h>

#include "agent.h"
#include "open.h"
#include "random.h"

/* ------------------------------------------------------------------------------------------ the vectors */

static const cJSON *member(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

/* Ids in order, to be compared with a list of them. */
struct ids {
    const char *what;
    const cJSON *expected;
    int count;
};

static void check_id(struct ids *ids, const char *name, const char *id)
{
    const cJSON *expected = cJSON_GetArrayItem(ids->expected, ids->count++);
    if (!expected || strcmp(expected->valuestring, id) != 0)
        fail_msg("%s, %s: number %d is %s, not %s", name, ids->what, ids->count, id,
                 expected ? expected->valuestring : "there");
}

static void check_count(const struct ids *ids, const char *name)
{
    if (ids->count != cJSON_GetArraySize(ids->expected))
        fail_msg("%s, %s: %d, not %d", name, ids->what, ids->count, cJSON_GetArraySize(ids->expected));
}

static void check_live(ses_store *store, const ses_key *key, const cJSON *expected)
{
    const ses_range live = {.size = sizeof live, .which = SES_RANGE_LIVE};
    struct ids ids = {"live", expected, 0};
    ses_session *session = NULL;
    ses_error error;

    assert_ok(ses_get(store, key, GET_RANGE(&live), &session, &error));
    for (size_t i = 0; i < ses_session_event_count(session); i++)
        check_id(&ids, key->session, ses_session_event(session, i)->id);
    check_count(&ids, key->session);
    ses_session_close(session);
}

static void check_live_walk(ses_store *store, const ses_key *key, const cJSON *expected, int backward)
{
    const ses_range live = {.size = sizeof live, .which = SES_RANGE_LIVE};
    const ses_cursor_options options = {
        .size = sizeof options, .flags = backward ? SES_CURSOR_BACKWARD : 0, .range = &live};
    const int count = cJSON_GetArraySize(expected);
    const ses_event *event = NULL;
    ses_cursor *cursor = NULL;
    ses_error error;

    assert_ok(ses_cursor_open(store, key, &options, &cursor, &error));
    for (int i = 0; i < count; i++) {
        assert_code(SES_ROW, ses_cursor_next(cursor, &event, &error));
        assert_string_equal(event->id,
                            cJSON_GetArrayItem(expected, backward ? count - 1 - i : i)->valuestring);
    }
    assert_ok(ses_cursor_next(cursor, &event, &error));
    assert_null(event);
    assert_ok(ses_cursor_close(cursor, &error));
}

static ses_context *open_context(ses_store *store, const ses_key *key, unsigned flags)
{
    const ses_context_options options = {.size = sizeof options, .flags = flags};
    ses_context *context = NULL;
    ses_error error;
    assert_ok(ses_context_open_by_key(store, key, &options, &context, &error));
    return context;
}

/* The content of the event; of a compaction that of its summary, unless the compaction itself came back. */
static void assert_content_of(const ses_context *context, size_t index)
{
    ses_text text = ses_context_content(context, index);
    cJSON *event = cJSON_Parse(ses_context_event(context, index)->json);
    const cJSON *compaction = member(member(event, "actions"), "compaction");
    const cJSON *expected =
        cJSON_IsObject(compaction) ? member(compaction, "compactedContent") : member(event, "content");

    if (!expected || cJSON_IsNull(expected)) {
        assert_null(text.text);
    } else {
        cJSON *content = cJSON_ParseWithLength(text.text, text.len);
        assert_non_null(content);
        assert_true(cJSON_Compare(content, expected, 1));
        cJSON_Delete(content);
    }
    cJSON_Delete(event);
}

static void check_context(ses_store *store, const ses_key *key, const char *what, const cJSON *expected,
                          unsigned flags)
{
    ses_context *context = open_context(store, key, flags);
    struct ids ids = {what, expected, 0};

    for (size_t i = 0; i < ses_context_count(context); i++) {
        check_id(&ids, key->session, ses_context_event(context, i)->id);
        assert_content_of(context, i);
    }
    check_count(&ids, key->session);
    assert_null(ses_context_event(context, ses_context_count(context)));
    assert_null(ses_context_content(context, ses_context_count(context)).text);
    ses_context_close(context);
}

static void check_case(ses_store *store, const cJSON *one)
{
    const ses_key key = {"vectors", "user", member(one, "name")->valuestring};
    const cJSON *event = NULL;

    must_create(store, &key, NULL);
    cJSON_ArrayForEach(event, member(one, "events"))
    {
        char *text = cJSON_PrintUnformatted(event);
        must_append_by_key(store, &key, text);
        free(text);
    }
    check_live(store, &key, member(one, "live"));
    check_live_walk(store, &key, member(one, "live"), 0);
    check_live_walk(store, &key, member(one, "live"), 1);
    check_context(store, &key, "context", member(one, "context"), 0);
    check_context(store, &key, "sent", member(one, "sent"), SES_CONTEXT_VISIBLE);
}

TEST(the_vectors)
{
    const cJSON *one = NULL;
    char *text = support_test_data("vectors/history.json", NULL);

    if (!text)
        skip();
    cJSON *vectors = cJSON_Parse(text);
    assert_int_equal(cJSON_GetArraySize(member(vectors, "cases")), 90);
    cJSON_ArrayForEach(one, member(vectors, "cases")) check_case(fixture->store, one);
    cJSON_Delete(vectors);
    free(text);
}

/* ----------------------------------------------------------------------------------------- own cases */

static void create_log(const struct fixture *fixture, const char *const *events)
{
    const int64_t early = 0;
    const ses_create_options options = {.size = sizeof options, .created_us = &early};
    ses_error error;

    must_delete(fixture->store, &agent_key);
    assert_ok(ses_create(fixture->store, &agent_key, NULL, 0, &options, NULL, &error));
    for (; *events; events++)
        must_append_by_key(fixture->store, &agent_key, Q(*events));
}

/* The ids of the context, each behind a blank; of a summary in brackets. */
static const char *context_ids(const struct fixture *fixture, unsigned flags)
{
    static char text[1000];
    ses_context *context = open_context(fixture->store, &agent_key, flags);
    size_t len = 0;

    text[0] = '\0';
    for (size_t i = 0; i < ses_context_count(context); i++) {
        ses_text content = ses_context_content(context, i);
        bool is_summary = content.text && strstr(content.text, "summary") == content.text + 2;
        len += (size_t)snprintf(text + len, sizeof text - len, is_summary ? " [%s]" : " %s",
                                ses_context_event(context, i)->id);
    }
    ses_context_close(context);
    return text;
}

#define SUMMARY(from, to)                                                   \
    "'actions':{'compaction':{'startTimestamp':" from ",'endTimestamp':" to \
    ",'compactedContent':{'summary':1}}}"

TEST(an_empty_log)
{
    static const char *const none[] = {NULL};

    create_log(fixture, none);
    assert_string_equal(context_ids(fixture, 0), "");
    assert_string_equal(context_ids(fixture, SES_CONTEXT_VISIBLE), "");
}

/* The bytes are those that came in. */
TEST(contents_are_exact)
{
    static const char *const events[] = {
        "{'id':'a','timestamp':5,'content': {'role' :'user', 'n':1.10,'parts':[ ]} }",
        "{'id':'b','timestamp':6,'content':null}",
        "{'id':'c','timestamp':7,'actions':{'compaction':{'compactedContent' : { 'x':-0.0 }, "
        "'startTimestamp':1,'endTimestamp':2}},'content':{'other':1}}",
        NULL};
    create_log(fixture, events);
    ses_context *context = open_context(fixture->store, &agent_key, 0);
    assert_int_equal(ses_context_count(context), 3);
    const char *const expected[] = {"{ \"x\":-0.0 }", "{\"role\" :\"user\", \"n\":1.10,\"parts\":[ ]}", NULL};
    for (size_t i = 0; i < 3; i++) {
        ses_text content = ses_context_content(context, i);
        assert_int_equal(content.len, expected[i] ? strlen(expected[i]) : 0);
        if (expected[i])
            assert_memory_equal(content.text, expected[i], content.len);
        else
            assert_null(content.text);
    }
    ses_context_close(context);
}

/* Spellings and forms of other ADKs. */
TEST(other_spellings_of_a_compaction)
{
    static const char *const summaries[] = {
        "{'id':'s','timestamp':9,'actions':{'compaction':{'start_timestamp':2,'end_timestamp':3.0,"
        "'compacted_content':{'summary':1}}}}",
        "{'id':'s','timestamp':9,'actions':{'compaction':{'startTimestamp':'1970-01-01T00:00:02Z',"
        "'endTimestamp':'1970-01-01T01:00:03+01:00','compactedContent':{'summary':1}}}}",
    };
    for (size_t i = 0; i < sizeof summaries / sizeof summaries[0]; i++) {
        const char *const events[] = {"{'id':'a','timestamp':1}",
                                      "{'id':'b','timestamp':2}",
                                      "{'id':'c','timestamp':3}",
                                      "{'id':'d','timestamp':4}",
                                      summaries[i],
                                      NULL};
        create_log(fixture, events);
        assert_string_equal(context_ids(fixture, 0), " a [s] d");
    }
}

/* It covers nothing, and is not dropped. */
TEST(a_compaction_that_lacks_something)
{
    static const char *const compactions[] = {
        "{}",
        "{'startTimestamp':1,'endTimestamp':9}",
        "{'startTimestamp':1,'compactedContent':{'summary':1}}",
        "{'endTimestamp':9,'compactedContent':{'summary':1}}",
        "{'startTimestamp':1,'endTimestamp':9,'compactedContent':null}",
        "{'startTimestamp':1,'endTimestamp':9,'compactedContent':'text'}",
        "{'startTimestamp':1,'endTimestamp':1e300,'compactedContent':{'summary':1}}",
        "{'startTimestamp':'yesterday','endTimestamp':9,'compactedContent':{'summary':1}}",
        "{'startTimestamp':'','endTimestamp':9,'compactedContent':{'summary':1}}",
        "{'startTimestamp':true,'endTimestamp':[9],'compactedContent':{'summary':1}}",
    };
    for (size_t i = 0; i < sizeof compactions / sizeof compactions[0]; i++) {
        char event[200];
        const char *const events[] = {"{'id':'b','timestamp':8}", "{'id':'a','timestamp':2}", event, NULL};
        snprintf(event, sizeof event, "{'id':'c','timestamp':5,'actions':{'compaction':%s}}", compactions[i]);
        create_log(fixture, events);
        assert_string_equal(context_ids(fixture, 0), " b a c");
    }
}

TEST(the_events_that_a_model_sees)
{
    /* The event, behind its id; and whether a model sees it. */
    static const struct {
        const char *event;
        bool seen;
    } cases[] = {
        {"'content':{'role':'user','parts':[{'text':'x'}]}", true},
        {"'author':'user'", false},
        {"'content':{'parts':[{'text':'x'}]}", false},
        {"'content':{'role':'','parts':[{'text':'x'}]}", false},
        {"'content':{'role':null,'parts':[{'text':'x'}]}", false},
        {"'content':{'role':5,'parts':[{'text':'x'}]}", false},
        {"'content':{'role':'user'}", false},
        {"'content':{'role':'user','parts':[]}", false},
        {"'content':{'role':'user','parts':[{}]}", false},
        {"'content':{'role':'user','parts':[null,5,'x',[]]}", false},
        {"'content':{'role':'user','parts':[{'text':''}]}", false},
        {"'content':{'role':'user','parts':[{'text':''},{'text':' '}]}", true},
        {"'content':{'role':'model','parts':[{'text':'x','thought':true}]}", false},
        {"'content':{'role':'model','parts':[{'text':'x','thought':false}]}", true},
        {"'content':{'role':'model','parts':[{'text':'x','thought':true},{'text':'y'}]}", true},
        {"'content':{'role':'model','parts':[{'thought':true},{'text':''}]}", false},
        {"'content':{'role':'model','parts':[{'thoughtSignature':'QQ=='}]}", true},
        {"'content':{'role':'model','parts':[{'thought':true,'thought_signature':'QQ=='}]}", true},
        {"'content':{'role':'model','parts':[{'thoughtSignature':''}]}", false},
        {"'content':{'role':'model','parts':[{'thought':true,'functionCall':{'name':'f'}}]}", true},
        {"'content':{'role':'model','parts':[{'function_call':{}}]}", true},
        {"'content':{'role':'model','parts':[{'functionCall':null}]}", false},
        {"'content':{'role':'user','parts':[{'function_response':{'name':'f'}}]}", true},
        {"'content':{'role':'model','parts':[{'toolCall':{}}]}", true},
        {"'content':{'role':'user','parts':[{'tool_response':{},'thought':true}]}", true},
        {"'content':{'role':'user','parts':[{'inlineData':{}}]}", true},
        {"'content':{'role':'user','parts':[{'file_data':{},'thought':true}]}", false},
        {"'content':{'role':'model','parts':[{'executableCode':{}}]}", true},
        {"'content':{'role':'model','parts':[{'code_execution_result':{}}]}", true},
        {"'content':{'role':'model','parts':[{'videoMetadata':{}}]}", false},
        {"'inputTranscription':{'text':'x'}", true},
        {"'output_transcription':{}", true},
        {"'outputTranscription':null", false},
        {"'content':{'role':'model','parts':[{'functionCall':{'name':'adk_request_credential'}}]}", false},
        {"'content':{'role':'model','parts':[{'text':'x'},{'functionCall':{'name':'adk_framework'}}]}",
         false},
        {"'content':{'role':'user','parts':[{'functionResponse':{'name':'adk_request_confirmation'}}]}",
         false},
        {"'content':{'role':'model','parts':[{'functionCall':{'name':'adk_request_input'}}]}", true},
        {"'isolationScope':'call-1','content':{'role':'user','parts':[{'text':'x'}]}", false},
        {"'isolation_scope':null,'content':{'role':'user','parts':[{'text':'x'}]}", true},
        {"'nodeInfo':{'path':'a/b'},'author':'user','content':{'role':'user','parts':[{'text':'x'}]}", false},
        {"'nodeInfo':{'path':''},'author':'user','content':{'role':'user','parts':[{'text':'x'}]}", true},
        {"'node_info':{'path':'a/b'},'author':'agent','content':{'role':'user','parts':[{'text':'x'}]}",
         true},
        {"'nodeInfo':{'path':'a/b'},'author':'user','content':{'role':'user','parts':"
         "[{'functionResponse':{'name':'f'}}]}",
         true},
        {SUMMARY("1", "2"), true},
        {"'actions':{'compaction':{}}", false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char event[300];
        const char *const events[] = {event, NULL};
        snprintf(event, sizeof event, "{'id':'e','timestamp':1,%s}", cases[i].event);
        create_log(fixture, events);
        const char *ids = context_ids(fixture, SES_CONTEXT_VISIBLE);
        if ((ids[0] != '\0') != cases[i].seen)
            fail_msg("%s is %s", cases[i].event, cases[i].seen ? "not seen" : "seen");
        assert_string_not_equal(context_ids(fixture, 0), "");
    }
}

#define CALL(id) "'content':{'role':'model','parts':[{'functionCall':{'id':'" id "','name':'f'}}]}"
#define RESPONSE(id) "'content':{'role':'user','parts':[{'functionResponse':{'id':'" id "','name':'f'}}]}"

/* Ids are compared as plain text, however they are spelled; and where that is impossible as they are. */
TEST(calls_with_odd_ids)
{
    static const char *const pairs[][3] = {
        {"\\u0061", "a", " [s] k r"},
        {"\\ud800", "\\ud800", " [s] k r"},
        {"\\ud800", "\\uD800", " [s] r"},
        {"", "", " [s] r"},
        {"ab", "a", " [s] r"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        char call[200];
        char response[200];
        const char *const events[] = {call, response, "{'id':'s','timestamp':9," SUMMARY("1", "1") "}", NULL};
        snprintf(call, sizeof call, "{'id':'k','timestamp':1," CALL("%s") "}", pairs[i][0]);
        snprintf(response, sizeof response, "{'id':'r','timestamp':2," RESPONSE("%s") "}", pairs[i][1]);
        create_log(fixture, events);
        assert_string_equal(context_ids(fixture, 0), pairs[i][2]);
    }
}

/* A call and its response in one event; an id that is used again; a compaction that is itself a call; and one
 * that came back as both. */
TEST(calls_in_odd_places)
{
    static const char *const both[] = {
        "{'id':'k','timestamp':1,'content':{'parts':[{'functionResponse':{'id':'x'}},"
        "{'functionCall':{'id':'x'}}]}}",
        "{'id':'r','timestamp':5," RESPONSE("x") "}", "{'id':'s','timestamp':9," SUMMARY("1", "2") "}", NULL};
    static const char *const summary[] = {"{'id':'s','timestamp':1," SUMMARY("0", "0") "," CALL("x") "}",
                                          "{'id':'r','timestamp':5," RESPONSE("x") "}", NULL};
    static const char *const chain[] = {
        "{'id':'k','timestamp':1,'content':{'parts':[{'functionCall':{'id':'x'}},"
        "{'functionCall':{'id':'y'}}]}}",
        "{'id':'m','timestamp':2,'content':{'parts':[{'functionResponse':{'id':'y'}},"
        "{'functionCall':{'id':'z'}}]}}",
        "{'id':'r','timestamp':5," RESPONSE("x") "}",
        "{'id':'t','timestamp':6," RESPONSE("z") "}",
        "{'id':'s','timestamp':9," SUMMARY("1", "2") "}",
        NULL};

    static const char *const again[] = {
        "{'id':'k','timestamp':1," CALL("x") "}",         "{'id':'r','timestamp':2," RESPONSE("x") "}",
        "{'id':'l','timestamp':3," CALL("x") "}",         "{'id':'t','timestamp':4," RESPONSE("x") "}",
        "{'id':'s','timestamp':9," SUMMARY("1", "1") "}", NULL};

    create_log(fixture, both);
    assert_string_equal(context_ids(fixture, 0), " [s] k r");
    create_log(fixture, again);
    assert_string_equal(context_ids(fixture, 0), " [s] k r l t");
    create_log(fixture, summary);
    assert_string_equal(context_ids(fixture, 0), " [s] s r");
    create_log(fixture, chain);
    assert_string_equal(context_ids(fixture, 0), " [s] k m r t");
}

/* ------------------------------------------------------------------------------------------- the calls */

static const char *const three[] = {"{'id':'a','invocationId':'1','timestamp':1}",
                                    "{'id':'b','invocationId':'2','timestamp':2}",
                                    "{'id':'c','invocationId':'3','timestamp':3}", NULL};

/* Clocks go back by some milliseconds when they are set, and those of several clients differ by more. */
TEST(the_order_of_the_log)
{
    static const struct {
        const char *const events[8];
        const char *by_time;
        const char *in_log_order;
    } cases[] = {
        {{"{'id':'call','timestamp':5," CALL("c") "}", "{'id':'response','timestamp':4," RESPONSE("c") "}"},
         " call response",
         " call response"},
        {{"{'id':'old','timestamp':1}", "{'id':'sum','timestamp':2," SUMMARY("1", "1") "}",
          "{'id':'new','timestamp':9}", "{'id':'call','timestamp':8," CALL("c") "}",
          "{'id':'response','timestamp':7," RESPONSE("c") "}"},
         " [sum] response call new",
         " [sum] new call response"},
        /* Clocks that are ahead and behind, around what is covered. */
        {{"{'id':'ahead','timestamp':90}", "{'id':'old','timestamp':5}", "{'id':'behind','timestamp':3}",
          "{'id':'sum','timestamp':6," SUMMARY("5", "5") "}", "{'id':'new','timestamp':7}"},
         " behind [sum] new ahead",
         " ahead [sum] behind new"},
        /* A summary does not contain the events after it. */
        {{"{'id':'old','timestamp':5}", "{'id':'sum','timestamp':6," SUMMARY("4", "5") "}",
          "{'id':'new','timestamp':4}"},
         " [sum]",
         " [sum] new"},
        /* Nothing that a summary covers is there. */
        {{"{'id':'first','timestamp':1}", "{'id':'sum','timestamp':6," SUMMARY("2", "3") "}",
          "{'id':'new','timestamp':7}"},
         " first [sum] new",
         " first [sum] new"},
        {{"{'id':'sum','timestamp':6," SUMMARY("2", "3") "}", "{'id':'new','timestamp':1}"},
         " new [sum]",
         " [sum] new"},
        /* Two, of which one covers what comes between them and the other's events. */
        {{"{'id':'a','timestamp':1}", "{'id':'b','timestamp':2}",
          "{'id':'s','timestamp':3," SUMMARY("1", "2") "}", "{'id':'c','timestamp':4}",
          "{'id':'t','timestamp':5," SUMMARY("2", "4") "}", "{'id':'d','timestamp':4.5}"},
         " [s] [t] d",
         " [s] [t] d"},
        /* A call comes back; the later answer in the log counts. */
        {{"{'id':'calls','timestamp':1,'content':{'parts':[{'functionCall':{'id':'c','name':'f'}},"
          "{'functionCall':{'id':'d','name':'f'}}]}}",
          "{'id':'first','timestamp':3," RESPONSE("d") "}", "{'id':'last','timestamp':2," RESPONSE("d") "}",
          "{'id':'sum','timestamp':4," SUMMARY("1", "3") "}",
          "{'id':'response','timestamp':0," RESPONSE("c") "}"},
         " calls first response [sum]",
         " [sum] calls last response"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        create_log(fixture, cases[i].events);
        assert_string_equal(context_ids(fixture, 0), cases[i].by_time);
        assert_string_equal(context_ids(fixture, SES_CONTEXT_LOG_ORDER), cases[i].in_log_order);
    }
}

TEST(a_handle_and_what_it_lacks)
{
    ses_context *context = NULL;

    create_log(fixture, three);
    ses_session *session = must_get(fixture->store, &agent_key);
    must_append_by_key(fixture->store, &agent_key,
                       Q("{'id':'d','actions':{'rewindBeforeInvocationId':'2'}}"));
    assert_ok(ses_context_open(session, NULL, &context, &error));
    assert_int_equal(ses_context_count(context), 1);
    assert_string_equal(ses_context_event(context, 0)->id, "a");
    ses_context_close(context);
}

TEST(a_handle_of_another_log)
{
    ses_context *context = (ses_context *)(void *)&fixture;

    create_log(fixture, three);
    ses_session *session = must_get(fixture->store, &agent_key);
    raw_exec(fixture->path, "DELETE FROM events WHERE position & 4294967295 = 3;"
                            "UPDATE sessions SET version = version + 1, event_count = 2");
    assert_code(SES_STALE, ses_context_open(session, NULL, &context, &error));
    assert_null(context);
    assert_message("refresh the handle");
    assert_int_equal(error.version, ses_session_version(session) + 1);
    must_refresh(session);
    assert_ok(ses_context_open(session, NULL, &context, &error));
    assert_int_equal(ses_context_count(context), 2);
    ses_context_close(context);
    must_delete(fixture->store, &agent_key);
    assert_code(SES_NOTFOUND, ses_context_open(session, NULL, &context, &error));
    create_log(fixture, three);
    assert_code(SES_STALE, ses_context_open(session, NULL, &context, &error));
    assert_null(context);
}

TEST(a_context_outlives_its_store)
{
    ses_context *context = NULL;

    create_log(fixture, three);
    ses_session *session = must_get(fixture->store, &agent_key);
    assert_ok(ses_context_open(session, NULL, &context, &error));
    ses_session_close(session);
    must_delete(fixture->store, &agent_key);
    fixture_reopen(fixture);
    assert_int_equal(ses_context_count(context), 3);
    assert_string_equal(ses_context_event(context, 2)->id, "c");
    ses_context_close(context);
    ses_context_close(NULL);
}

TEST(wrong_calls_are_refused)
{
    const ses_key bad = {"app", "user", ""};
    const ses_context_options unknown = {.size = sizeof unknown, .flags = 0x80};
    const ses_context_options unsized = {.size = 0};
    ses_context *context = (ses_context *)(void *)&fixture;
    ses_store *store = fixture->store;

    create_log(fixture, three);
    ses_session *session = must_get(store, &agent_key);
    assert_code(SES_MISUSE, ses_context_open(NULL, NULL, &context, &error));
    assert_null(context);
    assert_code(SES_MISUSE, ses_context_open(session, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_context_open(session, &unknown, &context, &error));
    assert_code(SES_MISUSE, ses_context_open(session, &unsized, &context, &error));
    assert_code(SES_MISUSE, ses_context_open_by_key(NULL, &agent_key, NULL, &context, &error));
    assert_code(SES_MISUSE, ses_context_open_by_key(store, NULL, NULL, &context, &error));
    assert_code(SES_INVALID, ses_context_open_by_key(store, &bad, NULL, &context, &error));
    assert_null(context);
}

TEST(damaged_bodies_are_corrupt)
{
    static const char *const bodies[] = {"x",
                                         "{",
                                         "[]",
                                         "{} {}",
                                         "{\"content\":{\"parts\":[}}",
                                         "{\"actions\":{\"compaction\":{\"startTimestamp\":}}}"};
    ses_context *context = NULL;

    create_log(fixture, three);
    raw_exec(fixture->path, "DROP TRIGGER guard_events_update");
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        char sql[200];
        snprintf(sql, sizeof sql,
                 "UPDATE events SET body = '%s', id_at = 'b', invocation_at = ''"
                 " WHERE position & 4294967295 = 2",
                 bodies[i]);
        raw_exec(fixture->path, sql);
        for (unsigned flags = 0; flags <= (SES_CONTEXT_VISIBLE | SES_CONTEXT_LOG_ORDER); flags++) {
            const ses_context_options options = {.size = sizeof options, .flags = flags};
            assert_code(SES_CORRUPT,
                        ses_context_open_by_key(fixture->store, &agent_key, &options, &context, &error));
            assert_message("the stored event 2");
            assert_null(context);
        }
    }
}

/* ------------------------------------------------------------------------------------- places at random */

/* An event at a time; a compaction if `to` is not 0. */
struct timed {
    int time, from, to;
};

enum { MOST_TIMED = 12 };

static bool counts(const struct timed *events, int count, int at)
{
    const struct timed *own = &events[at];

    for (int i = 0; i < count; i++) {
        const struct timed *other = &events[i];
        const bool is_equal = other->from == own->from && other->to == own->to;
        if (i != at && other->to > 0 && other->from <= own->from && other->to >= own->to &&
            (!is_equal || i > at))
            return false;
    }
    return own->to > 0;
}

static bool is_replaced(const struct timed *events, int count, int at, bool in_log_order)
{
    for (int i = in_log_order ? at + 1 : 0; i < count; i++) {
        if (counts(events, count, i) && events[at].time >= events[i].from && events[at].time <= events[i].to)
            return true;
    }
    return false;
}

/* Twice the number of the event after which the summary comes. */
static int order_of(const struct timed *events, int at, bool in_log_order)
{
    int earlier = 0;

    if (events[at].to == 0 || !in_log_order)
        return in_log_order ? 2 * at + 1 : events[at].to > 0 ? events[at].to : events[at].time;
    for (int i = at - 1; i >= 0; i--) {
        if (events[i].time >= events[at].from && events[i].time <= events[at].to)
            return 2 * i + 2;
        if (events[i].time < events[at].from && earlier == 0)
            earlier = 2 * i + 2;
    }
    return earlier;
}

/* The ids as context_ids has them. */
static const char *expected_ids(const struct timed *events, int count, bool in_log_order)
{
    static char text[1000];
    bool is_compacted = in_log_order;
    size_t len = 0;

    text[0] = '\0';
    for (int i = 0; i < count; i++)
        is_compacted = is_compacted || events[i].to > 0;
    for (int order = 0; order < 2 * MOST_TIMED + 10; order++) {
        for (int i = 0; i < count; i++) {
            const bool is_there =
                events[i].to > 0 ? counts(events, count, i) : !is_replaced(events, count, i, in_log_order);
            if (is_there && (is_compacted ? order_of(events, i, in_log_order) : i) == order)
                len += (size_t)snprintf(text + len, sizeof text - len, events[i].to > 0 ? " [%d]" : " %d", i);
        }
    }
    return text;
}

TEST(random_places)
{
    static const char *const none[] = {NULL};
    uint64_t seed = 7;

    for (int round = 0; round < 300; round++) {
        const int count = 1 + (int)random_below(&seed, MOST_TIMED);
        struct timed events[MOST_TIMED];
        create_log(fixture, none);
        for (int i = 0; i < count; i++) {
            char event[200];
            events[i] = (struct timed){.time = 1 + (int)random_below(&seed, 20)};
            snprintf(event, sizeof event, "{'id':'%d','timestamp':%d}", i, events[i].time);
            if (random_below(&seed, 3) == 0) {
                events[i].from = 1 + (int)random_below(&seed, 18);
                events[i].to = events[i].from + (int)random_below(&seed, 5);
                snprintf(event, sizeof event, "{'id':'%d','timestamp':%d," SUMMARY("%d", "%d") "}", i,
                         events[i].time, events[i].from, events[i].to);
            }
            must_append_by_key(fixture->store, &agent_key, Q(event));
        }
        assert_string_equal(context_ids(fixture, 0), expected_ids(events, count, false));
        assert_string_equal(context_ids(fixture, SES_CONTEXT_LOG_ORDER), expected_ids(events, count, true));
    }
}

/* Thousands of compactions over thousands of calls of one id: were anything done for each with each, it would
 * not end. */
TEST(a_long_log)
{
    enum { MANY = 20000 };
    static const char *const none[] = {NULL};
    static ses_text events[MANY];

    create_log(fixture, none);
    for (int i = 0; i < MANY; i++) {
        char event[300];
        if (i % 4 == 3)
            snprintf(event, sizeof event, "{'id':'e%d','timestamp':%d," SUMMARY("%d", "%d") "}", i, i, i - 7,
                     i - 2);
        else if (i % 4 == 2)
            snprintf(event, sizeof event, "{'id':'e%d','timestamp':%d," RESPONSE("x") "}", i, i);
        else
            snprintf(event, sizeof event, "{'id':'e%d','timestamp':%d," CALL("x") "}", i, i);
        events[i] = (ses_text){Q(event), SES_NUL};
    }
    assert_ok(ses_append_batch_by_key(fixture->store, &agent_key, events, MANY, NULL, NULL, &error));
    for (unsigned order = 0; order <= SES_CONTEXT_LOG_ORDER; order += SES_CONTEXT_LOG_ORDER) {
        ses_context *context = open_context(fixture->store, &agent_key, SES_CONTEXT_VISIBLE | order);
        assert_int_equal(ses_context_count(context), MANY / 4 + 2);
        ses_context_close(context);
    }
}
