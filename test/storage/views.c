/* The views of calls, tokens, titles and labels. (program/sqlite3 has the rest.) */
#include "open.h"

static const ses_key key = {"app", "user", "one"};

#define CALL(id, name, args) "{\"functionCall\":{" id "\"name\":\"" name "\",\"args\":" args "}}"
#define ANSWER(id, name, response) \
    "{\"function_response\":{" id "\"name\":\"" name "\",\"response\":" response "}}"
#define ID(id) "\"id\":\"" id "\","

/* Appends an event at `seconds`, with these parts and other members. */
static void append(const struct fixture *fixture, double seconds, const char *parts, const char *more)
{
    char event[2000];
    snprintf(event, sizeof event, "{\"author\":\"agent\",\"timestamp\":%.3f,\"content\":{\"parts\":[%s]}%s}",
             1700000000 + seconds, parts, more);
    must_append_by_key(fixture->store, &key, event);
}

static int views_setup(void **state)
{
    int failed = fixture_setup(state);
    const struct fixture *fixture = *state;
    must_create(fixture->store, &key, NULL);
    return failed;
}

#define CALLS "SELECT seq, id, name, arguments, answer, duration FROM tool_calls"

TEST_OF(views_setup, calls_with_ids)
{
    append(fixture, 0, "{\"text\":\"x\"}," CALL(ID("1"), "f", "{\"x\":1.50}") "," CALL(ID("2"), "g", "{}"),
           "");
    append(fixture, 1, ANSWER(ID("2"), "g", "{\"status\":\"pending\"}"), "");
    append(fixture, 1.25, ANSWER(ID("1"), "f", "{\"y\":2}"), "");
    append(fixture, 9, ANSWER(ID("2"), "g", "{\"done\":true}"), "");
    append(fixture, 10, CALL(ID("1"), "f", "{}"), ""); /* the id again */
    append(fixture, 11, ANSWER(ID("3"), "f", "{}"), "");
    assert_query(fixture->path, CALLS,
                 "1|1|f|{\"x\":1.50}|{\"y\":2}|1.25\n1|2|g|{}|{\"done\":true}|9.0\n5|1|f|{}|NULL|NULL\n");
}

TEST_OF(views_setup, calls_without_ids)
{
    append(fixture, 0, CALL("", "f", "{\"n\":1}") "," CALL("", "g", "{}") "," CALL("", "f", "{\"n\":2}"), "");
    append(fixture, 1, ANSWER("", "f", "{\"of\":1}"), "");
    append(fixture, 2, ANSWER(ID(""), "f", "{\"of\":2}") "," CALL(ID(""), "f", "{\"n\":3}"), "");
    assert_query(
        fixture->path, CALLS,
        "1|NULL|f|{\"n\":1}|{\"of\":1}|1.0\n1|NULL|g|{}|NULL|NULL\n1|NULL|f|{\"n\":2}|{\"of\":2}|2.0\n"
        "3|NULL|f|{\"n\":3}|NULL|NULL\n");
}

TEST_OF(views_setup, odd_events_break_no_view)
{
    static const char *const events[] = {
        "{'content':'text'}",
        "{'content':{'parts':'text'}}",
        ("{'content':{'parts':[1,null,'text',[],{'functionCall':'text'},{'functionCall':{'name':"
         "5}}]}}"),
        "{'content':{'parts':{'text':'x'}},'usageMetadata':'text'}",
        "{'usageMetadata':{'promptTokenCount':'text','totalTokenCount':{}}}",
    };
    static const char *const views[] = {"merged_state", "event_log", "transcript",
                                        "tool_calls",   "usage",     "session_overview"};

    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        must_append_by_key(fixture->store, &key, Q(events[i]));
    }
    for (size_t i = 0; i < sizeof views / sizeof views[0]; i++) {
        char sql[100];
        snprintf(sql, sizeof sql, "SELECT * FROM %s", views[i]);
        free(raw_text(fixture->path, sql));
    }
    assert_query(fixture->path, CALLS, "3|NULL|5|NULL|NULL|NULL\n");
}

TEST_OF(views_setup, usage)
{
    append(fixture, 0, "",
           Q(",'modelVersion':'m1','usageMetadata':{'promptTokenCount':10,'candidatesTokenCount':2,"
             "'totalTokenCount':12}"));
    append(fixture, 1, "",
           Q(",'model_version':'m1','usage_metadata':{'prompt_token_count':1,'thoughts_token_count':4,"
             "'tool_use_prompt_token_count':6,'cached_content_token_count':3,'total_token_count':5}"));
    append(fixture, 86400, "", Q(",'usageMetadata':{'totalTokenCount':7}"));
    append(fixture, 86400, "", "");
    assert_query(fixture->path, "SELECT * FROM usage",
                 "app|user|one||2023-11-15|1|NULL|NULL|NULL|NULL|NULL|7\n"
                 "app|user|one|m1|2023-11-14|2|11|3|2|4|6|17\n");
}

/* A value that is not a count is ignored, and no sum is too large. */
TEST_OF(views_setup, usage_with_odd_counts)
{
    for (int i = 0; i < 1100; i++)
        append(fixture, i, "",
               Q(",'modelVersion':'huge','usageMetadata':{'totalTokenCount':9007199254740991}"));
    append(fixture, 0, "",
           Q(",'modelVersion':'odd','usageMetadata':{'totalTokenCount':9223372036854775807,"
             "'promptTokenCount':'12 apples','thoughtsTokenCount':1.5,'cachedContentTokenCount':-1,"
             "'candidatesTokenCount':2.0,'toolUsePromptTokenCount':true}"));
    append(fixture, 0, "", Q(",'modelVersion':'odd','usage_metadata':{}"));
    append(fixture, 0, "",
           Q(",'modelVersion':'half','usageMetadata':'text','usage_metadata':{'total_token_count':3}"));
    assert_query(fixture->path,
                 "SELECT model, calls, prompt, cached, candidates, thoughts, tool_use, total FROM usage",
                 "half|1|NULL|NULL|NULL|NULL|NULL|3\n"
                 "huge|1100|NULL|NULL|NULL|NULL|NULL|9223372036854775807\n"
                 "odd|2|NULL|NULL|2|NULL|NULL|NULL\n");
}

TEST_OF(views_setup, titles_and_labels)
{
    raw_exec(fixture->path, "INSERT INTO session_details (session_id, title) VALUES (1, 'A title');"
                            "INSERT INTO session_labels VALUES (1, 'b', '2', 1), (1, 'a', '1', 1);");
    assert_query(fixture->path, "SELECT session, title, labels, events FROM session_overview",
                 "one|A title|a=1, b=2|0\n");
}

TEST_OF(views_setup, event_log)
{
    must_append_by_key(fixture->store, &key,
                       Q("{'id':'e','invocationId':'i','author':'a','branch':'b','timestamp':-1.5}"));
    assert_query(fixture->path, "SELECT seq, time, id, invocation_id, author, branch, time_us FROM event_log",
                 "1|1969-12-31T23:59:58.500000Z|e|i|a|b|-1500000\n");
}

TEST_OF(views_setup, rewinds_in_the_event_log)
{
    static const char *const events[] = {
        "{'id':'a','invocationId':'1'}",
        "{'id':'b','invocationId':'2'}",
        "{'id':'c','invocationId':'3','actions':{'rewindBeforeInvocationId':'2'}}",
        "{'id':'d','invocationId':'4','actions':{'rewindBeforeInvocationId':'none'}}",
        "{'id':'e','actions':{'compaction':{'startTimestamp':1,'endTimestamp':2}}}",
    };

    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
        must_append_by_key(fixture->store, &key, Q(events[i]));
    assert_query(fixture->path, "SELECT seq, takes_back_from FROM event_log",
                 "1|NULL\n2|NULL\n3|2\n4|4\n5|NULL\n");
}

#define HISTORY "SELECT pruned, parent, expires FROM session_overview"

TEST_OF(views_setup, history_in_the_overview)
{
    assert_query(fixture->path, HISTORY, "0|NULL|NULL\n");
    raw_exec(fixture->path,
             "UPDATE sessions SET base_seq = 7, expires_us = 1700000000999999;"
             "INSERT INTO session_details (session_id, parent_user, parent_session, parent_seq)"
             " VALUES (1, 'eve', 'old', 5)");
    assert_query(fixture->path, HISTORY, "7|eve/old@5|2023-11-14T22:13:20Z\n");
}
