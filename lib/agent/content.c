/* What an event says: read in one pass, borrowed from its text where that can be. */
#include "agent/object.h"

#include <string.h>

#include "base/argument.h"
#include "base/error.h"

/* ------------------------------------------------------------------------------------- values of fields */

static int read_flag(struct content_reader *reader, bool *flag, ses_error *error)
{
    struct span value;
    int code = SES_OK;

    if (ses__json_skip(&reader->json, &value))
        *flag = value.ptr[0] == 't';
    else
        code = ses__json_error(&reader->json, error);
    return code;
}

static int lone_surrogate(const struct content_reader *reader, struct json_string string, ses_error *error)
{
    size_t offset = ses__content_offset(reader, string.raw.ptr - 1);
    return ses__error_at(error, SES_RANGE, offset,
                         "at byte %zu: a text holds a lone surrogate, which UTF-8 cannot express", offset);
}

/* A string: as it stands when it holds no escapes, else decoded into the arena. */
static int content_read_text(struct content_reader *reader, struct span *text, ses_error *error)
{
    struct json_string string;
    int code = SES_OK;

    if (!ses__json_read_string(&reader->json, &string)) {
        code = ses__json_error(&reader->json, error);
    } else if (!string.escaped) {
        *text = string.raw;
    } else {
        char *plain = ses__arena_new(&reader->content->arena, string.raw.len);
        if (!plain)
            code = ses__error_nomem(error);
        else if (!ses__json_unescape(string, plain, &text->len))
            code = lone_surrogate(reader, string, error);
        text->ptr = plain;
    }
    return code;
}

static int read_ses_text(struct content_reader *reader, ses_text *text, ses_error *error)
{
    struct span span = {NULL, 0};
    int code = content_read_text(reader, &span, error);
    *text = (ses_text){span.ptr, span.len};
    return code;
}

/* ---------------------------------------------------------------------------------------- functions */

static int read_function_id(struct content_reader *reader, ses_error *error)
{
    return read_ses_text(reader, &reader->function.id, error);
}

static int read_function_name(struct content_reader *reader, ses_error *error)
{
    return read_ses_text(reader, &reader->function.name, error);
}

static int read_function_json(struct content_reader *reader, ses_error *error)
{
    struct span value;
    int code = SES_OK;

    if (ses__json_skip(&reader->json, &value))
        reader->function.json = (ses_text){value.ptr, value.len};
    else
        code = ses__json_error(&reader->json, error);
    return code;
}

static int read_function(struct content_reader *reader, const struct known_object *object,
                         struct function_list *list, ses_error *error)
{
    void *items = list->items;
    int code;

    reader->function = (ses_function){{NULL, 0}, {NULL, 0}, {NULL, 0}};
    code = ses__content_read_object(reader, object, error);
    if (code == SES_OK && !ses__memory_grow(&reader->content->allocator, &items, &list->capacity,
                                            list->count + 1, sizeof *list->items))
        code = ses__error_nomem(error);
    list->items = items;
    if (code == SES_OK)
        list->items[list->count++] = reader->function;
    return code;
}

static const struct known_object call_object = {
    "functionCall.",
    {{"id", NULL, JSON_STRING, read_function_id},
     {"name", NULL, JSON_STRING, read_function_name},
     {"args", NULL, JSON_OBJECT, read_function_json}},
};

static const struct known_object response_object = {
    "functionResponse.",
    {{"id", NULL, JSON_STRING, read_function_id},
     {"name", NULL, JSON_STRING, read_function_name},
     {"response", NULL, JSON_OBJECT, read_function_json}},
};

/* -------------------------------------------------------------------------------------------- parts */

static int read_part_text(struct content_reader *reader, ses_error *error)
{
    reader->part.has_text = true;
    return ses__json_read_string(&reader->json, &reader->part.text) ? SES_OK
                                                                    : ses__json_error(&reader->json, error);
}

static int read_part_thought(struct content_reader *reader, ses_error *error)
{
    return read_flag(reader, &reader->part.thought, error);
}

static int read_part_call(struct content_reader *reader, ses_error *error)
{
    return read_function(reader, &call_object, &reader->content->calls, error);
}

static int read_part_response(struct content_reader *reader, ses_error *error)
{
    return read_function(reader, &response_object, &reader->content->responses, error);
}

static int read_part_result(struct content_reader *reader, ses_error *error)
{
    reader->part.has_result = true;
    return ses__content_skip(reader, error);
}

static const struct known_object part_object = {
    "content.parts[].",
    {{"text", NULL, JSON_STRING, read_part_text},
     {"thought", NULL, JSON_BOOL, read_part_thought},
     {"functionCall", "function_call", JSON_OBJECT, read_part_call},
     {"functionResponse", "function_response", JSON_OBJECT, read_part_response},
     {"codeExecutionResult", "code_execution_result", JSON_OBJECT, read_part_result}},
};

static int content_add_text(struct content_reader *reader, struct json_string text, ses_error *error)
{
    struct buffer *all = &reader->content->text;
    int code = SES_OK;

    if (!ses__buffer_reserve(all, text.raw.len)) {
        code = ses__error_nomem(error);
    } else if (!text.escaped) {
        ses__buffer_add(all, text.raw.ptr, text.raw.len);
    } else {
        size_t len = 0;
        if (ses__json_unescape(text, all->data + all->len, &len))
            all->len += len;
        else
            code = lone_surrogate(reader, text, error);
        all->data[all->len] = '\0';
    }
    return code;
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

static int read_part(struct content_reader *reader, ses_error *error)
{
    ses_content *content = reader->content;
    enum json_type type = ses__json_peek(&reader->json);
    const char *from = reader->json.at;
    int code;

    reader->part = (struct part){.has_text = false};
    if (type == JSON_OBJECT)
        code = ses__content_read_object(reader, &part_object, error);
    else if (type == JSON_NONE)
        code = ses__content_skip(reader, error);
    else
        code = ses__content_wrong_type(reader, "content.", "parts[]", JSON_OBJECT, error);
    if (code == SES_OK)
        code = content_add_part(content, (ses_text){from, (size_t)(reader->json.at - from)}, error);
    if (code == SES_OK && reader->part.has_text && !reader->part.thought) {
        content->has_text = true;
        code = content_add_text(reader, reader->part.text, error);
    }
    content->ends_with_result = reader->part.has_result;
    return code;
}

static int read_parts(struct content_reader *reader, ses_error *error)
{
    int code = ses__json_enter(&reader->json) ? SES_OK : ses__json_error(&reader->json, error);

    while (code == SES_OK && ses__json_element(&reader->json))
        code = read_part(reader, error);
    if (code == SES_OK && reader->json.wrong)
        code = ses__json_error(&reader->json, error);
    return code;
}

/* -------------------------------------------------------------------------------------------- events */

static const struct known_object content_object = {"content.", {{"parts", NULL, JSON_ARRAY, read_parts}}};

static int read_content(struct content_reader *reader, ses_error *error)
{
    const char *from = reader->json.at;
    int code = ses__content_read_object(reader, &content_object, error);
    reader->content->json = (ses_text){from, (size_t)(reader->json.at - from)};
    return code;
}

static int read_skips_summarization(struct content_reader *reader, ses_error *error)
{
    return read_flag(reader, &reader->content->skips_summarization, error);
}

static const struct known_object actions_object = {
    "actions.", {{"skipSummarization", "skip_summarization", JSON_BOOL, read_skips_summarization}}};

static int content_read_actions(struct content_reader *reader, ses_error *error)
{
    return ses__content_read_object(reader, &actions_object, error);
}

static int read_author(struct content_reader *reader, ses_error *error)
{
    return content_read_text(reader, &reader->content->author, error);
}

static int content_read_partial(struct content_reader *reader, ses_error *error)
{
    return read_flag(reader, &reader->content->partial, error);
}

static int read_long_running(struct content_reader *reader, ses_error *error)
{
    int code = ses__json_enter(&reader->json) ? SES_OK : ses__json_error(&reader->json, error);

    while (code == SES_OK && ses__json_element(&reader->json)) {
        reader->content->runs_long = true;
        code = ses__content_skip(reader, error);
    }
    if (code == SES_OK && reader->json.wrong)
        code = ses__json_error(&reader->json, error);
    return code;
}

static const struct known_object event_object = {
    "",
    {{"content", NULL, JSON_OBJECT, read_content},
     {"author", NULL, JSON_STRING, read_author},
     {"partial", NULL, JSON_BOOL, content_read_partial},
     {"actions", NULL, JSON_OBJECT, content_read_actions},
     {"longRunningToolIds", "long_running_tool_ids", JSON_ARRAY, read_long_running}},
};

static int content_read_event(ses_content *content, struct span event, ses_error *error)
{
    struct content_reader reader = {.content = content};
    int code;

    ses__json_start(&reader.json, event.ptr, event.len);
    if (ses__json_peek(&reader.json) == JSON_OBJECT) {
        code = ses__content_read_object(&reader, &event_object, error);
        if (code == SES_OK && !ses__json_finish(&reader.json))
            code = ses__json_error(&reader.json, error);
    } else {
        code = ses__json_check(event.ptr, event.len, error);
        if (code == SES_OK)
            code = ses__error_at(error, SES_INVALID, 0, "an event must be a JSON object");
    }
    return code;
}

/* ----------------------------------------------------------------------------------------- the calls */

int ses_content_open(ses_store *store, const char *event, size_t event_len, ses_content **content,
                     ses_error *error)
{
    struct span text;
    ses_content *fresh = NULL;
    int code = ses__check_argument(content, "content", error);

    if (code == SES_OK) {
        *content = NULL;
        code = ses__check_argument(store, "store", error);
    }
    if (code == SES_OK)
        code = ses__check_span(event, event_len, "event", &text, error);
    if (code == SES_OK) {
        ses__error_clear(error);
        fresh = ses__memory_zeroed(ses_store_allocator(store), sizeof *fresh);
        code = fresh ? SES_OK : ses__error_nomem(error);
    }
    if (code == SES_OK) {
        fresh->allocator = *ses_store_allocator(store); /* a content may outlive its store */
        ses__arena_init(&fresh->arena, &fresh->allocator);
        ses__buffer_init(&fresh->text, &fresh->allocator);
        code = content_read_event(fresh, text, error);
    }
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
