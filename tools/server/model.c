/*
 * The agent. Its model is a script: asked to "note" something it calls its tool, otherwise it repeats the
 * message. A real model would receive the instruction and the context at the same points.
 */
#include "server.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "seslite_agent.h"

static const char agent_name[] = "secretary";
static const char output_key[] = "last_answer";
/* The notes belong to the user and are shared by all sessions. */
static const char instruction_template[] = "Notes: {user:notes?}.";
static const char tool_name[] = "note";
static const char notes_key[] = "user:notes";

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
    const char *text = ses_content_text(last, NULL);

    if (ses_content_response_count(last) > 0)
        answer->text = join("Noted.", instruction);
    else if (text && strncmp(text, command, sizeof command - 1) == 0)
        answer->args = make_args(text + sizeof command - 1);
    else
        answer->text = join(text ? text : "", instruction);
    return answer->text || answer->args ? SES_OK : SES_NOMEM;
}

/* A model receives the contents of the context in order. This one looks only at the last. */
static int ask_model(const struct agent_run *run, const char *instruction, struct answer *answer,
                     ses_error *error)
{
    ses_context *context = NULL;
    ses_content *last = NULL;
    int code = ses_context_open(run->session, NULL, &context, error);

    if (code == SES_OK) {
        const ses_event *event = ses_context_event(context, ses_context_count(context) - 1);
        code = ses_content_open(run->store, event->json, event->json_len, &last, error);
    }
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
    const ses_append_options options = {.size = sizeof options, .lease = run->lease};
    ses_builder *builder = NULL;
    size_t len = 0;
    int code = ses_builder_open(run->store, agent_name, ses_invocation_id(run->session), &builder, error);

    if (code == SES_OK)
        code = ses_builder_response_to(builder, call, NULL, 0, error);
    if (code == SES_OK) {
        const char *event = ses_builder_json(builder, &len);
        code = ses_tracked_append(tracked, event, len, &options, NULL, error);
    }
    ses_builder_close(builder);
    return code;
}

static int run_tool(const struct agent_run *run, const ses_function *call, ses_error *error)
{
    ses_tracked *tracked = NULL;
    int code = ses_tracked_open(run->session, 0, &tracked, error);

    if (code != SES_OK)
        return code;
    do {
        ses_tracked_discard(tracked);
        code = ses_refresh(run->session, NULL, error);
        if (code == SES_OK)
            code = write_note(tracked, call, error);
        if (code == SES_OK)
            code = store_response(run, tracked, call, error);
    } while (code == SES_STALE); /* another session of the user was faster: retry with its notes */
    ses_tracked_close(tracked);
    return code;
}

/* ---------------------------------------------------------------------------------------------- the agent */

/* Stores the model's answer. A final text is also written to the state. */
static int store_answer(const struct agent_run *run, const struct answer *answer, ses_error *error)
{
    const ses_append_options options = {.size = sizeof options, .lease = run->lease};
    ses_builder *builder = NULL;
    ses_tracked *tracked = NULL;
    char id[40];
    size_t len = 0;
    int code = ses_builder_open(run->store, agent_name, ses_invocation_id(run->session), &builder, error);

    if (code == SES_OK)
        code = ses_store_make_id(run->store, id, sizeof id, error);
    if (code == SES_OK)
        code = answer->text ? ses_builder_text(builder, answer->text, SES_NUL, error)
                            : ses_builder_call(builder, id, tool_name, answer->args, SES_NUL, error);
    if (code == SES_OK)
        code = ses_tracked_open(run->session, 0, &tracked, error);
    if (code == SES_OK) {
        const char *event = ses_builder_json(builder, &len);
        code = ses_output_append(tracked, event, len, agent_name, output_key, &options, NULL, error);
    }
    ses_tracked_close(tracked);
    ses_builder_close(builder);
    return code;
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
    const ses_lease_options options = {.size = sizeof options, .duration_us = run->lease_us};
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
    const ses_answer_options options = {.size = sizeof options, .lease = run->lease};
    const int code = ses_pending_answer(run->session, &options, NULL, error);

    return code < 0 ? code : SES_OK;
}
