/* Reads the content of an event in one pass, and borrows from its text where possible. */
#include "agent/content.h"

#include <string.h>

#include "agent/text.h"
#include "agent/usage.h"
#include "base/error.h"
#include "json/object.h"
#include "model/event/compaction.h"

/* The state of the reading. */
struct content_reader {
    ses_content *content;
    struct content_part part;
    bool part_has_result; /* the result of executed code */
    ses_function function;
};

static int read_ses_text(struct content_reader *reader, const struct json_found *found, ses_text *text,
                         ses_error *error)
{
    struct span span = {NULL, 0};
    int code = ses__json_take_text(found, &reader->content->arena, &span, error);
    *text = ses__text(span);
    return code;
}

/* ---------------------------------------------------------------------------------------- functions */

static int read_function_id(void *context, const struct json_found *found, ses_error *error)
{
    struct content_reader *reader = context;
    return read_ses_text(reader, found, &reader->function.id, error);
}

static int read_function_name(void *context, const struct json_found *found, ses_error *error)
{
    struct content_reader *reader = context;
    return read_ses_text(reader, found, &reader->function.name, error);
}

static int read_function_json(void *context, const struct json_found *found, ses_error *error)
{
    struct content_reader *reader = context;
    struct span value = {NULL, 0};
    int code = ses__json_take_value(found, &value, error);

    reader->function.json = ses__text(value);
    return code;
}

static int read_function(struct content_reader *reader, const struct json_found *found,
                         const struct json_object *object, struct function_list *list, ses_error *error)
{
    void *items = list->items;

    reader->function = (ses_function){{NULL, 0}, {NULL, 0}, {NULL, 0}};
    int code = ses__json_read_object(found->reader, object, reader, error);
    if (code != SES_OK)
        return code;
    bool ok = ses__memory_grow(&reader->content->allocator, &items, &list->capacity, list->count + 1,
                               sizeof *list->items);
    list->items = items;
    if (!ok)
        return ses__error_nomem(error);
    list->items[list->count++] = reader->function;
    return SES_OK;
}

static const struct json_object call_fields = {
    "the event",
    "functionCall.",
    {{"id", NULL, JSON_MAY_BE(JSON_STRING), read_function_id, NULL},
     {"name", NULL, JSON_MAY_BE(JSON_STRING), read_function_name, NULL},
     {"args", NULL, JSON_MAY_BE(JSON_OBJECT), read_function_json, NULL}},
};

static const struct json_object response_fields = {
    "the event",
    "functionResponse.",
    {{"id", NULL, JSON_MAY_BE(JSON_STRING), read_function_id, NULL},
     {"name", NULL, JSON_MAY_BE(JSON_STRING), read_function_name, NULL},
     {"response", NULL, JSON_MAY_BE(JSON_OBJECT), read_function_json, NULL}},
};

/* -------------------------------------------------------------------------------------------- parts */

static int read_part_text(void *context, const struct json_found *found, ses_error *error)
{
    struct content_reader *reader = context;

    return read_ses_text(reader, found, &reader->part.part.text, error);
}

static int read_part_thought(void *context, const struct json_found *found, ses_error *error)
{
    struct content_reader *reader = context;
    bool thought = false;
    int code = ses__json_take_bool(found, &thought, error);

    reader->part.part.thought = thought;
    return code;
}

static int read_part_call(void *context, const struct json_found *found, ses_error *error)
{
    struct content_reader *reader = context;
    int code = read_function(reader, found, &call_fields, &reader->content->calls, error);

    reader->part.call = reader->content->calls.count;
    return code;
}

static int read_part_response(void *context, const struct json_found *found, ses_error *error)
{
    struct content_reader *reader = context;
    int code = read_function(reader, found, &response_fields, &reader->content->responses, error);

    reader->part.response = reader->content->responses.count;
    return code;
}

static int read_part_result(void *context, const struct json_found *found, ses_error *error)
{
    struct content_reader *reader = context;
    struct span value;

    reader->part_has_result = true;
    return ses__json_take_value(found, &value, error);
}

static const struct json_object part_fields = {
    "the event",
    "content.parts[].",
    {{"text", NULL, JSON_MAY_BE(JSON_STRING), read_part_text, NULL},
     {"thought", NULL, JSON_MAY_BE(JSON_BOOL), read_part_thought, NULL},
     {"functionCall", "function_call", JSON_MAY_BE(JSON_OBJECT), read_part_call, NULL},
     {"functionResponse", "function_response", JSON_MAY_BE(JSON_OBJECT), read_part_response, NULL},
     {"codeExecutionResult", "code_execution_result", JSON_MAY_BE(JSON_OBJECT), read_part_result, NULL}},
};

static int content_add_part(ses_content *content, const struct content_part *part, ses_error *error)
{
    struct part_list *parts = &content->parts;
    void *items = parts->items;
    bool ok = ses__memory_grow(&content->allocator, &items, &parts->capacity, parts->count + 1,
                               sizeof *parts->items);

    parts->items = items;
    if (ok && part->part.text.text && !part->part.thought) {
        content->has_text = true;
        ses__buffer_add(&content->text, part->part.text.text, part->part.text.len);
        ok = !content->text.failed;
    }
    if (!ok)
        return ses__error_nomem(error);
    parts->items[parts->count++] = *part;
    return SES_OK;
}

/* Reads the next element, which must be an object. */
static int read_part(struct content_reader *reader, struct json_reader *json, ses_error *error)
{
    ses_content *content = reader->content;
    const struct json_found element = {json,        ses__json_peek(json), (size_t)(json->at - json->text),
                                       "the event", "content.",           "parts[]"};
    const char *from = json->at;
    int code = SES_OK;

    reader->part = (struct content_part){.call = 0};
    reader->part_has_result = false;
    if (element.type == JSON_NONE)
        (void)ses__json_skip(json, NULL); /* sets what is wrong */
    else if (element.type != JSON_OBJECT)
        return ses__json_must_be(&element, ses__json_type_name(JSON_OBJECT), error);
    else
        code = ses__json_read_object(json, &part_fields, reader, error);
    if (json->wrong || code != SES_OK)
        return json->wrong ? ses__json_error(json, error) : code;
    reader->part.part.json = (ses_text){from, (size_t)(json->at - from)};
    content->ends_with_result = reader->part_has_result;
    return content_add_part(content, &reader->part, error);
}

static int read_parts(void *context, const struct json_found *found, ses_error *error)
{
    struct json_reader *json = found->reader;
    int code = ses__json_enter(json) ? SES_OK : ses__json_error(json, error);

    while (code == SES_OK && ses__json_element(json))
        code = read_part(context, json, error);
    return code == SES_OK && json->wrong ? ses__json_error(json, error) : code;
}

/* -------------------------------------------------------------------------------------------- events */

static const struct json_object content_fields = {
    "the event", "content.", {{"parts", NULL, JSON_MAY_BE(JSON_ARRAY), read_parts, NULL}}};

static int read_content(void *context, const struct json_found *found, ses_error *error)
{
    struct content_reader *reader = context;
    const char *from = found->reader->at;
    int code = ses__json_read_object(found->reader, &content_fields, reader, error);

    reader->content->json = (ses_text){from, (size_t)(found->reader->at - from)};
    return code;
}

static int read_skips_summarization(void *context, const struct json_found *found, ses_error *error)
{
    struct content_reader *reader = context;
    return ses__json_take_bool(found, &reader->content->skips_summarization, error);
}

static int content_read_delta(void *context, const struct json_found *found, ses_error *error)
{
    struct content_reader *reader = context;
    return ses__json_take_value(found, &reader->content->state_delta, error);
}

static int content_read_compaction(void *context, const struct json_found *found, ses_error *error)
{
    struct content_reader *reader = context;
    struct compaction compaction;
    int code = ses__compaction_read(found, &compaction, error);

    if (code != SES_OK || !ses__compacts(&compaction))
        return code;
    reader->content->compacts = true;
    reader->content->compaction =
        (ses_compaction){compaction.from_us, compaction.to_us, ses__text(compaction.content)};
    return SES_OK;
}

static const struct json_object content_actions_fields = {
    "the event",
    "actions.",
    {{"skipSummarization", "skip_summarization", JSON_MAY_BE(JSON_BOOL), read_skips_summarization, NULL},
     {"stateDelta", "state_delta", JSON_MAY_BE(JSON_OBJECT), content_read_delta, NULL},
     {"compaction", NULL, JSON_MAY_BE(JSON_OBJECT), content_read_compaction, NULL}}};

static int content_read_actions(void *context, const struct json_found *found, ses_error *error)
{
    struct content_reader *reader = context;
    const char *from = found->reader->at;
    int code = ses__json_read_object(found->reader, &content_actions_fields, context, error);

    reader->content->actions = (struct span){from, (size_t)(found->reader->at - from)};
    return code;
}

static int read_error_code(void *context, const struct json_found *found, ses_error *error)
{
    struct content_reader *reader = context;
    return ses__json_take_text(found, &reader->content->arena, &reader->content->error_code, error);
}

static int read_error_message(void *context, const struct json_found *found, ses_error *error)
{
    struct content_reader *reader = context;
    return ses__json_take_text(found, &reader->content->arena, &reader->content->error_message, error);
}

static int content_read_usage(void *context, const struct json_found *found, ses_error *error)
{
    struct content_reader *reader = context;

    reader->content->has_usage = true;
    return ses__usage_read(found, &reader->content->usage, error);
}

static int content_read_author(void *context, const struct json_found *found, ses_error *error)
{
    struct content_reader *reader = context;
    return ses__json_take_text(found, &reader->content->arena, &reader->content->author, error);
}

static int content_read_partial(void *context, const struct json_found *found, ses_error *error)
{
    struct content_reader *reader = context;
    return ses__json_take_bool(found, &reader->content->partial, error);
}

static int read_long_running(void *context, const struct json_found *found, ses_error *error)
{
    struct content_reader *reader = context;
    struct json_reader *json = found->reader;

    if (!ses__json_enter(json))
        return ses__json_error(json, error);
    while (ses__json_element(json) && ses__json_skip(json, NULL))
        reader->content->runs_long = true;
    return SES_OK; /* whoever reads the object sees what is wrong */
}

static const struct json_object content_event_fields = {
    "the event",
    "",
    {{"content", NULL, JSON_MAY_BE(JSON_OBJECT), read_content, NULL},
     {"author", NULL, JSON_MAY_BE(JSON_STRING), content_read_author, NULL},
     {"partial", NULL, JSON_MAY_BE(JSON_BOOL), content_read_partial, NULL},
     {"actions", NULL, JSON_MAY_BE(JSON_OBJECT), content_read_actions, NULL},
     {"longRunningToolIds", "long_running_tool_ids", JSON_MAY_BE(JSON_ARRAY), read_long_running, NULL},
     {"errorCode", "error_code", JSON_MAY_BE(JSON_STRING), read_error_code, NULL},
     {"errorMessage", "error_message", JSON_MAY_BE(JSON_STRING), read_error_message, NULL},
     {"usageMetadata", "usage_metadata", JSON_MAY_BE(JSON_OBJECT), content_read_usage, NULL}},
};

/* From now on the lists do not move. */
static void link_functions(ses_content *content)
{
    for (size_t i = 0; i < content->parts.count; i++) {
        struct content_part *item = &content->parts.items[i];
        item->part.call = item->call ? &content->calls.items[item->call - 1] : NULL;
        item->part.response = item->response ? &content->responses.items[item->response - 1] : NULL;
    }
}

int ses__content_read(ses_content *content, struct span text, ses_error *error)
{
    struct content_reader reader = {.content = content};
    int code = ses__json_read_whole(text, &content_event_fields, &reader, error);

    link_functions(content);
    return code;
}
