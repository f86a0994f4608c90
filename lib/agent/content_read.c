/* Reads the content of an event in one pass, and borrows from its text where possible. */
#include "agent/content.h"

#include <string.h>

#include "base/error.h"
#include "json/decimal.h"
#include "json/object.h"
#include "model/event/stored_event.h"

/* Fields of a ses_text: a text, decoded, and a value as it is. */
static int read_ses_text(void *into, const struct json_found *found, ses_error *error)
{
    struct span text = {NULL, 0};
    int code = ses__json_take_text(found, found->reader->arena, &text, error);

    *(ses_text *)into = ses__text(text);
    return code;
}

static int read_ses_value(void *into, const struct json_found *found, ses_error *error)
{
    struct span value = {NULL, 0};
    int code = ses__json_read_value(&value, found, error);

    *(ses_text *)into = ses__text(value);
    return code;
}

/* ---------------------------------------------------------------------------------------- functions */

/* Reads a function, and adds it to the list. */
static int read_function(ses_content *content, const struct json_found *found,
                         const struct json_object *object, struct function_list *list,
                         const ses_function **read, ses_error *error)
{
    ses_function *function = ses__arena_new(&content->arena, sizeof *function);

    if (!function || !LIST_GROW(&content->allocator, list))
        return ses__error_nomem(error);
    *function = (ses_function){{NULL, 0}, {NULL, 0}, {NULL, 0}};
    list->items[list->count++] = *read = function;
    return ses__json_read_object(found->reader, object, function, error);
}

#define FUNCTION_TEXT(member) JSON_MAY_BE(JSON_STRING) | JSON_INTO(ses_function, member), read_ses_text
#define FUNCTION_JSON JSON_MAY_BE(JSON_OBJECT) | JSON_INTO(ses_function, json), read_ses_value

static const struct json_object call_fields = {
    "the event",
    "functionCall.",
    JSON_FIELDS({"id", NULL, FUNCTION_TEXT(id), NULL}, {"name", NULL, FUNCTION_TEXT(name), NULL},
                {"args", NULL, FUNCTION_JSON, NULL}),
};

static const struct json_object response_fields = {
    "the event",
    "functionResponse.",
    JSON_FIELDS({"id", NULL, FUNCTION_TEXT(id), NULL}, {"name", NULL, FUNCTION_TEXT(name), NULL},
                {"response", NULL, FUNCTION_JSON, NULL}),
};

/* -------------------------------------------------------------------------------------------- parts */

static int read_part_call(void *into, const struct json_found *found, ses_error *error)
{
    ses_content *content = into;
    return read_function(content, found, &call_fields, &content->calls, &content->latest.part.call, error);
}

static int read_part_response(void *into, const struct json_found *found, ses_error *error)
{
    ses_content *content = into;
    return read_function(content, found, &response_fields, &content->responses,
                         &content->latest.part.response, error);
}

#define INTO_PART(member) JSON_INTO(ses_content, latest.member)

static const struct json_object part_fields = {
    "the event",
    "content.parts[].",
    JSON_FIELDS({"text", NULL, JSON_MAY_BE(JSON_STRING) | INTO_PART(part.text), read_ses_text, NULL},
                {"thought", NULL, JSON_MAY_BE(JSON_BOOL) | INTO_PART(is_thought), ses__json_read_bool, NULL},
                {"functionCall", "function_call", JSON_MAY_BE(JSON_OBJECT), read_part_call, NULL},
                {"functionResponse", "function_response", JSON_MAY_BE(JSON_OBJECT), read_part_response, NULL},
                {"codeExecutionResult", "code_execution_result",
                 JSON_MAY_BE(JSON_OBJECT) | INTO_PART(is_result), ses__json_note, NULL}),
};

static int read_part(void *into, const struct json_found *found, ses_error *error)
{
    ses_content *content = into;
    struct content_part *latest = &content->latest;

    *latest = (struct content_part){.is_result = false};
    int code = ses__json_take_object(found, &part_fields, content, error);
    if (code != SES_OK)
        return code;
    latest->part.json = ses__text(ses__json_taken(found));
    latest->part.thought = latest->is_thought;
    if (latest->part.text.text && !latest->is_thought)
        ses__buffer_add(&content->text, latest->part.text.text, latest->part.text.len);
    if (content->text.failed || !LIST_GROW(&content->allocator, &content->parts))
        return ses__error_nomem(error);
    content->parts.items[content->parts.count++] = latest->part;
    return SES_OK;
}

static int read_parts(void *into, const struct json_found *found, ses_error *error)
{
    return ses__json_take_elements(found, "parts[]", read_part, into, error);
}

/* -------------------------------------------------------------------------------------------- events */

static const struct json_object content_fields = {
    "the event", "content.", JSON_FIELDS({"parts", NULL, JSON_MAY_BE(JSON_ARRAY), read_parts, NULL})};

static int read_content(void *into, const struct json_found *found, ses_error *error)
{
    ses_content *content = into;
    int code = ses__json_take_object(found, &content_fields, content, error);

    content->json = ses__text(ses__json_taken(found));
    return code;
}

static int content_read_compaction(void *into, const struct json_found *found, ses_error *error)
{
    ses_content *content = into;
    struct compaction compaction;
    int code = ses__compaction_read(&compaction, found, error);

    if (code != SES_OK || !ses__compacts(&compaction))
        return code;
    content->compacts = true;
    content->compaction =
        (ses_compaction){compaction.from_us, compaction.to_us, ses__text(compaction.content)};
    return SES_OK;
}

#define INTO_CONTENT(member) JSON_INTO(ses_content, member)

static const struct json_object content_actions_fields = {
    "the event", "actions.",
    JSON_FIELDS({"skipSummarization", "skip_summarization",
                 JSON_MAY_BE(JSON_BOOL) | INTO_CONTENT(skips_summarization), ses__json_read_bool, NULL},
                {"stateDelta", "state_delta", JSON_MAY_BE(JSON_OBJECT) | INTO_CONTENT(state_delta),
                 read_ses_value, NULL},
                {"compaction", NULL, JSON_MAY_BE(JSON_OBJECT), content_read_compaction, NULL})};

static int content_read_actions(void *into, const struct json_found *found, ses_error *error)
{
    ses_content *content = into;
    int code = ses__json_take_object(found, &content_actions_fields, content, error);

    content->actions = ses__text(ses__json_taken(found));
    return code;
}

/* A value that is not a count is treated as absent. */
static int read_count(void *into, const struct json_found *found, ses_error *error)
{
    struct span value;
    int64_t count;
    bool half;
    int code = ses__json_read_value(&value, found, error);

    if (code == SES_OK && found->type == JSON_NUMBER &&
        ses__decimal_truncate(value, 0, &count, &half) == DECIMAL_EXACT && count >= 0)
        *(int64_t *)into = count;
    return code;
}

#define A_COUNT(member) JSON_MAY_BE_ANYTHING | JSON_INTO(ses_usage, member), read_count

static const struct json_object usage_fields = {
    "the event",
    "usageMetadata.",
    JSON_FIELDS({"promptTokenCount", "prompt_token_count", A_COUNT(prompt), NULL},
                {"cachedContentTokenCount", "cached_content_token_count", A_COUNT(cached), NULL},
                {"candidatesTokenCount", "candidates_token_count", A_COUNT(candidates), NULL},
                {"thoughtsTokenCount", "thoughts_token_count", A_COUNT(thoughts), NULL},
                {"toolUsePromptTokenCount", "tool_use_prompt_token_count", A_COUNT(tool_use), NULL},
                {"totalTokenCount", "total_token_count", A_COUNT(total), NULL}),
};

static int read_usage(void *into, const struct json_found *found, ses_error *error)
{
    ses_content *content = into;

    content->has_usage = true;
    content->usage = (ses_usage){-1, -1, -1, -1, -1, -1};
    return ses__json_take_object(found, &usage_fields, &content->usage, error);
}

static int read_long_running(void *into, const struct json_found *found, ses_error *error)
{
    return ses__json_take_elements(found, "longRunningToolIds[]", ses__json_note, into, error);
}

static const struct json_object content_event_fields = {
    "the event",
    "",
    JSON_FIELDS(
        {"content", NULL, JSON_MAY_BE(JSON_OBJECT), read_content, NULL},
        {"author", NULL, JSON_MAY_BE(JSON_STRING) | INTO_CONTENT(author), read_ses_text, NULL},
        {"partial", NULL, JSON_MAY_BE(JSON_BOOL) | INTO_CONTENT(partial), ses__json_read_bool, NULL},
        {"actions", NULL, JSON_MAY_BE(JSON_OBJECT), content_read_actions, NULL},
        {"longRunningToolIds", "long_running_tool_ids", JSON_MAY_BE(JSON_ARRAY) | INTO_CONTENT(runs_long),
         read_long_running, NULL},
        {"errorCode", "error_code", JSON_MAY_BE(JSON_STRING) | INTO_CONTENT(error_code), read_ses_text, NULL},
        {"errorMessage", "error_message", JSON_MAY_BE(JSON_STRING) | INTO_CONTENT(error_message),
         read_ses_text, NULL},
        {"usageMetadata", "usage_metadata", JSON_MAY_BE(JSON_OBJECT), read_usage, NULL}),
};

int ses__content_read(ses_content *content, struct span text, bool shows, ses_error *error)
{
    struct json_reader reader;
    int code = ses__json_start_object(&reader, text, content_event_fields.whole, error);

    reader.arena = &content->arena;
    reader.shows = shows;
    return code == SES_OK ? ses__json_read_last(&reader, &content_event_fields, content, error) : code;
}
