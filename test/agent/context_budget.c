/* Contexts within a budget: whole turns from the newest, with the calls of their responses, and summaries. */
#include <stddef.h>
#include <stdlib.h>

#include "agent.h"
#include "open.h"
#include "random.h"
#include "seslite_erase.h"

#define SAYS(id, time, author, text)                             \
    "{'id':'" id "','timestamp':" time ",'author':'" author "'," \
    "'content':{'role':'user','parts':[{'text':'" text "'}]}}"
#define USER(id, time) SAYS(id, time, "user", "12345678")
#define AGENT(id, time) SAYS(id, time, "agent", "12345678")
enum { CONTENT_BYTES = 45 }; /* of USER and AGENT */

#define CALLS(id, time, parts) \
    "{'id':'" id "','timestamp':" time ",'author':'agent','content':{'role':'model','parts':[" parts "]}}"
#define ANSWERS(id, time, parts) \
    "{'id':'" id "','timestamp':" time ",'author':'user','content':{'role':'user','parts':[" parts "]}}"
#define CALL(id) "{'functionCall':{'id':'" id "','name':'f'}}"
#define ANSWER(id) "{'functionResponse':{'id':'" id "','name':'f'}}"
#define SUMMARY(id, time, from, to)                                                \
    "{'id':'" id "','timestamp':" time ",'author':'user','actions':{'compaction':" \
    "{'startTimestamp':" from ",'endTimestamp':" to ",'compactedContent':{'role':'model'}}}}"

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

static ses_context *open_fitting(const struct fixture *fixture, ses_context_options options)
{
    ses_context *context = NULL;
    ses_error error;

    options.size = sizeof options;
    assert_ok(ses_context_open_by_key(fixture->store, &agent_key, &options, &context, &error));
    return context;
}

/* The ids of the context, and behind a bar the events and turns that it leaves out, and an exclamation mark
 * if it is over its budget. */
static const char *fitting(const struct fixture *fixture, ses_context_options options)
{
    static char text[1000];
    ses_context *context = open_fitting(fixture, options);
    const ses_left_out *left = ses_context_left_out(context);
    size_t len = 0;

    for (size_t i = 0; i < ses_context_count(context); i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s ", ses_context_event(context, i)->id);
    snprintf(text + len, sizeof text - len, "| %d %d%s", (int)left->events, (int)left->turns,
             left->over_budget ? " !" : "");
    ses_context_close(context);
    return text;
}

#define assert_fitting(expected, ...) \
    assert_string_equal(fitting(fixture, (ses_context_options){__VA_ARGS__}), expected)

static const char *const turns[] = {
    USER("a", "1"), AGENT("b", "2"), USER("c", "3"), AGENT("d", "4"), AGENT("e", "5"), USER("f", "6"), NULL};

TEST(bytes)
{
    create_log(fixture, turns);
    assert_fitting("a b c d e f | 0 0", .max_bytes = 0);
    assert_fitting("a b c d e f | 0 0", .max_bytes = 6 * CONTENT_BYTES);
    assert_fitting("c d e f | 2 1", .max_bytes = 6 * CONTENT_BYTES - 1);
    assert_fitting("c d e f | 2 1", .max_bytes = 4 * CONTENT_BYTES);
    assert_fitting("f | 5 2", .max_bytes = 4 * CONTENT_BYTES - 1);
    assert_fitting("f | 5 2", .max_bytes = CONTENT_BYTES);
    assert_fitting("f | 5 2 !", .max_bytes = CONTENT_BYTES - 1);
    assert_fitting("a b c d e f | 0 0", .max_bytes = INT64_MAX);
}

TEST(number_of_turns)
{
    create_log(fixture, turns);
    assert_fitting("f | 5 2", .max_turns = 1);
    assert_fitting("c d e f | 2 1", .max_turns = 2);
    assert_fitting("a b c d e f | 0 0", .max_turns = 3);
    assert_fitting("f | 5 2", .max_turns = 2, .max_bytes = 2 * CONTENT_BYTES);
}

/* Each content of 45 bytes is 12 tokens. */
TEST(tokens_by_bytes)
{
    create_log(fixture, turns);
    assert_fitting("c d e f | 2 1", .max_tokens = 48);
    assert_fitting("f | 5 2", .max_tokens = 47);
    assert_fitting("f | 5 2 !", .max_tokens = 11);
}

TEST(the_first_turn)
{
    static const char *const greeted[] = {AGENT("hello", "0"), USER("a", "1"), USER("b", "2"), USER("c", "3"),
                                          NULL};
    static const char *const agents[] = {AGENT("a", "1"), AGENT("b", "2"), NULL};
    static const char *const none[] = {NULL};
    const unsigned first = SES_CONTEXT_FIRST_TURN;

    create_log(fixture, turns);
    assert_fitting("a b f | 3 1", .max_turns = 1, .flags = first);
    assert_fitting("a b c d e f | 0 0", .flags = first);
    assert_fitting("a b f | 3 1", .max_bytes = 3 * CONTENT_BYTES, .flags = first);
    assert_fitting("a b f | 3 1 !", .max_bytes = 3 * CONTENT_BYTES - 1, .flags = first);
    assert_fitting("a b c d e f | 0 0", .max_bytes = 6 * CONTENT_BYTES, .flags = first);
    create_log(fixture, greeted);
    assert_fitting("hello a c | 1 1", .max_turns = 1, .flags = first);
    assert_fitting("c | 3 2", .max_turns = 1);
    create_log(fixture, agents);
    assert_fitting("a b | 0 0 !", .max_bytes = 1);
    assert_fitting("a b | 0 0 !", .max_bytes = 1, .flags = first);
    create_log(fixture, none);
    assert_fitting("| 0 0", .max_bytes = 1, .flags = first);
}

/* ------------------------------------------------------------------------------------------------- calls */

/* A call stays with its late response, and with the responses to the other calls of its event. */
TEST(a_call_of_an_older_turn)
{
    static const char *const log[] = {USER("a", "1"),
                                      CALLS("k", "2", CALL("x") "," CALL("y")),
                                      ANSWERS("y", "3", ANSWER("y")),
                                      USER("b", "4"),
                                      USER("c", "5"),
                                      ANSWERS("x", "6", ANSWER("x")),
                                      USER("d", "7"),
                                      NULL};
    int64_t needed = 0;

    create_log(fixture, log);
    assert_fitting("d | 6 3", .max_turns = 1);
    assert_fitting("k y c x d | 2 2", .max_turns = 2);
    ses_context *context = open_fitting(fixture, (ses_context_options){.max_turns = 2});
    for (size_t i = 0; i < ses_context_count(context); i++)
        needed += (int64_t)ses_context_content(context, i).len;
    ses_context_close(context);
    assert_fitting("k y c x d | 2 2", .max_bytes = needed);
    assert_fitting("d | 6 3", .max_bytes = needed - 1);
    assert_ok(ses_redact_by_key(fixture->store, &agent_key, NULL, 0, NULL, NULL, &error)); /* ids stay */
    assert_fitting("k y c x d | 2 2", .max_turns = 2);
}

/* The first turn keeps the latest response to its call. */
TEST(a_call_of_the_first_turn)
{
    static const char *const late[] = {USER("a", "1"),
                                       CALLS("k", "2", CALL("x")),
                                       USER("b", "3"),
                                       ANSWERS("r", "4", ANSWER("x")),
                                       AGENT("c", "5"),
                                       USER("d", "6"),
                                       NULL};
    static const char *const answered[] = {USER("a", "1"),
                                           CALLS("k", "2", CALL("x")),
                                           ANSWERS("q", "3", ANSWER("x")),
                                           USER("b", "4"),
                                           ANSWERS("r", "5", ANSWER("x")),
                                           USER("d", "6"),
                                           NULL};

    create_log(fixture, late);
    assert_fitting("a k r d | 2 1", .max_turns = 1, .flags = SES_CONTEXT_FIRST_TURN);
    create_log(fixture, answered);
    assert_fitting("a k q r d | 1 1", .max_turns = 1, .flags = SES_CONTEXT_FIRST_TURN);
}

/* Responses to calls of different events are in one event, so the other call stays, too. */
TEST(a_chain_of_calls)
{
    static const char *const log[] = {USER("a", "1"),
                                      CALLS("k", "2", CALL("x") "," CALL("y")),
                                      CALLS("l", "3", CALL("z")),
                                      USER("b", "4"),
                                      ANSWERS("yz", "5", ANSWER("y") "," ANSWER("z")),
                                      USER("c", "6"),
                                      ANSWERS("x", "7", ANSWER("x")),
                                      NULL};

    create_log(fixture, log);
    assert_fitting("k l yz c x | 2 2", .max_turns = 1);
}

TEST(a_call_without_a_response)
{
    static const char *const log[] = {USER("a", "1"), CALLS("k", "2", CALL("x")), USER("b", "3"),
                                      CALLS("l", "4", CALL("y")), NULL};

    create_log(fixture, log);
    assert_fitting("b l | 2 1", .max_turns = 1);
}

/* --------------------------------------------------------------------------- compactions, and other cells */

TEST(summaries_stay)
{
    static const char *const log[] = {USER("a", "1"),
                                      AGENT("b", "2"),
                                      USER("c", "3"),
                                      SUMMARY("s", "4", "1", "2"),
                                      USER("d", "5"),
                                      USER("e", "6"),
                                      NULL};
    const int64_t summary = (int64_t)strlen("{'role':'model'}");
    const unsigned flags[] = {0, SES_CONTEXT_LOG_ORDER, SES_CONTEXT_VISIBLE};

    create_log(fixture, log);
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        assert_fitting("s c d e | 0 0", .max_turns = 3, .flags = flags[i]);
        assert_fitting("s e | 2 2", .max_turns = 1, .flags = flags[i]);
        assert_fitting("s e | 2 2", .max_turns = 1, .flags = flags[i] | SES_CONTEXT_FIRST_TURN);
        assert_fitting("s d e | 1 1", .max_bytes = 2 * CONTENT_BYTES + summary, .flags = flags[i]);
        assert_fitting("s e | 2 2", .max_bytes = 2 * CONTENT_BYTES + summary - 1, .flags = flags[i]);
        assert_fitting("s e | 2 2 !", .max_bytes = 1, .flags = flags[i]);
    }
}

/* A call that a summary covers comes back as without a budget, but only if its response stays. */
TEST(a_call_that_a_summary_covers)
{
    static const char *const log[] = {USER("a", "1"),
                                      CALLS("k", "2", CALL("x")),
                                      USER("b", "3"),
                                      SUMMARY("s", "4", "1", "2"),
                                      USER("c", "5"),
                                      ANSWERS("r", "6", ANSWER("x")),
                                      NULL};

    create_log(fixture, log);
    assert_fitting("s c k r | 1 1", .max_turns = 1);
    assert_fitting("s b c k r | 0 0", .max_turns = 2);
    must_append_by_key(fixture->store, &agent_key, Q(USER("d", "7")));
    assert_fitting("s d | 4 3", .max_turns = 1);
    assert_fitting("s d | 4 3", .max_turns = 1, .flags = SES_CONTEXT_FIRST_TURN);
}

TEST(rewinds_redos_and_what_was_pruned)
{
    static const char *const rewind = "{'id':'w','author':'user','invocationId':'w','actions':"
                                      "{'rewindBeforeInvocationId':'i'}}";
    const ses_prune_options prune = {.size = sizeof prune, .which = SES_PRUNE_KEEP, .keep = 4};
    int64_t deleted = 0;

    create_log(fixture, turns);
    must_append_by_key(fixture->store, &agent_key,
                       Q("{'id':'g','timestamp':7,'author':'user','invocationId':'i','content':"
                         "{'role':'user','parts':[{'text':'1'}]}}"));
    assert_fitting("g | 6 3", .max_turns = 1);
    must_append_by_key(fixture->store, &agent_key, Q(rewind));
    assert_fitting("f | 5 2", .max_turns = 1);
    assert_ok(ses_redo_by_key(fixture->store, &agent_key, NULL, NULL, &error));
    assert_fitting("g | 6 3", .max_turns = 1);
    create_log(fixture, turns);
    assert_ok(ses_prune_by_key(fixture->store, &agent_key, &prune, &deleted, &error));
    assert_int_equal(deleted, 2);
    assert_fitting("f | 3 1", .max_turns = 1);
    assert_fitting("c d e f | 0 0", .max_turns = 2);
}

/* Events that a model is not shown are no turns. */
TEST(hidden_turns)
{
    static const char *const log[] = {
        USER("a", "1"), USER("b", "2"),
        "{'id':'h','timestamp':3,'author':'user','isolationScope':'s','content':"
        "{'role':'user','parts':[{'text':'1'}]}}",
        AGENT("c", "4"), NULL};

    create_log(fixture, log);
    assert_fitting("h c | 2 2", .max_turns = 1);
    assert_fitting("b c | 1 1", .max_turns = 1, .flags = SES_CONTEXT_VISIBLE);
}

/* -------------------------------------------------------------------------------------------- the counter */

struct counting {
    int64_t tokens; /* of each content */
    int code;
    int calls;
    const char *message;
};

static int count_tokens(void *context, const ses_event *event, const char *content, size_t len,
                        int64_t *tokens, ses_error *error)
{
    struct counting *counting = context;

    counting->calls++;
    assert_non_null(strstr(event->json, "content"));
    assert_int_equal(content[0], '{');
    assert_int_equal(content[len - 1], '}');
    if (counting->message)
        snprintf(error->message, sizeof error->message, "%s", counting->message);
    *tokens = counting->tokens;
    return counting->code;
}

#define COUNTED(counting) .count = count_tokens, .count_context = (counting)

TEST(tokens_by_a_counter)
{
    static const char *const state[] = {USER("a", "1"), "{'id':'b','timestamp':2,'author':'agent'}",
                                        USER("c", "3"), NULL};
    struct counting counting = {.tokens = 10};

    create_log(fixture, turns);
    assert_fitting("c d e f | 2 1", .max_tokens = 40, COUNTED(&counting));
    assert_fitting("f | 5 2", .max_tokens = 39, COUNTED(&counting));
    counting.calls = 0;
    assert_fitting("f | 5 2", .max_tokens = 10, .max_turns = 1, COUNTED(&counting));
    assert_int_equal(counting.calls, 1);
    assert_fitting("f | 5 2", .max_turns = 1, COUNTED(&counting));
    assert_int_equal(counting.calls, 1);
    counting.tokens = INT64_MAX;
    assert_fitting("f | 5 2", .max_tokens = INT64_MAX, .max_turns = 1, COUNTED(&counting));
    counting.tokens = 0;
    assert_fitting("a b c d e f | 0 0", .max_tokens = 1, COUNTED(&counting));
    create_log(fixture, state);
    counting.calls = 0;
    assert_fitting("a b c | 0 0", .max_tokens = 1, COUNTED(&counting));
    assert_int_equal(counting.calls, 2);
}

TEST(a_counter_that_fails)
{
    static const struct {
        struct counting counting;
        int code;
        const char *message;
    } cases[] = {
        {{.code = SES_LIMIT, .message = "no such model"}, SES_LIMIT, "no such model"},
        {{.code = SES_NOTFOUND}, SES_NOTFOUND, "the function that counts tokens has ended the call"},
        {{.code = 1}, SES_MISUSE, "the function that counts tokens returned 1"},
        {{.tokens = -1}, SES_MISUSE, "counted -1"},
    };

    create_log(fixture, turns);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct counting counting = cases[i].counting;
        const ses_context_options options = {.size = sizeof options, .max_tokens = 1, COUNTED(&counting)};
        ses_context *context = (ses_context *)(void *)&fixture;
        assert_code(cases[i].code,
                    ses_context_open_by_key(fixture->store, &agent_key, &options, &context, &error));
        assert_message(cases[i].message);
        assert_null(context);
        assert_int_equal(counting.calls, 1);
    }
}

static int count_and_cancel(void *context, const ses_event *event, const char *content, size_t len,
                            int64_t *tokens, ses_error *error)
{
    (void)event, (void)content, (void)len, (void)error;
    ses_cancel_pull(context);
    *tokens = 1;
    return SES_OK;
}

TEST(a_counter_that_cancels)
{
    ses_context_options options = {.size = sizeof options, .max_tokens = 10, .count = count_and_cancel};
    ses_context *context = NULL;

    create_log(fixture, turns);
    assert_ok(ses_cancel_open(fixture->store, &options.cancel, &error));
    options.count_context = options.cancel;
    assert_code(SES_INTERRUPTED,
                ses_context_open_by_key(fixture->store, &agent_key, &options, &context, &error));
    assert_null(context);
    ses_cancel_close(options.cancel);
}

TEST(negative_budgets_are_refused)
{
    static const ses_context_options cases[] = {{.size = sizeof cases[0], .max_bytes = -1},
                                                {.size = sizeof cases[0], .max_tokens = -1},
                                                {.size = sizeof cases[0], .max_turns = INT64_MIN}};
    ses_context *context = NULL;

    create_log(fixture, turns);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_code(SES_INVALID,
                    ses_context_open_by_key(fixture->store, &agent_key, &cases[i], &context, &error));
        assert_message("is negative");
    }
}

/* A program that was compiled with the header of 0.2.0. */
TEST(options_without_a_budget)
{
    ses_context_options options = {.size = offsetof(ses_context_options, max_bytes), .max_bytes = 1};
    ses_context *context = NULL;

    create_log(fixture, turns);
    assert_ok(ses_context_open_by_key(fixture->store, &agent_key, &options, &context, &error));
    assert_int_equal(ses_context_count(context), 6);
    assert_int_equal(ses_context_left_out(context)->events, 0);
    ses_context_close(context);
}

/* ---------------------------------------------------------------------------------------------- at random */

enum { MOST_EVENTS = 30, MOST_IDS = 2 * MOST_EVENTS };

struct random_log {
    size_t count;
    struct random_event {
        char kind; /* u: the user speaks, a: the agent, c: calls, r: responses */
        size_t len;
        int ids[2]; /* of calls or responses */
        size_t id_count;
    } events[MOST_EVENTS];
    size_t call[MOST_IDS];   /* the event of each */
    size_t answer[MOST_IDS]; /* that of the last response; MOST_EVENTS: none */
    int id_count;
};

/* Calls of ids of their own, or responses, perhaps not the first, to any calls. */
static void make_functions(uint64_t *seed, struct random_log *log, size_t at)
{
    struct random_event *event = &log->events[at];

    for (size_t i = 1 + random_below(seed, 2); i > 0; i--) {
        const int id = event->kind == 'c' ? log->id_count++ : (int)random_below(seed, (size_t)log->id_count);
        if (event->id_count > 0 && event->ids[0] == id)
            continue;
        event->ids[event->id_count++] = id;
        if (event->kind == 'c')
            log->call[id] = at;
        log->answer[id] = event->kind == 'c' ? MOST_EVENTS : at;
    }
}

static void write_content(uint64_t *seed, const struct random_event *event, char *content, size_t size)
{
    const char *const name = event->kind == 'c' ? "Call" : "Response";
    const int spaces = (int)random_below(seed, 60);

    if (event->id_count == 0)
        snprintf(content, size, "{'parts':[{'text':'%*s'}]}", spaces, "");
    else if (event->id_count == 1)
        snprintf(content, size, "{'parts':[{'function%s':{'id':'%d'}}]}", name, event->ids[0]);
    else
        snprintf(content, size, "{'parts':[{'function%s':{'id':'%d'}},{'function%s':{'id':'%d'}}]}", name,
                 event->ids[0], name, event->ids[1]);
}

static void make_random_log(uint64_t *seed, const struct fixture *fixture, struct random_log *log)
{
    static const char *const none[] = {NULL};

    create_log(fixture, none);
    *log = (struct random_log){.count = random_below(seed, MOST_EVENTS)};
    for (size_t i = 0; i < log->count; i++) {
        struct random_event *event = &log->events[i];
        char content[200];
        char json[400];
        event->kind = "uaacr"[random_below(seed, 5)];
        if (event->kind == 'r' && log->id_count == 0)
            event->kind = 'a';
        if (event->kind == 'c' || event->kind == 'r')
            make_functions(seed, log, i);
        write_content(seed, event, content, sizeof content);
        event->len = strlen(content);
        snprintf(json, sizeof json, "{'id':'%zu','timestamp':%zu,'author':'%s','content':%s}", i, i + 1,
                 event->kind == 'u' || event->kind == 'r' ? "user" : "agent", content);
        must_append_by_key(fixture->store, &agent_key, Q(json));
    }
}

/* Selects the events from there on, the first turn if it is asked for, and what they need; returns their
 * bytes. */
static size_t select_from(const struct random_log *log, size_t from, size_t first_end, bool *selected)
{
    size_t bytes = 0;
    bool changes = true;

    for (size_t i = 0; i < log->count; i++)
        selected[i] = i >= from || i < first_end;
    while (changes) {
        changes = false;
        for (size_t i = 0; i < log->count; i++) {
            const struct random_event *event = &log->events[i];
            for (size_t k = 0; k < event->id_count && selected[i]; k++) {
                const int id = event->ids[k];
                const size_t needed = event->kind == 'r' ? log->call[id] : log->answer[id];
                changes = changes || (needed < MOST_EVENTS && !selected[needed]);
                if (needed < MOST_EVENTS)
                    selected[needed] = true;
            }
        }
    }
    for (size_t i = 0; i < log->count; i++)
        bytes += selected[i] ? log->events[i].len : 0;
    return bytes;
}

/* Selects what a context with this budget holds; returns how many events that are. */
static size_t select_fitting(const struct random_log *log, const ses_context_options *options, bool *selected)
{
    bool tried[MOST_EVENTS] = {false};
    const size_t most = options->max_bytes > 0 ? (size_t)options->max_bytes : SIZE_MAX;
    size_t first = 0; /* the turn begins */
    size_t first_end = 0;
    size_t count = 0;
    int64_t taken = 0;

    while (first < log->count && log->events[first].kind != 'u')
        first++;
    if (options->flags & SES_CONTEXT_FIRST_TURN) {
        for (first_end = first + 1; first_end < log->count && log->events[first_end].kind != 'u';)
            first_end++;
        first_end = first_end < log->count ? first_end : log->count;
    }
    (void)select_from(log, log->count, first_end, selected);
    for (size_t i = log->count; i > first_end; i--) {
        if (i - 1 > 0 && (log->events[i - 1].kind != 'u' || i - 1 <= first))
            continue;
        if (options->max_turns > 0 && taken == options->max_turns)
            break;
        if (select_from(log, i - 1, first_end, tried) > most && taken > 0)
            break;
        memcpy(selected, tried, sizeof tried);
        taken++;
    }
    for (size_t i = 0; i < log->count; i++)
        count += selected[i];
    return count;
}

static void check_random(const struct fixture *fixture, const struct random_log *log,
                         ses_context_options options)
{
    bool selected[MOST_EVENTS] = {false};
    const size_t expected = select_fitting(log, &options, selected);
    ses_context *context = open_fitting(fixture, options);
    int before = -1;

    assert_int_equal(ses_context_count(context), expected);
    assert_int_equal(ses_context_left_out(context)->events, log->count - expected);
    for (size_t i = 0; i < expected; i++) {
        const int id = atoi(ses_context_event(context, i)->id);
        assert_true(selected[id] && id > before);
        before = id;
    }
    ses_context_close(context);
}

TEST(random_logs)
{
    uint64_t seed = 43;

    for (int round = 0; round < 60; round++) {
        struct random_log log;
        make_random_log(&seed, fixture, &log);
        for (int i = 0; i < 40; i++)
            check_random(fixture, &log,
                         (ses_context_options){
                             .flags = random_below(&seed, 2) ? SES_CONTEXT_FIRST_TURN : 0,
                             .max_bytes = random_below(&seed, 3) ? (int64_t)random_below(&seed, 1500) : 0,
                             .max_turns = random_below(&seed, 2) ? (int64_t)random_below(&seed, 5) : 0});
    }
}
