/*
 * The agent. Its model is a script: asked to "note" something it calls its tool, otherwise it repeats the
 * message. A real model would receive the instruction and the context at the same points.
 */
#include "server.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char agent_name[] = "secretary";
static const char output_key[] = "last_answer";
/* The notes belong to the user and are shared by all sessions. */
static const char instruction_template[] = "Notes: {user:notes?}.";
static const char tool_name[] = "note";
static const char tool_result[] = "{\"result\":null}";
static const char notes_key[] = "user:notes";

#define DESCRIPTION "\"description\":\"Repeats, and takes notes.\""
#define INSTRUCTION "\"instruction\":\"Notes: {user:notes?}.\""

const char agent_info[] =
    "\"rootAgentName\":\"secretary\"," DESCRIPTION ",\"language\":\"python\",\"isComputerUse\":false";
const char agent_description[] =
    "{\"secretary\":{\"name\":\"secretary\"," DESCRIPTION "," INSTRUCTION
    ",\"tools\":[{\"functionDeclarations\":[{\"description\":\"Notes something.\",\"name\":\"note\","
    "\"parametersJsonSchema\":{\"properties\":{\"note\":{\"title\":\"Note\",\"type\":\"string\"}},"
    "\"required\":[\"note\"],\"title\":\"noteParams\",\"type\":\"object\"}}]}],\"sub_agents\":[]}}";
const char agent_graph[] =
    "{\"name\":\"secretary\",\"root_agent\":{\"name\":\"secretary\"," DESCRIPTION "," INSTRUCTION
    ",\"sub_agents\":[],\"model\":\"script\",\"tools\":[{\"name\":\"note\",\"type\":\"tool\"}]}}";
const char agent_graph_image[] =
    "{\"\":{\"dotSrc\":\"digraph { node [shape=rect style=rounded]; secretary; note [style=\\\"rounded,dashed\\\"]; "
    "secretary -> note [style=dashed] }\"}}";

/* ------------------------------------------------------------------------------------------------- events */

int event_open(ses_store *store, const char *author, const char *invocation, ses_builder **builder,
               ses_error *error)
{
    static const char *const actions[] = {"artifactDelta", "requestedAuthConfigs",
                                          "requestedToolConfirmations"};
    const bool is_agent = strcmp(author, agent_name) == 0;
    int code = ses_builder_open(store, author, invocation, builder, error);

    if (code == SES_OK)
        code = ses_builder_field(*builder, "nodeInfo",
                                 is_agent ? "{\"path\":\"secretary@1\"}" : "{\"path\":\"\"}", SES_NUL, error);
    if (code == SES_OK)
        code = ses_builder_delta(*builder, "{}", SES_NUL, error);
    for (size_t i = 0; code == SES_OK && i < sizeof actions / sizeof actions[0]; i++)
        code = ses_builder_action(*builder, actions[i], "{}", SES_NUL, error);
    return code;
}

/* An event of the agent in this turn. */
static int own_event_open(const struct agent_run *run, ses_builder **builder, ses_error *error)
{
    int code = event_open(run->store, agent_name, ses_invocation_id(run->session), builder, error);

    if (code == SES_OK && run->metadata)
        code = ses_builder_field(*builder, "customMetadata", run->metadata, SES_NUL, error);
    return code;
}

/* Shows the newest event, which was just stored, to whom the turn answers. */
static int show_newest(const struct agent_run *run)
{
    const ses_event *event = ses_session_event(run->session, ses_session_event_count(run->session) - 1);

    return run->take(run->context, event->json, event->json_len);
}

/* ---------------------------------------------------------------------------------------------- the model */

/* The model's answer: a text, or the arguments of a call to its tool. The caller frees it. */
struct answer {
    char *text;
    char *args;
};

static void answer_free(struct answer *answer)
{
    free(answer->text);
    cJSON_free(answer->args);
}

static char *join(const char *first, const char *second)
{
    size_t size = strlen(first) + strlen(second) + 2;
    char *joined = malloc(size);

    if (joined)
        (void)snprintf(joined, size, "%s %s", first, second);
    return joined;
}

static char *make_args(const char *note)
{
    cJSON *args = cJSON_CreateObject();
    char *json = args && cJSON_AddStringToObject(args, "note", note) ? cJSON_PrintUnformatted(args) : NULL;

    cJSON_Delete(args);
    return json;
}

/* The answer depends on the last content of the conversation. */
static int ask_script(const ses_content *last, const char *instruction, struct answer *answer)
{
    static const char command[] = "note ";
    const char *text = last ? ses_content_text(last, NULL) : NULL;

    if (last && ses_content_response_count(last) > 0)
        answer->text = join("Noted.", instruction);
    else if (text && strncmp(text, command, sizeof command - 1) == 0)
        answer->args = make_args(text + sizeof command - 1);
    else
        answer->text = join(text ? text : "", instruction);
    return answer->text || answer->args ? SES_OK : SES_NOMEM;
}

/* Opens the last content of the context that says something. NULL: there is none. */
static int open_last(const struct agent_run *run, const ses_context *context, ses_content **last,
                     ses_error *error)
{
    int code = SES_OK;

    *last = NULL;
    for (size_t i = ses_context_count(context); code == SES_OK && !*last && i > 0; i--) {
        const ses_event *event = ses_context_event(context, i - 1);
        code = ses_content_open(run->store, event->json, event->json_len, last, error);
        if (code == SES_OK && ses_content_part_count(*last) == 0) {
            ses_content_close(*last);
            *last = NULL;
        }
    }
    return code;
}

/* A model receives the contents of the context in order. This one looks only at the last. */
static int ask_model(const struct agent_run *run, const char *instruction, struct answer *answer,
                     ses_error *error)
{
    const ses_context_options options = {.size = sizeof options, .cancel = run->cancel};
    ses_context *context = NULL;
    ses_content *last = NULL;
    int code = ses_context_open(run->session, &options, &context, error);

    if (code == SES_OK)
        code = open_last(run, context, &last, error);
    if (code == SES_OK)
        code = ask_script(last, instruction, answer);
    ses_content_close(last);
    ses_context_close(context);
    return code;
}

/* ----------------------------------------------------------------------------------------------- the tool */

static char *add_note(const char *notes, const char *note)
{
    cJSON *list = notes ? cJSON_Parse(notes) : cJSON_CreateArray();
    cJSON *item = cJSON_CreateString(note);
    char *json = NULL;

    if (cJSON_IsArray(list) && item && cJSON_AddItemToArray(list, item))
        json = cJSON_PrintUnformatted(list);
    else
        cJSON_Delete(item);
    cJSON_Delete(list);
    return json;
}

/* Adds a note. The view remembers the values that it read: if another session of the user changes the notes
 * before this is stored, the append fails with STALE. */
static int write_note(ses_tracked *tracked, const ses_function *call, ses_error *error)
{
    cJSON *args = cJSON_ParseWithLength(call->json.text, call->json.len);
    const char *note = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(args, "note"));
    const char *notes = NULL;
    int code = ses_tracked_get(tracked, notes_key, &notes, NULL, error);

    if (code >= 0) {
        char *json = add_note(code == SES_ABSENT ? NULL : notes, note ? note : "");
        code = json ? ses_tracked_set(tracked, notes_key, json, SES_NUL, error) : SES_NOMEM;
        cJSON_free(json);
    }
    cJSON_Delete(args);
    return code;
}

/* The response and the tool's state changes are one event: both are stored, or neither. */
static int store_response(const struct agent_run *run, ses_tracked *tracked, const ses_function *call,
                          ses_error *error)
{
    const ses_append_options options = {.size = sizeof options, .lease = run->lease, .cancel = run->cancel};
    ses_builder *builder = NULL;
    size_t len = 0;
    int code = own_event_open(run, &builder, error);

    if (code == SES_OK)
        code = ses_builder_response_to(builder, call, tool_result, SES_NUL, error);
    if (code == SES_OK) {
        const char *event = ses_builder_json(builder, &len);
        code = ses_tracked_append(tracked, event, len, &options, NULL, error);
    }
    ses_builder_close(builder);
    return code;
}

static int run_tool(const struct agent_run *run, const ses_function *call, ses_error *error)
{
    const ses_call_options options = {.size = sizeof options, .cancel = run->cancel};
    ses_tracked *tracked = NULL;
    int code = ses_tracked_open(run->session, NULL, &tracked, error);

    if (code != SES_OK)
        return code;
    do {
        ses_tracked_discard(tracked);
        code = ses_refresh(run->session, &options, error);
        if (code == SES_OK)
            code = write_note(tracked, call, error);
        if (code == SES_OK)
            code = store_response(run, tracked, call, error);
    } while (code == SES_STALE); /* another session of the user was faster: retry with its notes */
    ses_tracked_close(tracked);
    return code == SES_OK ? show_newest(run) : code;
}

/* ---------------------------------------------------------------------------------------------- the agent */

/* Shows a piece of the answer. It has the id of the answer's event, and is not stored. */
static int show_piece(const struct agent_run *run, const char *id, const char *text, size_t len,
                      ses_error *error)
{
    ses_builder *builder = NULL;
    struct timespec now;
    char timestamp[40];
    size_t json_len = 0;
    int code = own_event_open(run, &builder, error);

    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)snprintf(timestamp, sizeof timestamp, "%lld.%06ld", (long long)now.tv_sec, now.tv_nsec / 1000);
    if (code == SES_OK)
        code = ses_builder_field(builder, "timestamp", timestamp, SES_NUL, error);
    if (code == SES_OK)
        code = ses_builder_field_string(builder, "id", id, SES_NUL, error);
    if (code == SES_OK)
        code = ses_builder_field(builder, "partial", "true", SES_NUL, error);
    if (code == SES_OK)
        code = ses_builder_text(builder, text, len, error);
    if (code == SES_OK) {
        const char *event = ses_builder_json(builder, &json_len);
        code = event ? run->take(run->context, event, json_len) : SES_NOMEM;
    }
    ses_builder_close(builder);
    return code;
}

/* A model sends its answer as it comes to it; this one word by word. */
static int show_pieces(const struct agent_run *run, const char *id, const char *text, ses_error *error)
{
    int code = SES_OK;

    while (code == SES_OK && *text) {
        const size_t word = strcspn(text, " ");
        const size_t len = word + (text[word] == ' ');
        code = show_piece(run, id, text, len, error);
        text += len;
    }
    return code;
}

static int build_answer(const struct agent_run *run, const struct answer *answer, const char *id,
                        ses_builder *builder, ses_error *error)
{
    char call_id[44] = "adk-"; /* as google-adk begins the ids of its calls */
    int code = ses_builder_field_string(builder, "id", id, SES_NUL, error);

    if (code == SES_OK && answer->text)
        return ses_builder_text(builder, answer->text, SES_NUL, error);
    if (code == SES_OK)
        code = ses_builder_field(builder, "longRunningToolIds", "[]", SES_NUL, error);
    if (code == SES_OK)
        code = ses_store_make_id(run->store, call_id + 4, sizeof call_id - 4, error);
    return code == SES_OK ? ses_builder_call(builder, call_id, tool_name, answer->args, SES_NUL, error)
                          : code;
}

/* Stores the model's answer. A final text is also written to the state. */
static int store_answer(const struct agent_run *run, const struct answer *answer, ses_error *error)
{
    const ses_append_options options = {.size = sizeof options, .lease = run->lease, .cancel = run->cancel};
    ses_builder *builder = NULL;
    ses_tracked *tracked = NULL;
    char id[40];
    size_t len = 0;
    int code = own_event_open(run, &builder, error);

    if (code == SES_OK)
        code = ses_store_make_id(run->store, id, sizeof id, error);
    if (code == SES_OK && run->wants_pieces && answer->text)
        code = show_pieces(run, id, answer->text, error);
    if (code == SES_OK)
        code = build_answer(run, answer, id, builder, error);
    if (code == SES_OK)
        code = ses_tracked_open(run->session, NULL, &tracked, error);
    if (code == SES_OK) {
        const char *event = ses_builder_json(builder, &len);
        code = ses_output_append(tracked, event, len, agent_name, output_key, &options, NULL, error);
    }
    ses_tracked_close(tracked);
    ses_builder_close(builder);
    return code == SES_OK ? show_newest(run) : code;
}

/* Runs the tool that the newest event calls. Returns 1 if the event is final and calls none. */
static int act_on_newest(const struct agent_run *run, ses_error *error)
{
    const ses_event *event = ses_session_event(run->session, ses_session_event_count(run->session) - 1);
    ses_content *content = NULL;
    int code = ses_content_open(run->store, event->json, event->json_len, &content, error);

    if (code == SES_OK && ses_content_is_final(content))
        code = 1;
    else if (code == SES_OK)
        code = run_tool(run, ses_content_call(content, 0), error);
    ses_content_close(content);
    return code;
}

/* One question to the model and the work that follows. Returns 1 after the final response. The lease should
 * last as long as the model takes; if it expires, the turn continues unless another worker has taken over the
 * session. */
static int take_step(const struct agent_run *run, ses_error *error)
{
    const ses_key key = {ses_session_app(run->session), ses_session_user(run->session),
                         ses_session_id(run->session)};
    const ses_lease_options options = {
        .size = sizeof options, .duration_us = run->lease_us, .cancel = run->cancel};
    struct answer answer = {NULL, NULL};
    ses_lease lease;
    char *instruction = NULL;
    int code = ses_lease_renew(run->store, &key, run->lease, &options, &lease, error);

    if (code == SES_OK)
        code = ses_render(run->session, instruction_template, SES_NUL, NULL, &instruction, NULL, error);
    if (code == SES_OK)
        code = ask_model(run, instruction, &answer, error);
    if (code == SES_OK)
        code = store_answer(run, &answer, error);
    if (code == SES_OK)
        code = act_on_newest(run, error);
    answer_free(&answer);
    ses_free(instruction);
    return code;
}

int agent_answer(const struct agent_run *run, ses_error *error)
{
    int code = SES_OK;

    while (code == SES_OK)
        code = take_step(run, error);
    return code == 1 ? SES_OK : code;
}

int agent_is_answer(ses_store *store, const ses_event *event, const char *invocation, ses_error *error)
{
    ses_content *content = NULL;

    if (strcmp(event->author, agent_name) != 0 || strcmp(event->invocation_id, invocation) != 0)
        return 0;
    int code = ses_content_open(store, event->json, event->json_len, &content, error);
    if (code == SES_OK) /* the answer to a lost call is also final, since it has an error code */
        code = ses_content_is_final(content) && !ses_content_error_code(content).text;
    ses_content_close(content);
    return code;
}

/* ----------------------------------------------------------------------------------- what was left behind */

/* Models reject a conversation with an unanswered call. */
int agent_mend(const struct agent_run *run, ses_error *error)
{
    const ses_answer_options options = {.size = sizeof options, .lease = run->lease, .cancel = run->cancel};
    const int code = ses_pending_answer(run->session, &options, NULL, error);

    return code < 0 ? code : SES_OK;
}
