/* What an event says: read in one pass, borrowed from its text where that can be. */
#include "agent/content.h"

#include <string.h>

#include "base/argument.h"
#include "base/error.h"
#include "json/object.h"
#include "session/handle.h"

/* What is being read. */
struct part {
    struct json_string text;
    bool has_text;
    bool thought;
    bool has_result; /* of code that was executed */
};

struct content_reader {
    ses_content *content;
    struct part part;
    ses_function function;
};

static int read_ses_text(struct content_reader *reader, const struct json_found *found, ses_text *text,
                         ses_error *error)
{
    struct span span = {NULL, 0};
    int code = ses__json_take_text(found, &reader->content->arena, &span, error);
    *text = (ses_text){span.ptr, span.len};
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

    reader->function.json = (ses_text){value.ptr, value.len};
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

    reader->part.has_text = true;
    return ses__json_read_string(found->reader, &reader->part.text) ? SES_OK
                                                                    : ses__json_error(found->reader, error);
}

static int read_part_thought(void *context, const struct json_found *found, ses_error *error)
{
    struct content_reader *reader = context;
    return ses__json_take_bool(found, &reader->part.thought, error);
}

static int read_part_call(void *context, const struct json_found *found, ses_error *error)
{
    struct content_reader *reader = context;
    return read_function(reader, found, &call_fields, &reader->content->calls, error);
}

static int read_part_response(void *context, const struct json_found *found, ses_error *error)
{
    struct content_reader *reader = context;
    return read_function(reader, found, &response_fields, &reader->content->responses, error);
}

static int read_part_result(void *context, const struct json_found *found, ses_error *error)
{
    struct content_reader *reader = context;
    struct span value;

    reader->part.has_result = true;
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

static int content_add_text(ses_content *content, const struct json_reader *json, struct json_string text,
                            ses_error *error)
{
    if (!ses__json_add_text(&content->text, text))
        return ses__json_lone_surrogate(json, text, error);
    return content->text.failed ? ses__error_nomem(error) : SES_OK;
}

static int content_add_part(ses_content *content, ses_text part, ses_error *error)
{
    struct text_list *parts = &content->parts;
    void *items = parts->items;
    bool ok = ses__memory_grow(&content->allocator, &items, &parts->capacity, parts->count + 1,
                               sizeof *parts->items);

    parts->items = items;
    if (ok)
        parts->items[parts->count++] = part;
    return ok ? SES_OK : ses__error_nomem(error);
}

/* The element that comes next, an object. */
static int read_part(struct content_reader *reader, struct json_reader *json, ses_error *error)
{
    ses_content *content = reader->content;
    const struct json_found element = {json,        ses__json_peek(json), (size_t)(json->at - json->text),
                                       "the event", "content.",           "parts[]"};
    const char *from = json->at;
    int code = SES_OK;

    reader->part = (struct part){.has_text = false};
    if (element.type == JSON_NONE)
        (void)ses__json_skip(json, NULL); /* sets what is wrong */
    else if (element.type != JSON_OBJECT)
        return ses__json_must_be(&element, ses__json_type_name(JSON_OBJECT), error);
    else
        code = ses__json_read_object(json, &part_fields, reader, error);
    if (json->wrong || code != SES_OK)
        return json->wrong ? ses__json_error(json, error) : code;
    code = content_add_part(content, (ses_text){from, (size_t)(json->at - from)}, error);
    if (code == SES_OK && reader->part.has_text && !reader->part.thought) {
        content->has_text = true;
        code = content_add_text(content, json, reader->part.text, error);
    }
    content->ends_with_result = reader->part.has_result;
    return code;
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

static const struct json_object content_actions_fields = {
    "the event",
    "actions.",
    {{"skipSummarization", "skip_summarization", JSON_MAY_BE(JSON_BOOL), read_skips_summarization, NULL}}};

static int content_read_actions(void *context, const struct json_found *found, ses_error *error)
{
    return ses__json_read_object(found->reader, &content_actions_fields, context, error);
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
    return json->wrong ? ses__json_error(json, error) : SES_OK;
}

static const struct json_object content_event_fields = {
    "the event",
    "",
    {{"content", NULL, JSON_MAY_BE(JSON_OBJECT), read_content, NULL},
     {"author", NULL, JSON_MAY_BE(JSON_STRING), content_read_author, NULL},
     {"partial", NULL, JSON_MAY_BE(JSON_BOOL), content_read_partial, NULL},
     {"actions", NULL, JSON_MAY_BE(JSON_OBJECT), content_read_actions, NULL},
     {"longRunningToolIds", "long_running_tool_ids", JSON_MAY_BE(JSON_ARRAY), read_long_running, NULL}},
};

/* ----------------------------------------------------------------------------------------- the calls */

int ses_content_open(ses_store *store, const char *event, size_t event_len, ses_content **content,
                     ses_error *error)
{
    struct span text;
    ses_content *fresh = NULL;
    struct content_reader reader = {.content = NULL};
    int code = ses__check_argument(content, "content", error);

    if (code != SES_OK)
        return code;
    *content = NULL;
    code = ses__check_argument(store, "store", error);
    if (code == SES_OK)
        code = ses__check_span(event, event_len, "event", &text, error);
    if (code != SES_OK)
        return code;
    ses__error_clear(error);
    fresh = ses__memory_zeroed(ses__store_allocator(store), sizeof *fresh);
    if (!fresh)
        return ses__error_nomem(error);
    fresh->allocator = *ses__store_allocator(store); /* a content may outlive its store */
    ses__arena_init(&fresh->arena, &fresh->allocator);
    ses__buffer_init(&fresh->text, &fresh->allocator);
    reader.content = fresh;
    code = ses__json_read_whole(text, &content_event_fields, &reader, error);
    if (code == SES_OK)
        *content = fresh;
    else
        ses_content_close(fresh);
    return code;
}

void ses_content_close(ses_content *content)
{
    if (content) {
        ses_allocator allocator = content->allocator;
        ses__memory_free(&allocator, content->parts.items);
        ses__memory_free(&allocator, content->calls.items);
        ses__memory_free(&allocator, content->responses.items);
        ses__buffer_free(&content->text);
        ses__arena_free(&content->arena);
        ses__memory_free(&allocator, content);
    }
}

const char *ses_content_text(const ses_content *content, size_t *len)
{
    if (len)
        *len = content->text.len;
    return content->has_text ? content->text.data : NULL;
}

ses_text ses_content_json(const ses_content *content)
{
    return content->json;
}

size_t ses_content_part_count(const ses_content *content)
{
    return content->parts.count;
}

ses_text ses_content_part(const ses_content *content, size_t index)
{
    return index < content->parts.count ? content->parts.items[index] : (ses_text){NULL, 0};
}

size_t ses_content_call_count(const ses_content *content)
{
    return content->calls.count;
}

const ses_function *ses_content_call(const ses_content *content, size_t index)
{
    return index < content->calls.count ? &content->calls.items[index] : NULL;
}

size_t ses_content_response_count(const ses_content *content)
{
    return content->responses.count;
}

const ses_function *ses_content_response(const ses_content *content, size_t index)
{
    return index < content->responses.count ? &content->responses.items[index] : NULL;
}

int ses_content_is_final(const ses_content *content)
{
    return content->skips_summarization || content->runs_long ||
           (!content->partial && content->calls.count == 0 && content->responses.count == 0 &&
            !content->ends_with_result);
}
