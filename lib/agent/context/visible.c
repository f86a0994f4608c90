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
    /* The part that is being read. */
    bool part_stays; /* even if it is a thought */
    bool part_says;
    bool part_is_thought;
};

/* ---------------------------------------------------------------------------------------------- flags */

/* Present means that there is a value, and not an empty text. */
static int read_presence(void *into, const struct json_found *found, ses_error *error)
{
    struct span value;
    int code = ses__json_read_value(&value, found, error);

    if (code == SES_OK && (found->type != JSON_STRING || value.len > strlen("\"\"")))
        *(bool *)into = true;
    return code;
}

#define AN_OBJECT JSON_MAY_BE(JSON_OBJECT)
#define AN_OBJECT_SETS(member) AN_OBJECT | JSON_INTO(struct visibility, member), read_presence
#define A_TEXT_SETS(member) JSON_MAY_BE(JSON_STRING) | JSON_INTO(struct visibility, member), read_presence

/* -------------------------------------------------------------------------------------------- content */

static const struct json_object visible_part_fields = {
    "the event",
    "content.parts[].",
    JSON_FIELDS({"functionCall", "function_call", AN_OBJECT_SETS(part_stays), NULL},
                {"functionResponse", "function_response", AN_OBJECT_SETS(part_stays), NULL},
                {"toolCall", "tool_call", AN_OBJECT_SETS(part_stays), NULL},
                {"toolResponse", "tool_response", AN_OBJECT_SETS(part_stays), NULL},
                {"thoughtSignature", "thought_signature", A_TEXT_SETS(part_stays), NULL},
                {"thought", NULL, JSON_MAY_BE(JSON_BOOL) | JSON_INTO(struct visibility, part_is_thought),
                 ses__json_read_bool, NULL},
                {"text", NULL, A_TEXT_SETS(part_says), NULL},
                {"inlineData", "inline_data", AN_OBJECT_SETS(part_says), NULL},
                {"fileData", "file_data", AN_OBJECT_SETS(part_says), NULL},
                {"executableCode", "executable_code", AN_OBJECT_SETS(part_says), NULL},
                {"codeExecutionResult", "code_execution_result", AN_OBJECT_SETS(part_says), NULL}),
};

static int read_visible_part(void *into, const struct json_found *found, ses_error *error)
{
    struct visibility *visibility = into;

    visibility->part_stays = false;
    visibility->part_says = false;
    visibility->part_is_thought = false;
    int code = ses__json_take_object(found, &visible_part_fields, visibility, error);
    if (visibility->part_stays || (visibility->part_says && !visibility->part_is_thought))
        visibility->has_visible_part = true;
    return code;
}

static int read_visible_parts(void *into, const struct json_found *found, ses_error *error)
{
    return ses__json_take_elements(found, "parts[]", read_visible_part, into, error);
}

static const struct json_object visible_content_fields = {
    "the event",
    "content.",
    JSON_FIELDS({"role", NULL, A_TEXT_SETS(has_role), NULL},
                {"parts", NULL, JSON_MAY_BE(JSON_ARRAY), read_visible_parts, NULL}),
};

static int read_visible_content(void *into, const struct json_found *found, ses_error *error)
{
    return ses__json_take_object(found, &visible_content_fields, into, error);
}

static const struct json_object visible_node_fields = {
    "the event", "nodeInfo.", JSON_FIELDS({"path", NULL, A_TEXT_SETS(is_of_node), NULL})};

static int read_visible_node(void *into, const struct json_found *found, ses_error *error)
{
    return ses__json_take_object(found, &visible_node_fields, into, error);
}

static const struct json_object visible_event_fields = {
    "the event",
    "",
    JSON_FIELDS({"content", NULL, AN_OBJECT, read_visible_content, NULL},
                {"inputTranscription", "input_transcription", AN_OBJECT_SETS(has_transcription), NULL},
                {"outputTranscription", "output_transcription", AN_OBJECT_SETS(has_transcription), NULL},
                {"isolationScope", "isolation_scope",
                 JSON_MAY_BE(JSON_STRING) | JSON_INTO(struct visibility, is_scoped), ses__json_note, NULL},
                {"nodeInfo", "node_info", AN_OBJECT, read_visible_node, NULL}),
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
