/* The function calls of a session that have no response: the vectors (vectors/pending.json), and what they do
 * not ask. */
#include <cjson/cJSON.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent.h"
#include "open.h"

static ses_pending *open_by_key(ses_store *store, const ses_key *key)
{
    ses_pending *pending = NULL;
    ses_error error;
    assert_ok(ses_pending_open_by_key(store, key, NULL, &pending, &error));
    return pending;
}

static void assert_text(ses_text text, const char *expected)
{
    if (!expected) {
        assert_null(text.text);
        return;
    }
    assert_int_equal(text.len, strlen(expected));
    assert_memory_equal(text.text, expected, text.len);
}

/* ------------------------------------------------------------------------------------------ the vectors */

static const cJSON *member(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static void check_pending(const ses_pending *pending, const char *name, const cJSON *expected)
{
    const cJSON *one = NULL;
    size_t count = 0;

    cJSON_ArrayForEach(one, expected)
    {
        const cJSON *id = member(one, "id");
        if (count >= ses_pending_count(pending))
            fail_msg("%s: there are only %zu pending calls", name, count);
        const ses_function *call = ses_pending_call(pending, count);
        assert_int_equal(ses_pending_event(pending, count)->seq, member(one, "seq")->valueint);
        assert_text(call->name, member(one, "name")->valuestring);
        if (cJSON_IsString(id))
            assert_text(call->id, id->valuestring);
        else
            assert_true(call->id.len == 0);
        count++;
    }
    if (count != ses_pending_count(pending))
        fail_msg("%s: there are %zu pending calls, not %zu", name, ses_pending_count(pending), count);
}

static void check_case(ses_store *store, const cJSON *one)
{
    const ses_key key = {"vectors", "user", member(one, "name")->valuestring};
    ses_session *session = must_open_new(store, &key, NULL);
    const cJSON *event = NULL;
    ses_error error;

    cJSON_ArrayForEach(event, member(one, "events"))
    {
        char *text = cJSON_PrintUnformatted(event);
        must_append(session, text);
        free(text);
    }
    ses_pending *pending = open_by_key(store, &key);
    check_pending(pending, key.session, member(one, "pending"));
    ses_pending_close(pending);
    assert_ok(ses_pending_open(session, NULL, &pending, &error));
    check_pending(pending, key.session, member(one, "pending"));
    ses_pending_close(pending);
    ses_session_close(session);
}

TEST(the_vectors)
{
    const cJSON *one = NULL;
    int count = 0;
    char *text = support_test_data("vectors/pending.json", NULL);

    if (!text)
        skip();
    cJSON *vectors = cJSON_Parse(text);
    assert_non_null(vectors);
    cJSON_ArrayForEach(one, member(vectors, "cases"))
    {
        check_case(fixture->store, one);
        count++;
    }
    assert_int_equal(count, 43);
    cJSON_Delete(vectors);
    free(text);
}

/* ------------------------------------------------------------------------------------------- the calls */

#define CALL(id, name) "{'functionCall':{'id':'" id "','name':'" name "','args':{'a':1.0}}}"
#define RESPONSE(id, name) "{'functionResponse':{'id':'" id "','name':'" name "'}}"
#define PARTS(parts) "{'author':'agent','invocationId':'i','content':{'parts':[" parts "]}}"

TEST(a_call_is_shown_with_its_event)
{
    ses_session *session = agent_session(fixture, NULL);

    must_append(session,
                Q("{'id':'e','author':'agent','branch':'b','invocationId':'i','timestamp':5,'content':{"
                  "'parts':[" CALL("1", "f") ",{'function_call':{'name':'\\u0067'}}]}}"));
    ses_pending *pending = open_by_key(fixture->store, &agent_key);
    assert_int_equal(ses_pending_count(pending), 2);
    assert_text(ses_pending_call(pending, 0)->id, "1");
    assert_text(ses_pending_call(pending, 0)->name, "f");
    assert_text(ses_pending_call(pending, 0)->json, Q("{'a':1.0}"));
    assert_text(ses_pending_call(pending, 1)->id, NULL);
    assert_text(ses_pending_call(pending, 1)->name, "g");
    assert_text(ses_pending_call(pending, 1)->json, NULL);
    const ses_event *event = ses_pending_event(pending, 1);
    assert_ptr_equal(event, ses_pending_event(pending, 0));
    assert_int_equal(event->seq, 1);
    assert_int_equal(event->time_us, 5000000);
    assert_string_equal(event->id, "e");
    assert_string_equal(event->author, "agent");
    assert_string_equal(event->branch, "b");
    assert_string_equal(event->invocation_id, "i");
    assert_string_equal(event->json, ses_session_event(session, 0)->json);
    assert_int_equal(ses_pending_is_long_running(pending, 0), 0);
    assert_null(ses_pending_call(pending, 2));
    assert_null(ses_pending_event(pending, 2));
    assert_int_equal(ses_pending_is_long_running(pending, 2), 0);
    ses_pending_close(pending);
}

/* As "name/id" in order, long-running ones with a star. */
static void assert_pending(ses_store *store, const char *expected)
{
    ses_pending *pending = open_by_key(store, &agent_key);
    char shown[400] = "";

    for (size_t i = 0; i < ses_pending_count(pending); i++) {
        const ses_function *call = ses_pending_call(pending, i);
        size_t len = strlen(shown);
        snprintf(shown + len, sizeof shown - len, "%s%.*s/%.*s%s", i > 0 ? " " : "", (int)call->name.len,
                 call->name.len ? call->name.text : "", (int)call->id.len, call->id.len ? call->id.text : "",
                 ses_pending_is_long_running(pending, i) ? "*" : "");
    }
    assert_string_equal(shown, expected);
    ses_pending_close(pending);
}

TEST(calls_without_ids_are_answered_by_name_in_order)
{
    ses_session *session = agent_session(fixture, NULL);

    must_append(session, Q(PARTS("{'functionCall':{'name':'f','args':{'n':1}}},{'functionCall':{'name':'g'}},"
                                 "{'functionCall':{'name':'f','args':{'n':2}}},{'functionCall':{}}")));
    must_append(session, Q(PARTS("{'functionResponse':{'name':'f'}}")));
    assert_pending(fixture->store, "g/ f/ /");
    ses_pending *pending = open_by_key(fixture->store, &agent_key);
    assert_text(ses_pending_call(pending, 1)->json, Q("{'n':2}"));
    ses_pending_close(pending);
    must_append(session, Q(PARTS("{'functionResponse':{'id':'','name':'f'}},{'functionResponse':{}}")));
    assert_pending(fixture->store, "g/");
    must_append(session,
                Q(PARTS("{'functionResponse':{'name':'f'}},{'functionResponse':{'id':'g','name':'g'}}")));
    assert_pending(fixture->store, "g/");
}

TEST(a_response_answers_every_earlier_call_of_its_id)
{
    ses_session *session = agent_session(fixture, NULL);

    must_append(session, Q(PARTS(CALL("1", "f") "," CALL("2", "f") "," CALL("1", "g"))));
    must_append(session, Q(PARTS(CALL("1", "h") "," RESPONSE("1", "x"))));
    assert_pending(fixture->store, "f/2 h/1");
    must_append(session, Q(PARTS(RESPONSE("2", "x"))));
    assert_pending(fixture->store, "h/1");
}

TEST(long_running_calls_are_marked)
{
    ses_session *session = agent_session(fixture, NULL);

    must_append(session, Q(PARTS(CALL("1", "early"))));
    must_append(session,
                Q("{'content':{'parts':[" CALL("1", "f") "," CALL("2", "g") "," CALL("\\u0033", "h") "," CALL(
                    "1", "k") "]},'longRunningToolIds':['\\u0031','3','1','none','',null,7]}"));
    must_append(session, Q("{'content':{'parts':[" CALL("4", "f") "]},'long_running_tool_ids':['4']}"));
    must_append(session, Q("{'content':{'parts':[" CALL("5", "f") "]},'longRunningToolIds':null}"));
    assert_pending(fixture->store, "early/1 f/1* g/2 h/3* k/1* f/4* f/5");
}

TEST(an_id_that_utf8_cannot_express_is_compared_as_it_is_spelled)
{
    ses_session *session = agent_session(fixture, NULL);

    must_append(session, Q("{'content':{'parts':[" CALL("\\ud800", "f") "," CALL(
                             "\\ud801", "g") "]},'longRunningToolIds':['\\ud800']}"));
    assert_pending(fixture->store, "f/\\ud800* g/\\ud801");
    must_append(session, Q(PARTS(RESPONSE("\\ud801", "g"))));
    assert_pending(fixture->store, "f/\\ud800*");
}

TEST(only_live_events_count)
{
    const ses_point first = {.size = sizeof first, .kind = SES_POINT_SEQ, .seq = 1};
    ses_session *session = agent_session(fixture, NULL);

    must_append(session, Q("{'invocationId':'i1','content':{'parts':[" CALL("1", "f") "]}}"));
    must_append(session,
                Q("{'invocationId':'i2','content':{'parts':[" RESPONSE("1", "f") "," CALL("2", "g") "]}}"));
    assert_pending(fixture->store, "g/2");
    assert_ok(ses_rewind(session, &first, NULL, NULL, &error));
    assert_pending(fixture->store, "f/1");
}

TEST(parts_that_are_not_calls_are_passed_over)
{
    ses_session *session = agent_session(fixture, NULL);

    must_append(session, Q("{'content':{'parts':[{'functionCall':7},{'functionCall':{'id':5,'name':[]}},null,"
                           "{'functionResponse':'x'}]},'longRunningToolIds':{}}"));
    must_append(session, Q("{'content':'functionCall'}"));
    must_append(session, Q("{'content':{'parts':{'functionCall':{'id':'1'}}}}"));
    assert_pending(fixture->store, "/");
}

TEST(an_event_that_is_not_json_is_corrupt)
{
    ses_session *session = agent_session(fixture, NULL);
    ses_pending *pending = NULL;

    must_append(session, Q("{'id':'e'}"));
    sqlite3 *db = raw_open(fixture->path);
    assert_int_equal(sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL), SQLITE_OK);
    raw_run(db, "UPDATE events SET id_at = 'e', invocation_at = '', body = "
                "'{\"content\":{\"parts\":[{\"functionCall\":'");
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_code(SES_CORRUPT, ses_pending_open(session, NULL, &pending, &error));
    assert_null(pending);
    assert_message("stored event 1");
}

TEST(it_may_outlive_the_handle_and_the_store)
{
    ses_session *session = agent_session(fixture, NULL);
    ses_pending *pending = NULL;

    must_append(session, Q(PARTS(CALL("1", "f"))));
    assert_ok(ses_pending_open(session, NULL, &pending, &error));
    must_append(session, Q(PARTS(RESPONSE("1", "f"))));
    ses_session_close(session);
    ses_close(fixture->store);
    fixture->store = NULL;
    assert_int_equal(ses_pending_count(pending), 1);
    assert_text(ses_pending_call(pending, 0)->name, "f");
    ses_pending_close(pending);
    ses_pending_close(NULL);
}

/* ------------------------------------------------------------------------------------- what is refused */

TEST(wrong_arguments)
{
    const ses_key nobody = {"app", "user", "nobody"};
    const ses_key empty = {"app", "user", ""};
    const ses_call_options flags = {.size = sizeof flags, .flags = 1};
    ses_session *session = agent_session(fixture, NULL);
    ses_pending *pending = (ses_pending *)1;

    assert_code(SES_MISUSE, ses_pending_open(NULL, NULL, &pending, &error));
    assert_null(pending);
    assert_code(SES_MISUSE, ses_pending_open(session, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_pending_open(session, &flags, &pending, &error));
    assert_code(SES_MISUSE, ses_pending_open_by_key(NULL, &agent_key, NULL, &pending, &error));
    assert_code(SES_MISUSE, ses_pending_open_by_key(fixture->store, NULL, NULL, &pending, &error));
    assert_code(SES_INVALID, ses_pending_open_by_key(fixture->store, &empty, NULL, &pending, &error));
    assert_code(SES_NOTFOUND, ses_pending_open_by_key(fixture->store, &nobody, NULL, &pending, &error));
    must_delete(fixture->store, &agent_key);
    assert_code(SES_NOTFOUND, ses_pending_open(session, NULL, &pending, &error));
}

TEST(a_handle_of_another_time_is_stale)
{
    const ses_point start = {.size = sizeof start, .kind = SES_POINT_SEQ};
    ses_session *session = agent_session(fixture, NULL);
    ses_pending *pending = NULL;

    must_append_by_key(fixture->store, &agent_key, Q(PARTS(CALL("1", "f"))));
    assert_ok(ses_pending_open(session, NULL, &pending, &error)); /* it only lacks events */
    assert_int_equal(ses_pending_count(pending), 1);
    ses_pending_close(pending);
    assert_ok(ses_cut_by_key(fixture->store, &agent_key, &start, NULL, NULL, &error));
    assert_code(SES_STALE, ses_pending_open(session, NULL, &pending, &error));
    assert_int_equal(error.version, 2);
    must_refresh(session);
    assert_ok(ses_pending_open(session, NULL, &pending, &error));
    ses_pending_close(pending);
    must_delete(fixture->store, &agent_key);
    must_create(fixture->store, &agent_key, NULL);
    assert_code(SES_STALE, ses_pending_open(session, NULL, &pending, &error));
}

/* ---------------------------------------------------------------------------------------- interrupted */

TEST(the_response_that_says_interrupted)
{
    const ses_function nameless = {{"1", 1}, {NULL, 0}, {NULL, 0}};
    const ses_function named = {{NULL, 0}, {"f", 1}, {"{}", 2}};
    ses_builder *builder = NULL;

    assert_ok(ses_builder_open(fixture->store, "agent", "i", &builder, &error));
    assert_code(SES_MISUSE, ses_builder_interrupted(builder, NULL, &error));
    assert_code(SES_MISUSE, ses_builder_interrupted(NULL, &named, &error));
    assert_ok(ses_builder_interrupted(builder, &nameless, &error));
    assert_ok(ses_builder_interrupted(builder, &named, &error));
    assert_non_null(strstr(ses_builder_json(builder, NULL),
                           Q("{'functionResponse':{'id':'1','name':'','response':{'error':'interrupted'}}},"
                             "{'functionResponse':{'name':'f','response':{'error':'interrupted'}}}")));
    assert_non_null(strstr(ses_builder_json(builder, NULL), Q(",'errorCode':'INVOCATION_ABORTED',")));
    ses_builder_close(builder);
}

static void answer_all(ses_store *store, int expected)
{
    ses_error error;
    assert_code(expected, ses_pending_answer_by_key(store, &agent_key, NULL, NULL, &error));
}

/* In the child: stores calls, and is killed before the results are there. */
static void call_and_die(const char *path)
{
    ses_store *store = NULL;

    if (ses_open(path, NULL, &store, NULL) == SES_OK &&
        ses_create(store, &agent_key, NULL, 0, NULL, NULL, NULL) == SES_OK &&
        ses_append_by_key(
            store, &agent_key,
            Q("{'author':'agent','invocationId':'i','longRunningToolIds':['3'],'content':{'parts':[" CALL(
                "1", "f") ",{'functionCall':{'name':'g'}}," CALL("3", "slow") "]}}"),
            SES_NUL, NULL, NULL, NULL) == SES_OK)
        (void)raise(SIGKILL);
    _exit(1);
}

FOLDER_TEST(calls_that_a_crash_has_left_are_answered)
{
    int status = 0;

    fflush(NULL);
    pid_t child = fork();
    assert_int_not_equal(child, -1);
    if (child == 0)
        call_and_die(folder->path);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    ses_store *store = must_open(folder->path, NULL);
    assert_pending(store, "f/1 g/ slow/3*");
    answer_all(store, SES_OK);
    assert_pending(store, "slow/3*");
    answer_all(store, SES_UNCHANGED);
    ses_session *session = must_get(store, &agent_key);
    assert_int_equal(ses_session_event_count(session), 2);
    assert_string_equal(ses_session_event(session, 1)->author, "agent");
    assert_string_equal(ses_session_event(session, 1)->invocation_id, "i");
    ses_session_close(session);
    ses_close(store);
}

/* ------------------------------------------------------------------------------------------- many calls */

/* A list of parts, each as printed with a number; free it. */
static char *many_parts(const char *before, const char *part, int count, const char *after)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    fputs(before, out);
    for (int i = 0; i < count; i++) {
        fputs(i > 0 ? "," : "", out);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        fprintf(out, part, i);
#pragma GCC diagnostic pop
    }
    fputs(after, out);
    assert_int_equal(fclose(out), 0);
    return text;
}

/* Calls of one name, of one id, and of many: a lookup never searches. */
TEST(very_many_calls_take_no_time)
{
    /* The sanitizers look at each access, which fewer calls show as well; the time is that of the library
     * without them. */
    enum { COUNT = UNDER_ASAN || UNDER_TSAN ? 20000 : 200000 };
    static const char *const parts[][2] = {
        {"{\"functionCall\":{\"name\":\"f\"},\"x\":%d}", "{\"functionResponse\":{\"name\":\"f\"},\"x\":%d}"},
        {"{\"functionCall\":{\"id\":\"1\"},\"x\":%d}", "{\"functionResponse\":{\"id\":\"1\"},\"x\":%d}"},
        {"{\"functionCall\":{\"id\":\"%d\"}}", "{\"functionResponse\":{\"id\":\"%d\"}}"}};
    const clock_t begun = clock(); /* of this process, however busy the machine is */

    must_create(fixture->store, &agent_key, NULL);
    for (int i = 0; i < 3; i++) {
        char *calls = many_parts("{\"content\":{\"parts\":[", parts[i][0], COUNT, "]}}");
        char *responses = many_parts("{\"content\":{\"parts\":[", parts[i][1], COUNT, "]}}");
        must_append_by_key(fixture->store, &agent_key, calls);
        ses_pending *pending = open_by_key(fixture->store, &agent_key);
        assert_int_equal(ses_pending_count(pending), COUNT);
        ses_pending_close(pending);
        must_append_by_key(fixture->store, &agent_key, responses);
        assert_pending(fixture->store, "");
        free(calls);
        free(responses);
    }
    assert_in_range((clock() - begun) / CLOCKS_PER_SEC, 0, 60);
}
