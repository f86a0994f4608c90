/* Whether a model sees anything of an event: google.adk.flows.llm_flows.context._contents, without a branch
 * or a scope. */
#include <string.h>

#include "agent/context/context.h"
#include "json/object.h"

struct visibility {
    bool has_role;
    bool has_visible_part;
    bool has_transcription;
    bool is_scoped; /* belongs to a sub-task, and only that sees it */
    bool is_of_node;
    /* Of the part that is being read. */
    bool part_stays; /* even if it is a thought */
    bool part_says;
    bool part_is_thought;
};

/* ---------------------------------------------------------------------------------------------- flags */

/* Present means that there is a value, and not an empty text. */
static int read_presence(const struct json_found *found, bool *present, ses_error *error)
{
    struct span value;
    int code = ses__json_take_value(found, &value, error);

    if (code == SES_OK && (found->type != JSON_STRING || value.len > strlen("\"\"")))
        *present = true;
    return code;
}

static int visible_part_stays(void *context, const struct json_found *found, ses_error *error)
{
    struct visibility *visibility = context;
    return read_presence(found, &visibility->part_stays, error);
}

static int visible_part_says(void *context, const struct json_found *found, ses_error *error)
{
    struct visibility *visibility = context;
    return read_presence(found, &visibility->part_says, error);
}

static int visible_part_thought(void *context, const struct json_found *found, ses_error *error)
{
    struct visibility *visibility = context;
    return ses__json_take_bool(found, &visibility->part_is_thought, error);
}

static int visible_role(void *context, const struct json_found *found, ses_error *error)
{
    struct visibility *visibility = context;
    return read_presence(found, &visibility->has_role, error);
}

static int visible_transcription(void *context, const struct json_found *found, ses_error *error)
{
    struct visibility *visibility = context;
    return read_presence(found, &visibility->has_transcription, error);
}

static int visible_scope(void *context, const struct json_found *found, ses_error *error)
{
    struct visibility *visibility = context;
    struct span value;

    visibility->is_scoped = true;
    return ses__json_take_value(found, &value, error);
}

static int visible_node_path(void *context, const struct json_found *found, ses_error *error)
{
    struct visibility *visibility = context;
    return read_presence(found, &visibility->is_of_node, error);
}

/* -------------------------------------------------------------------------------------------- content */

#define AN_OBJECT JSON_MAY_BE(JSON_OBJECT)

static const struct json_object visible_part_fields = {
    "the event",
    "content.parts[].",
    {{"functionCall", "function_call", AN_OBJECT, visible_part_stays, NULL},
     {"functionResponse", "function_response", AN_OBJECT, visible_part_stays, NULL},
     {"toolCall", "tool_call", AN_OBJECT, visible_part_stays, NULL},
     {"toolResponse", "tool_response", AN_OBJECT, visible_part_stays, NULL},
     {"thoughtSignature", "thought_signature", JSON_MAY_BE(JSON_STRING), visible_part_stays, NULL},
     {"thought", NULL, JSON_MAY_BE(JSON_BOOL), visible_part_thought, NULL},
     {"text", NULL, JSON_MAY_BE(JSON_STRING), visible_part_says, NULL},
     {"inlineData", "inline_data", AN_OBJECT, visible_part_says, NULL},
     {"fileData", "file_data", AN_OBJECT, visible_part_says, NULL},
     {"executableCode", "executable_code", AN_OBJECT, visible_part_says, NULL},
     {"codeExecutionResult", "code_execution_result", AN_OBJECT, visible_part_says, NULL}},
};

static int read_visible_part(struct visibility *visibility, struct json_reader *json, ses_error *error)
{
    if (ses__json_peek(json) != JSON_OBJECT)
        return ses__json_skip(json, NULL) ? SES_OK : ses__json_error(json, error);
    visibility->part_stays = false;
    visibility->part_says = false;
    visibility->part_is_thought = false;
    int code = ses__json_read_object(json, &visible_part_fields, visibility, error);
    if (visibility->part_stays || (visibility->part_says && !visibility->part_is_thought))
        visibility->has_visible_part = true;
    return code;
}

static int read_visible_parts(void *context, const struct json_found *found, ses_error *error)
{
    struct json_reader *json = found->reader;
    int code = ses__json_enter(json) ? SES_OK : ses__json_error(json, error);

    while (code == SES_OK && ses__json_element(json))
        code = read_visible_part(context, json, error);
    return code == SES_OK && json->wrong ? ses__json_error(json, error) : code;
}

static const struct json_object visible_content_fields = {
    "the event",
    "content.",
    {{"role", NULL, JSON_MAY_BE(JSON_STRING), visible_role, NULL},
     {"parts", NULL, JSON_MAY_BE(JSON_ARRAY), read_visible_parts, NULL}},
};

static int read_visible_content(void *context, const struct json_found *found, ses_error *error)
{
    return ses__json_read_object(found->reader, &visible_content_fields, context, error);
}

static const struct json_object visible_node_fields = {
    "the event", "nodeInfo.", {{"path", NULL, JSON_MAY_BE(JSON_STRING), visible_node_path, NULL}}};

static int read_visible_node(void *context, const struct json_found *found, ses_error *error)
{
    return ses__json_read_object(found->reader, &visible_node_fields, context, error);
}

static const struct json_object visible_event_fields = {
    "the event",
    "",
    {{"content", NULL, AN_OBJECT, read_visible_content, NULL},
     {"inputTranscription", "input_transcription", AN_OBJECT, visible_transcription, NULL},
     {"outputTranscription", "output_transcription", AN_OBJECT, visible_transcription, NULL},
     {"isolationScope", "isolation_scope", JSON_MAY_BE(JSON_STRING), visible_scope, NULL},
     {"nodeInfo", "node_info", AN_OBJECT, read_visible_node, NULL}},
};

/* --------------------------------------------------------------------------------------------- events */

/* The ADK asks its user by calls of these functions, which no model has made. */
static bool is_of_framework(struct span name)
{
    static const char *const names[] = {"adk_framework", "adk_request_credential",
                                        "adk_request_confirmation"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (name.len == strlen(names[i]) && memcmp(name.ptr, names[i], name.len) == 0)
            return true;
    }
    return false;
}

int ses__event_is_visible(const ses_event *event, const struct stored_event *stored, bool *visible,
                          ses_error *error)
{
    struct visibility visibility = {.has_role = false};
    struct json_reader reader;
    bool is_of_users_node = strcmp(event->author, "user") == 0;
    bool is_framework = false;
    int code =
        ses__json_start_object(&reader, (struct span){event->json, event->json_len}, "an event", error);

    reader.lenient = true;
    if (code == SES_OK)
        code = ses__json_read_object(&reader, &visible_event_fields, &visibility, error);
    for (size_t i = 0; i < stored->function_count; i++) {
        is_framework = is_framework || is_of_framework(stored->functions[i].name);
        is_of_users_node = is_of_users_node && !stored->functions[i].is_response;
    }
    *visible = !visibility.is_scoped && !is_framework && !(is_of_users_node && visibility.is_of_node) &&
               (ses__compacts(&stored->compaction) || visibility.has_transcription ||
                (visibility.has_role && visibility.has_visible_part));
    return code;
}
