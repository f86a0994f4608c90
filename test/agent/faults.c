/*
 * Every allocation of the agent layer fails in turn, once and for good: each time the call says NOMEM and has
 * changed nothing, and when memory is back it does what it does.
 */
#include "agent.h"
#include "seslite_artifact.h"

#include <stdbool.h>

/* ---------------------------------------------------------------------------------------- the allocator */

struct heap {
    long live;     /* pieces that were allocated and not released */
    long until;    /* allocations that still succeed; below 0: all do */
    bool for_good; /* else only one fails */
};

static bool fails(struct heap *heap)
{
    bool now = heap->until == 0;
    if (heap->until > 0 || (now && !heap->for_good))
        heap->until--;
    return now;
}

static void *heap_allocate(void *context, size_t bytes)
{
    struct heap *heap = context;
    void *memory = fails(heap) ? NULL : malloc(bytes);
    heap->live += memory != NULL;
    return memory;
}

static void *heap_resize(void *context, void *memory, size_t bytes)
{
    return fails(context) ? NULL : realloc(memory, bytes);
}

static void heap_release(void *context, void *memory)
{
    struct heap *heap = context;
    heap->live--;
    free(memory);
}

/* -------------------------------------------------------------------------------------------- the scene */

static const char EVENT[] =
    "{\"invocationId\":\"e-1\",\"author\":\"me\",\"content\":{\"parts\":[{\"text\":\"a\\n\"},"
    "{\"text\":\"b\"}]},\"actions\":{\"stateDelta\":{\"own\":1,\"k\\u0030\":2}}}";
static const char CALLS[] =
    "{\"author\":\"m\\u0065\",\"content\":{\"parts\":[{\"functionCall\":{\"id\":\"\\u0061\",\"name\":"
    "\"n\"}},{\"functionResponse\":{\"name\":\"\\u0062\"}},{\"text\":\"t\\u0063\"}]}}";

/* A summary that covers a call, but not its response. */
static const ses_key log_key = {"app", "user", "log"};
#define TIMES_4(text) text text text text
static const char *const LOG[] = {
    "{'timestamp':1,'content':{'role':'model','parts':[" TIMES_4(
        TIMES_4(TIMES_4("{'functionCall':{'id':'b'}},"))) "{'functionCall':{'id':'\\u0061'}}]}}",
    "{'timestamp':3,'content':{'role':'user','parts':[{'functionResponse':{'id':'\\u0061'}}]}}",
    "{'timestamp':4,'actions':{'compaction':{'startTimestamp':1,'endTimestamp':2,'compactedContent':{}}}}",
    "{'timestamp':5,'actions':{'rewindBeforeInvocationId':'none'}}",
};

/* Three calls are left of these. */
static const ses_key calls_key = {"app", "user", "calls"};
static const char *const pending_log[] = {
    "{'content':{'parts':[{'functionCall':{'id':'1','name':'\\u0066'}},{'functionCall':{'name':'g'}},"
    "{'functionCall':{'id':'2'}}]},'longRunningToolIds':['\\u0032']}",
    "{'content':{'parts':[{'functionResponse':{'id':'1'}},{'functionCall':{'id':'3'}}]}}"};

/* A content refers to an artifact of the user, twice. */
static const ses_key files_key = {"app", "user", "files"};
#define FILE_PART \
    "{'fileData':{'fileUri':'artifact://apps/app/users/user/artifacts/user:\\u0061/versions/0'}}"
static const char FILES[] = "{'content':{'parts':[" FILE_PART "," FILE_PART "]}}";

struct scene {
    struct heap heap;
    ses_store *store;
    ses_session *session;
    ses_tracked *tracked;
    ses_builder *builder;
};

static void scene_open(struct scene *scene)
{
    const ses_allocator allocator = {sizeof allocator, &scene->heap, heap_allocate, heap_resize,
                                     heap_release};
    const ses_open_options options = {.size = sizeof options, .allocator = &allocator};
    ses_error error;

    scene->heap = (struct heap){.until = -1};
    assert_ok(ses_open(":memory:", &options, &scene->store, &error));
    scene->session = must_open_new(scene->store, &agent_key, Q("{'s':'x\\ny','app:a':{'k':1}}"));
    assert_ok(ses_tracked_open(scene->session, NULL, &scene->tracked, &error));
    for (int i = 0; i < 7; i++) { /* the next write makes the list grow */
        char name[8];
        snprintf(name, sizeof name, "k%d", i);
        assert_ok(ses_tracked_set_string(scene->tracked, name, "v\n", SES_NUL, &error));
    }
    assert_int_equal(ses_tracked_has(scene->tracked, "user:read"), 0);
    assert_ok(ses_tracked_set_bool(scene->tracked, "user:read", 1, &error));
    must_create(scene->store, &calls_key, NULL);
    for (size_t i = 0; i < sizeof pending_log / sizeof pending_log[0]; i++)
        must_append_by_key(scene->store, &calls_key, Q(pending_log[i]));
    must_create(scene->store, &files_key, NULL);
    must_append_by_key(scene->store, &files_key, Q(FILES));
    char bytes[2000] = "";
    assert_ok(ses_artifact_save_by_key(scene->store, &files_key, "user:a", bytes, sizeof bytes, NULL, NULL,
                                       &error));
    must_create(scene->store, &log_key, NULL);
    for (size_t i = 0; i < sizeof LOG / sizeof LOG[0]; i++)
        must_append_by_key(scene->store, &log_key, Q(LOG[i]));
    assert_ok(ses_builder_open(scene->store, "me", "e-1", &scene->builder, &error));
    assert_ok(ses_builder_text(scene->builder, "start", SES_NUL, &error));
}

static void scene_close(struct scene *scene)
{
    ses_builder_close(scene->builder);
    ses_tracked_close(scene->tracked);
    ses_session_close(scene->session);
    ses_close(scene->store);
    assert_int_equal(scene->heap.live, 0);
}

/* Everything that a failure must leave as it was. */
static char *scene_text(struct scene *scene)
{
    char *delta = NULL;
    char *text = malloc(65536);
    ses_error error;

    assert_ok(ses_tracked_delta(scene->tracked, &delta, NULL, &error));
    const char *invocation = ses_invocation_id(scene->session);
    snprintf(text, 65536, "%s %s %s %s %lld %zu", delta, support_state(scene->session, NULL),
             ses_builder_json(scene->builder, NULL), invocation ? invocation : "-",
             (long long)ses_session_version(scene->session), ses_session_event_count(scene->session));
    ses_free(delta);
    return text;
}

/* -------------------------------------------------------------------------------------------- the steps */

typedef int agent_step(struct scene *scene, ses_error *error);

static int step_track(struct scene *scene, ses_error *error)
{
    ses_tracked *tracked = NULL;
    int code = ses_tracked_open(scene->session, NULL, &tracked, error);
    ses_tracked_close(tracked);
    return code;
}

static int step_set(struct scene *scene, ses_error *error)
{
    return ses_tracked_set(scene->tracked, "new", Q("{'a': 1}"), SES_NUL, error);
}

static int step_replace(struct scene *scene, ses_error *error)
{
    return ses_tracked_set_string(scene->tracked, "k1", "a text\n", SES_NUL, error);
}

static int step_set_double(struct scene *scene, ses_error *error)
{
    return ses_tracked_set_double(scene->tracked, "d", 0.1, error);
}

static int step_remove(struct scene *scene, ses_error *error)
{
    return ses_tracked_remove(scene->tracked, "s", error);
}

static int step_get_own_string(struct scene *scene, ses_error *error)
{
    const char *text = NULL;
    return ses_tracked_get_string(scene->tracked, "k1", &text, NULL, error);
}

static int step_get_stored_string(struct scene *scene, ses_error *error)
{
    const char *text = NULL;
    return ses_tracked_get_string(scene->tracked, "s", &text, NULL, error);
}

static int step_get_shared(struct scene *scene, ses_error *error)
{
    const char *json = NULL;
    int code = ses_tracked_get(scene->tracked, "app:a", &json, NULL, error);
    assert_true((json != NULL) == (code == SES_OK));
    return code;
}

/* Absent keys are noted as well. */
static int step_get_shared_absent(struct scene *scene, ses_error *error)
{
    int64_t value = -7;
    int code = ses_tracked_get_int64(scene->tracked, "user:none", &value, error);
    assert_int_equal(value, -7);
    return code == SES_ABSENT ? SES_OK : code;
}

/* The handle sorts its keys anew behind a change, so there is one in front. */
static int change_state(struct scene *scene, ses_error *error)
{
    long until = scene->heap.until;
    scene->heap.until = -1;
    int code = ses_invocation_end(scene->session, error);
    scene->heap.until = until;
    return code;
}

static int step_json(struct scene *scene, ses_error *error)
{
    char *json = NULL;
    int code = change_state(scene, error);
    if (code == SES_OK)
        code = ses_tracked_json(scene->tracked, &json, NULL, error);
    assert_true((json != NULL) == (code == SES_OK));
    ses_free(json);
    return code;
}

static int step_delta(struct scene *scene, ses_error *error)
{
    char *json = NULL;
    int code = ses_tracked_delta(scene->tracked, &json, NULL, error);
    ses_free(json);
    return code;
}

static int step_append(struct scene *scene, ses_error *error)
{
    return ses_tracked_append(scene->tracked, EVENT, SES_NUL, NULL, NULL, error);
}

/* The caller's expectations are joined with those of the view. */
static int step_append_expecting(struct scene *scene, ses_error *error)
{
    const ses_append_options options = {
        .size = sizeof options, .expected = Q("{'app:a':{'k':1}}"), .expected_len = SES_NUL};
    return ses_tracked_append(scene->tracked, EVENT, SES_NUL, &options, NULL, error);
}

static int step_output_append(struct scene *scene, ses_error *error)
{
    return ses_output_append(scene->tracked, EVENT, SES_NUL, "me", "answer", NULL, NULL, error);
}

static int step_output_delta(struct scene *scene, ses_error *error)
{
    char *delta = NULL;
    int code = ses_output_delta(scene->store, EVENT, SES_NUL, "me", "answer", &delta, NULL, error);
    assert_true((delta != NULL) == (code == SES_OK));
    ses_free(delta);
    return code;
}

static int step_content(struct scene *scene, ses_error *error)
{
    ses_content *content = NULL;
    int code = ses_content_open(scene->store, CALLS, SES_NUL, &content, error);
    assert_true((content != NULL) == (code == SES_OK));
    ses_content_close(content);
    return code;
}

static int step_context(struct scene *scene, ses_error *error)
{
    const ses_context_options visible = {.size = sizeof visible, .flags = SES_CONTEXT_VISIBLE};
    ses_context *context = NULL;
    int code = ses_context_open_by_key(scene->store, &log_key, &visible, &context, error);
    assert_true((context != NULL) == (code == SES_OK));
    if (context)
        assert_int_equal(ses_context_count(context), 3);
    ses_context_close(context);
    return code;
}

static int step_context_budget(struct scene *scene, ses_error *error)
{
    const ses_context_options budget = {
        .size = sizeof budget, .flags = SES_CONTEXT_FIRST_TURN | SES_CONTEXT_LOG_ORDER, .max_bytes = 1};
    ses_context *context = NULL;
    int code = ses_context_open_by_key(scene->store, &log_key, &budget, &context, error);
    assert_true((context != NULL) == (code == SES_OK));
    if (context)
        assert_true(ses_context_left_out(context)->over_budget);
    ses_context_close(context);
    return code;
}

/* Long enough for the buffer to grow several times. */
static int step_context_inline(struct scene *scene, ses_error *error)
{
    const ses_context_options inlining = {.size = sizeof inlining, .inline_bytes = 10000};
    ses_context *context = NULL;
    int code = ses_context_open_by_key(scene->store, &files_key, &inlining, &context, error);
    assert_true((context != NULL) == (code == SES_OK));
    if (context)
        assert_true(ses_context_content(context, 0).len > 4000);
    ses_context_close(context);
    return code;
}

static int step_pending(struct scene *scene, ses_error *error)
{
    ses_pending *pending = NULL;
    int code = ses_pending_open_by_key(scene->store, &calls_key, NULL, &pending, error);
    assert_true((pending != NULL) == (code == SES_OK));
    if (pending)
        assert_int_equal(ses_pending_count(pending), 3);
    ses_pending_close(pending);
    return code;
}

static int step_pending_on_handle(struct scene *scene, ses_error *error)
{
    ses_pending *pending = NULL;
    int code = ses_pending_open(scene->session, NULL, &pending, error);
    assert_true((pending != NULL) == (code == SES_OK));
    ses_pending_close(pending);
    return code;
}

static int answer_call(void *context, const ses_function *call, const ses_event *event, int is_long_running,
                       char **response, size_t *len, ses_error *error)
{
    struct scene *scene = context;
    (void)call, (void)event, (void)is_long_running, (void)error;
    *len = 2;
    *response = ses_text_make(scene->store, *len);
    if (*response)
        memcpy(*response, "{}", 2);
    return *response ? SES_OK : SES_NOMEM;
}

static int step_pending_answer(struct scene *scene, ses_error *error)
{
    const ses_answer_options options = {
        .size = sizeof options, .answer = answer_call, .answer_context = scene};
    int64_t answered = 3;
    int code = ses_pending_answer_by_key(scene->store, &calls_key, &options, &answered, error);
    assert_int_equal(answered, 3);
    return code;
}

static int step_builder_append(struct scene *scene, ses_error *error)
{
    ses_builder *builder = NULL;
    long until = scene->heap.until;
    scene->heap.until = -1;
    assert_int_equal(ses_builder_open(scene->store, "author", "e-1", &builder, NULL), SES_OK);
    scene->heap.until = until;
    int code = ses_builder_append_by_key(builder, scene->store, &log_key, NULL, NULL, error);
    ses_builder_close(builder);
    return code;
}

static int step_builder_open(struct scene *scene, ses_error *error)
{
    ses_builder *builder = NULL;
    int code = ses_builder_open(scene->store, "author", "e-1", &builder, error);
    ses_builder_close(builder);
    return code;
}

/* Long enough for the buffer to grow. */
static int step_builder_text(struct scene *scene, ses_error *error)
{
    char text[1000];
    memset(text, '"', sizeof text);
    return ses_builder_text(scene->builder, text, sizeof text, error);
}

static int step_builder_call(struct scene *scene, ses_error *error)
{
    char args[1000];
    memset(args, ' ', sizeof args);
    memcpy(args, "{\"a\":1", 6);
    args[sizeof args - 1] = '}';
    return ses_builder_call(scene->builder, "c", "name", args, sizeof args, error);
}

static int step_builder_response(struct scene *scene, ses_error *error)
{
    char response[1000];
    memset(response, ' ', sizeof response);
    response[0] = '{';
    response[sizeof response - 1] = '}';
    return ses_builder_response(scene->builder, "c", "name", response, sizeof response, error);
}

static int step_builder_part(struct scene *scene, ses_error *error)
{
    char part[1000];
    memset(part, ' ', sizeof part);
    part[0] = '{';
    part[sizeof part - 1] = '}';
    return ses_builder_part(scene->builder, part, sizeof part, error);
}

static int step_builder_content(struct scene *scene, ses_error *error)
{
    return ses_builder_content(scene->builder, "{}", SES_NUL, error);
}

static int step_builder_delta(struct scene *scene, ses_error *error)
{
    return ses_builder_delta(scene->builder, Q("{'a':1}"), SES_NUL, error);
}

static int step_builder_action(struct scene *scene, ses_error *error)
{
    return ses_builder_action(scene->builder, "escalate", "true", SES_NUL, error);
}

static int step_builder_field(struct scene *scene, ses_error *error)
{
    return ses_builder_field(scene->builder, "branch", Q("'b'"), SES_NUL, error);
}

static int step_builder_response_to(struct scene *scene, ses_error *error)
{
    char name[1000];
    memset(name, 'n', sizeof name);
    const ses_function call = {{"c-1", 3}, {name, sizeof name}, {NULL, 0}};
    return ses_builder_response_to(scene->builder, &call, NULL, 0, error);
}

static int step_builder_field_string(struct scene *scene, ses_error *error)
{
    return ses_builder_field_string(scene->builder, "branch", "b", SES_NUL, error);
}

static int step_builder_json(struct scene *scene, ses_error *error)
{
    ses_builder *builder = NULL;
    long until = scene->heap.until;
    scene->heap.until = -1;
    assert_int_equal(ses_builder_open(scene->store, "author", "e-1", &builder, NULL), SES_OK);
    scene->heap.until = until;
    const char *json = ses_builder_json(builder, NULL);
    ses_builder_close(builder);
    if (!json && error)
        *error = (ses_error){.code = SES_NOMEM, .message = "there is no error to fill"};
    return json ? SES_OK : SES_NOMEM;
}

static int read_artifact(void *context, const char *name, char **text, size_t *len, ses_error *error)
{
    struct scene *scene = context;
    (void)name;
    (void)error;
    *len = 3;
    *text = ses_text_make(scene->store, *len);
    if (*text)
        memcpy(*text, "art", 3);
    return *text ? SES_OK : SES_NOMEM;
}

static int step_render(struct scene *scene, ses_error *error)
{
    const ses_render_options options = {
        .size = sizeof options, .artifacts = read_artifact, .artifacts_context = scene};
    char *rendered = NULL;
    int code = ses_render(scene->session, "{s}{app:a}{artifact.x}{app:a}{app:a}", SES_NUL, &options,
                          &rendered, NULL, error);
    if (code == SES_OK)
        assert_string_equal(rendered, Q("x\ny{'k':1}art{'k':1}{'k':1}"));
    else
        assert_null(rendered);
    ses_free(rendered);
    return code;
}

/* The values are so long that the buffer grows, once after a copy and once while unescaping. */
static int step_render_long(struct scene *scene, ses_error *error)
{
    char value[2000];
    char *rendered = NULL;
    long until = scene->heap.until;
    ses_tracked *tracked = NULL;

    memset(value, '\n', sizeof value);
    scene->heap.until = -1;
    assert_int_equal(ses_tracked_open(scene->session, NULL, &tracked, NULL), SES_OK);
    assert_int_equal(ses_tracked_set_string(tracked, "v", value, sizeof value, NULL), SES_OK);
    assert_int_equal(ses_tracked_set(tracked, "j", "[1,2,3]", SES_NUL, NULL), SES_OK);
    scene->heap.until = until;
    int code = ses_tracked_render(tracked, "{v}{j}{v}", SES_NUL, NULL, &rendered, NULL, error);
    ses_tracked_close(tracked);
    ses_free(rendered);
    return code;
}

static int step_begin(struct scene *scene, ses_error *error)
{
    return ses_invocation_begin(scene->session, "e-2", error);
}

static int step_begin_made(struct scene *scene, ses_error *error)
{
    return ses_invocation_begin(scene->session, NULL, error);
}

struct named_step {
    const char *name;
    agent_step *run;
};

static const struct named_step steps[] = {
#define STEP(name)         \
    {                      \
#name, step_##name \
    }
    STEP(track),
    STEP(set),
    STEP(replace),
    STEP(set_double),
    STEP(remove),
    STEP(json),
    STEP(delta),
    STEP(get_own_string),
    STEP(get_stored_string),
    STEP(get_shared),
    STEP(get_shared_absent),
    STEP(append),
    STEP(append_expecting),
    STEP(output_append),
    STEP(output_delta),
    STEP(content),
    STEP(context),
    STEP(context_budget),
    STEP(context_inline),
    STEP(pending),
    STEP(pending_on_handle),
    STEP(builder_open),
    STEP(builder_text),
    STEP(builder_call),
    STEP(builder_response),
    STEP(builder_part),
    STEP(builder_content),
    STEP(builder_delta),
    STEP(builder_action),
    STEP(builder_field),
    STEP(builder_field_string),
    STEP(builder_response_to),
    STEP(builder_json),
    STEP(render),
    STEP(render_long),
    STEP(begin),
    STEP(begin_made),
    STEP(builder_append),
    STEP(pending_answer),
};

/* -------------------------------------------------------------------------------------------- the tests */

/* On a server, what could not be sent ahead for want of memory is asked for later, and all is well. If memory
 * runs out for good after the commit, the outcome is unknown. */
static bool is_fine_on_server(int code)
{
    return support_on_server() && (code == SES_OK || code == SES_UNKNOWN);
}

/* Fails each allocation of the step; returns how many there were. */
static long fail_each(struct scene *scene, const struct named_step *step, bool for_good, bool with_error)
{
    long count = 0;
    int code = SES_NOMEM;

    while (code == SES_NOMEM) {
        char *before = scene_text(scene);
        ses_error error;
        scene->heap.until = count;
        scene->heap.for_good = for_good;
        code = step->run(scene, with_error ? &error : NULL);
        bool failed = scene->heap.until < 0 || (for_good && scene->heap.until == 0);
        scene->heap.until = -1;
        if (code == SES_NOMEM) {
            char *after = scene_text(scene);
            assert_string_equal(after, before);
            if (with_error) {
                assert_int_equal(error.code, SES_NOMEM);
                assert_true(error.message[0] != '\0');
            }
            free(after);
            count++;
        } else if (!is_fine_on_server(code) && (code != SES_OK || (failed && !for_good))) {
            fail_msg("%s, allocation %ld: %s %s", step->name, count, ses_code_name(code), error.message);
        }
        free(before);
        assert_true(count < 1000);
    }
    return count;
}

PLAIN_TEST(every_allocation_fails_in_turn)
{
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        for (int mode = 0; mode < 4; mode++) {
            struct scene scene;
            scene_open(&scene);
            long count = fail_each(&scene, &steps[i], (mode & 1) != 0, (mode & 2) == 0);
            if (count == 0)
                fail_msg("%s allocates nothing", steps[i].name);
            scene_close(&scene);
        }
    }
}

/* ses_tracked_has cannot report that memory ran out, so what depends on its answer is refused until it is
 * asked again. */
PLAIN_TEST(a_reading_that_could_not_be_noted)
{
    struct scene scene;

    scene_open(&scene);
    ses_tracked_discard(scene.tracked);
    assert_ok(ses_tracked_set_int64(scene.tracked, "own", 1, &error));
    scene.heap.until = 0;
    scene.heap.for_good = true;
    assert_int_equal(ses_tracked_has(scene.tracked, "app:a"), 1);
    assert_int_equal(ses_tracked_has(scene.tracked, "user:none"), 0);
    scene.heap.until = -1;
    assert_ok(ses_tracked_append(scene.tracked, EVENT, SES_NUL, NULL, NULL, &error)); /* nothing shared */
    for (int again = 0; again < 2; again++) {
        scene.heap.until = again == 0 ? 0 : -1;
        assert_int_equal(ses_tracked_has(scene.tracked, "app:a"), 1);
        scene.heap.until = -1;
        assert_ok(ses_tracked_set_int64(scene.tracked, "user:other", 1, &error));
        int code = ses_tracked_append(scene.tracked, EVENT, SES_NUL, NULL, NULL, &error);
        assert_code(again == 0 ? SES_STALE : SES_OK, code);
        if (again == 0) {
            assert_message("out of memory while");
            ses_tracked_discard(scene.tracked);
        }
    }
    scene_close(&scene);
}
