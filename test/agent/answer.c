/* Answering the pending calls of a session, once. */
#include <limits.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent.h"
#include "open.h"

#define CALL(id, name) "{'functionCall':{'id':'" id "','name':'" name "'}}"
#define RESPONSE(id) "{'functionResponse':{'id':'" id "','name':'f','response':{}}}"
#define PARTS(parts) "{'author':'agent','invocationId':'i','content':{'parts':[" parts "]}}"

static size_t pending_count(ses_store *store)
{
    ses_pending *pending = NULL;
    ses_error error;

    assert_ok(ses_pending_open_by_key(store, &agent_key, NULL, &pending, &error));
    const size_t count = ses_pending_count(pending);
    ses_pending_close(pending);
    return count;
}

/* The newest event of the handle ends with this, after its timestamp and id. */
static void assert_newest(const ses_session *session, const char *expected)
{
    const ses_event *event = ses_session_event(session, ses_session_event_count(session) - 1);
    const char *content = strstr(event->json, "\"content\"");

    assert_non_null(content);
    assert_string_equal(content, expected);
}

/* --------------------------------------------------------------------------------------- the callback */

/* The questions to a callback, and how it answers. */
struct tool {
    ses_store *store;
    char asked[200];       /* names, in order; a star follows a long-running call */
    const char *answers;   /* the names that it answers */
    const char *meanwhile; /* an event that it appends by key, once */
    int code;              /* that it returns instead */
    bool with_text;        /* also then */
};

static int use_tool(void *context, const ses_function *call, const ses_event *event, int is_long_running,
                    char **response, size_t *len, ses_error *error)
{
    struct tool *tool = context;
    char name[32];

    snprintf(name, sizeof name, "%.*s", (int)call->name.len, call->name.text);
    snprintf(tool->asked + strlen(tool->asked), sizeof tool->asked - strlen(tool->asked), "%s%s ", name,
             is_long_running ? "*" : "");
    assert_true(event->seq > 0);
    if (tool->meanwhile)
        must_append_by_key(tool->store, &agent_key, tool->meanwhile);
    tool->meanwhile = NULL;
    if (tool->code < 0)
        snprintf(error->message, sizeof error->message, "the tool is broken");
    if (tool->code != SES_OK && !tool->with_text)
        return tool->code;
    if (!strstr(tool->answers, name))
        return SES_ABSENT;
    *len = strlen(name) + 9;
    *response = ses_text_make(tool->store, *len);
    assert_non_null(*response);
    snprintf(*response, *len + 1, "{\"of\":\"%s\"}", name);
    *len = strlen(*response);
    return tool->code;
}

static ses_answer_options answers_of(struct tool *tool)
{
    return (ses_answer_options){
        .size = sizeof(ses_answer_options), .answer = use_tool, .answer_context = tool};
}

/* ------------------------------------------------------------------------------------------- the tests */

TEST(calls_are_answered_as_interrupted)
{
    ses_session *session = agent_session(fixture, NULL);
    int64_t answered = -1;

    must_append(session,
                Q("{'author':'agent','invocationId':'i','branch':'a.b','isolationScope':'s','content':{"
                  "'parts':[" CALL("1", "f") ",{'functionCall':{}}," CALL(
                      "2", "slow") "]},'longRunningToolIds':['2']}"));
    must_append(session, Q("{'content':{'parts':[" CALL("3", "g") "]}}"));
    const int64_t version = ses_session_version(session);
    assert_ok(ses_pending_answer(session, NULL, &answered, &error));
    assert_int_equal(answered, 3);
    assert_int_equal(pending_count(fixture->store), 1);
    assert_int_equal(ses_session_version(session), version + 2);
    assert_newest(session,
                  Q("'content':{'parts':[{'functionResponse':{'id':'3','name':'g','response':{'error':"
                    "'interrupted'}}}],'role':'user'},'errorCode':'INVOCATION_ABORTED','author':'user'}"));
    const char *first = ses_session_event(session, 2)->json;
    assert_non_null(strstr(
        first,
        Q("'content':{'parts':[{'functionResponse':{'id':'1','name':'f','response':{'error':'interrupted'}}},"
          "{'functionResponse':{'name':'','response':{'error':'interrupted'}}}],'role':'user'},"
          "'errorCode':'INVOCATION_ABORTED','isolationScope':'s','invocationId':'i','author':'agent',"
          "'branch':'a.b'}")));
    assert_code(SES_UNCHANGED, ses_pending_answer(session, NULL, &answered, &error));
    assert_int_equal(answered, 0);
    assert_int_equal(ses_session_version(session), version + 2);
}

TEST(a_callback_answers_calls_and_leaves_others)
{
    struct tool tool = {.store = fixture->store, .answers = "f h"};
    const ses_answer_options options = answers_of(&tool);
    ses_session *session = agent_session(fixture, NULL);
    int64_t answered = -1;

    must_append(session, Q("{'author':'agent','content':{'parts':[" CALL("1", "f") "," CALL(
                             "2", "g") "," CALL("3", "h") "]},'longRunningToolIds':['3']}"));
    assert_ok(ses_pending_answer_by_key(fixture->store, &agent_key, &options, &answered, &error));
    assert_string_equal(tool.asked, "f g h* ");
    assert_int_equal(answered, 2);
    assert_int_equal(pending_count(fixture->store), 1);
    must_refresh(session);
    assert_newest(session,
                  Q("'content':{'parts':[{'functionResponse':{'id':'1','name':'f','response':{'of':'f'}}},{"
                    "'functionResponse':{'id':'3','name':'h','response':{'of':'h'}}}],'role':'user'},"
                    "'author':'agent'}"));
}

TEST(responses_that_are_given_answer_calls_of_their_ids)
{
    const ses_function responses[] = {{{"2", 1}, {NULL, 0}, {Q("{'ok':true}"), SES_NUL}},
                                      {{"", 0}, {"bare", SES_NUL}, {NULL, 0}},
                                      {{NULL, 0}, {"f", SES_NUL}, {NULL, 0}}, /* f has an id */
                                      {{"gone", SES_NUL}, {NULL, 0}, {NULL, 0}}};
    const ses_answer_options options = {.size = sizeof options, .responses = responses, .response_count = 4};
    ses_session *session = agent_session(fixture, NULL);
    int64_t answered = -1;

    must_append(session, Q(PARTS(CALL("1", "f") "," CALL("2", "g") ",{'functionCall':{'name':'bare'}}")));
    assert_ok(ses_pending_answer(session, &options, &answered, &error));
    assert_int_equal(answered, 2);
    assert_newest(session,
                  Q("'content':{'parts':[{'functionResponse':{'id':'2','name':'g','response':{'ok':true}}},{"
                    "'functionResponse':{'name':'bare','response':{}}}],'role':'user'},'invocationId':'i',"
                    "'author':'agent'}"));
    assert_code(SES_UNCHANGED, ses_pending_answer(session, &options, &answered, &error));
    assert_int_equal(pending_count(fixture->store), 1);
}

TEST(a_callback_is_asked_once_if_another_writer_appends)
{
    struct tool tool = {.store = fixture->store, .answers = "f g"};
    const ses_answer_options options = answers_of(&tool);
    ses_session *session = agent_session(fixture, NULL);
    int64_t answered = 0;

    must_append(session, Q(PARTS(CALL("1", "f") "," CALL("2", "g") "," CALL("3", "h"))));
    tool.meanwhile = Q(PARTS(CALL("4", "late")));
    assert_ok(ses_pending_answer(session, &options, &answered, &error));
    assert_string_equal(tool.asked, "f g h late ");
    assert_int_equal(answered, 2);
    assert_int_equal(ses_session_event_count(session), 3);
}

TEST(a_call_that_was_answered_meanwhile_is_not_answered_twice)
{
    struct tool tool = {.store = fixture->store, .answers = "f g"};
    const ses_answer_options options = answers_of(&tool);
    ses_session *session = agent_session(fixture, NULL);
    int64_t answered = 0;

    must_append(session, Q(PARTS(CALL("1", "f") "," CALL("2", "g"))));
    tool.meanwhile = Q(PARTS(RESPONSE("1")));
    assert_ok(ses_pending_answer(session, &options, &answered, &error));
    assert_int_equal(answered, 1);
    assert_newest(session,
                  Q("'content':{'parts':[{'functionResponse':{'id':'2','name':'g','response':{'of':'g'}}}],"
                    "'role':'user'},'invocationId':'i','author':'agent'}"));
    must_append(session, Q(PARTS(CALL("3", "f"))));
    tool.meanwhile = Q(PARTS(RESPONSE("3")));
    assert_code(SES_UNCHANGED, ses_pending_answer(session, &options, &answered, &error));
    assert_int_equal(pending_count(fixture->store), 0);
    assert_int_equal(ses_session_event_count(session), 5);
}

TEST(one_response_answers_all_calls_of_an_id)
{
    struct tool tool = {.store = fixture->store, .answers = "f g"};
    const ses_answer_options options = answers_of(&tool);
    ses_session *session = agent_session(fixture, NULL);
    int64_t answered = 0;

    must_append(session, Q(PARTS(CALL("1", "f") "," CALL("1", "f"))));
    must_append(session, Q(PARTS(CALL("1", "f") "," CALL("2", "g"))));
    assert_ok(ses_pending_answer(session, &options, &answered, &error));
    assert_string_equal(tool.asked, "f g ");
    assert_int_equal(answered, 2);
    assert_int_equal(pending_count(fixture->store), 0);
}

TEST(calls_without_ids_are_answered_from_the_oldest)
{
    struct tool tool = {.store = fixture->store, .answers = ""};
    const ses_answer_options options = answers_of(&tool);
    ses_session *session = agent_session(fixture, NULL);
    int64_t answered = 0;

    must_append(session, Q(PARTS("{'functionCall':{'name':'f'}},{'functionCall':{'name':'f'}}")));
    assert_code(SES_UNCHANGED, ses_pending_answer(session, &options, NULL, &error));
    assert_string_equal(tool.asked, "f ");
    tool.answers = "f";
    assert_ok(ses_pending_answer(session, &options, &answered, &error));
    assert_int_equal(answered, 2);
}

TEST(a_failure_changes_nothing)
{
    static const struct {
        int code;
        bool with_text;
        int expected;
    } cases[] = {{SES_STALE, false, SES_STALE},
                 {SES_NOTFOUND, true, SES_NOTFOUND},
                 {SES_OK, false, SES_MISUSE},
                 {SES_ABSENT, true, SES_MISUSE},
                 {SES_ROW, true, SES_MISUSE}};
    static const ses_function broken[] = {{{"1", 1}, {NULL, 0}, {"[]", 2}}};
    static const ses_function no_json[] = {{{"1", 1}, {NULL, 0}, {"{", 1}}};
    ses_session *session = agent_session(fixture, NULL);
    ses_answer_options options;
    int64_t answered = 7;

    must_append(session, Q(PARTS(CALL("1", "f"))));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tool tool = {.store = fixture->store,
                            .answers = cases[i].code == SES_OK ? "" : "f",
                            .code = cases[i].code,
                            .with_text = cases[i].with_text};
        options = answers_of(&tool);
        if (cases[i].code != SES_OK) /* nothing is answered then, without an error */
            assert_code(cases[i].expected, ses_pending_answer(session, &options, &answered, &error));
        if (cases[i].code < 0)
            assert_message("the tool is broken");
    }
    options = (ses_answer_options){.size = sizeof options, .responses = broken, .response_count = 1};
    assert_code(SES_INVALID, ses_pending_answer(session, &options, &answered, &error));
    assert_message("event 1");
    options.responses = no_json;
    assert_code(SES_JSON, ses_pending_answer(session, &options, &answered, &error));
    options.responses = NULL;
    assert_code(SES_MISUSE, ses_pending_answer(session, &options, &answered, &error));
    assert_code(SES_MISUSE, ses_pending_answer(NULL, NULL, &answered, &error));
    assert_code(SES_MISUSE, ses_pending_answer_by_key(NULL, &agent_key, NULL, &answered, &error));
    options = (ses_answer_options){.size = 0};
    assert_code(SES_MISUSE, ses_pending_answer(session, &options, &answered, &error));
    assert_int_equal(answered, 7);
    assert_int_equal(pending_count(fixture->store), 1);
    must_delete(fixture->store, &agent_key);
    assert_code(SES_NOTFOUND, ses_pending_answer(session, NULL, &answered, &error));
    assert_code(SES_NOTFOUND, ses_pending_answer_by_key(fixture->store, &agent_key, NULL, &answered, &error));
}

TEST(a_lease_that_another_has_taken_refuses_the_answers)
{
    ses_session *session = agent_session(fixture, NULL);
    ses_answer_options options = {.size = sizeof options};
    const ses_lease_options lease = {.size = sizeof lease, .duration_us = 1000000};
    ses_lease one;
    ses_lease two;

    must_append(session, Q(PARTS(CALL("1", "f"))));
    assert_ok(ses_lease_take(fixture->store, &agent_key, "one", &lease, &one, &error));
    assert_ok(ses_lease_release(fixture->store, &agent_key, one.token, NULL, &error));
    assert_ok(ses_lease_take(fixture->store, &agent_key, "two", &lease, &two, &error));
    options.lease = one.token;
    assert_code(SES_LEASED, ses_pending_answer(session, &options, NULL, &error));
    options.lease = two.token;
    assert_ok(ses_pending_answer(session, &options, NULL, &error));
}

/* ------------------------------------------------------------------------------------------ a busy log */

/* It appends whenever the answers are about to be appended, a few times. */
struct rival {
    ses_store *store;
    int left;
    long allocations;
    long first; /* allocations before the first append */
    long last;  /* and before the last */
};

static void *rival_allocate(void *context, size_t bytes)
{
    ((struct rival *)context)->allocations++;
    return malloc(bytes);
}

static void *rival_resize(void *context, void *memory, size_t bytes)
{
    (void)context;
    return realloc(memory, bytes);
}

static void rival_release(void *context, void *memory)
{
    (void)context;
    free(memory);
}

static int be_first(void *context, char *id, size_t capacity)
{
    struct rival *rival = context;

    if (rival->left > 0)
        must_append_by_key(rival->store, &agent_key, Q(PARTS("{'text':'still busy'}")));
    rival->left--;
    rival->last = rival->allocations;
    if (rival->first == 0)
        rival->first = rival->last;
    snprintf(id, capacity, "answer %d", rival->left);
    return 0;
}

/* Otherwise a session with a long log and a busy writer would never be answered. */
TEST(the_log_is_not_read_again_for_events_that_do_not_matter)
{
    struct rival rival = {.store = fixture->store, .left = 3};
    const ses_allocator allocator = {sizeof allocator, &rival, rival_allocate, rival_resize, rival_release};
    const ses_open_options options = {
        .size = sizeof options, .allocator = &allocator, .make_id = be_first, .make_id_context = &rival};
    ses_store *store = NULL;
    int64_t answered = 0;

    must_create(fixture->store, &agent_key, NULL);
    for (int i = 0; i < 1000; i++)
        must_append_by_key(fixture->store, &agent_key, Q(PARTS(RESPONSE("0"))));
    must_append_by_key(fixture->store, &agent_key, Q(PARTS(CALL("1", "f"))));
    assert_ok(ses_open(fixture->path, &options, &store, &error));
    assert_ok(ses_pending_answer_by_key(store, &agent_key, NULL, &answered, &error));
    assert_int_equal(answered, 1);
    assert_int_equal(rival.left, -1);
    assert_in_range(rival.first, 1000, LONG_MAX);
    assert_in_range(rival.last - rival.first, 0, 900);
    assert_int_equal(pending_count(store), 0);
    ses_close(store);
}

TEST(a_rewind_meanwhile_takes_the_calls_back)
{
    struct tool tool = {.store = fixture->store, .answers = "f"};
    const ses_answer_options options = answers_of(&tool);
    ses_session *session = agent_session(fixture, NULL);

    must_append(session, Q(PARTS(CALL("1", "f"))));
    tool.meanwhile = Q("{'author':'user','actions':{'rewindBeforeInvocationId':'i'}}");
    assert_code(SES_UNCHANGED, ses_pending_answer(session, &options, NULL, &error));
    assert_int_equal(ses_session_event_count(session), 2);
}

/* -------------------------------------------------------------------------------------------- a crash */

static int die(void *context, const ses_function *call, const ses_event *event, int is_long_running,
               char **response, size_t *len, ses_error *error)
{
    (void)context, (void)event, (void)is_long_running, (void)response, (void)len, (void)error;
    if (call->name.text[0] == 'g')
        (void)raise(SIGKILL);
    return SES_ABSENT;
}

/* In the child: stores calls, and is killed while it answers them. */
static void call_and_die(const char *path)
{
    const ses_answer_options options = {.size = sizeof options, .answer = die};
    ses_store *store = NULL;

    if (ses_open(path, NULL, &store, NULL) == SES_OK &&
        ses_create(store, &agent_key, NULL, 0, NULL, NULL, NULL) == SES_OK &&
        ses_append_by_key(store, &agent_key, Q(PARTS(CALL("1", "f") "," CALL("2", "g"))), SES_NUL, NULL, NULL,
                          NULL) == SES_OK)
        (void)ses_pending_answer_by_key(store, &agent_key, &options, NULL, NULL);
    _exit(1);
}

FOLDER_TEST(a_crash_leaves_calls_that_are_answered_once)
{
    int64_t answered = 0;
    int status = 0;

    fflush(NULL);
    pid_t child = fork();
    assert_int_not_equal(child, -1);
    if (child == 0)
        call_and_die(folder->path);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    ses_store *store = must_open(folder->path, NULL);
    assert_int_equal(pending_count(store), 2);
    assert_ok(ses_pending_answer_by_key(store, &agent_key, NULL, &answered, &error));
    assert_int_equal(answered, 2);
    assert_code(SES_UNCHANGED, ses_pending_answer_by_key(store, &agent_key, NULL, &answered, &error));
    ses_session *session = must_get(store, &agent_key);
    assert_int_equal(ses_session_event_count(session), 2);
    ses_session_close(session);
    ses_close(store);
}
