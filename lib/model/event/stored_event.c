#include "model/event/stored_event.h"

#include <string.h>

#include "base/error.h"
#include "json/object.h"

void ses__stored_event_init(struct stored_event *event, struct arena *arena)
{
    *event = (struct stored_event){.arena = arena};
}

void ses__stored_event_free(struct stored_event *event)
{
    const ses_allocator *allocator = event->arena->allocator;
    ses__delta_free(&event->delta, allocator);
    ses__edits_free(&event->edits, allocator);
    ses__memory_free(allocator, event->functions);
}

static void forget(struct stored_event *event)
{
    event->delta.count = 0;
    event->edits.count = 0;
    event->function_count = 0;
    event->content = (struct span){NULL, 0};
    event->part_count = 0;
    event->response_count = 0;
    event->compaction = (struct compaction){.has_from = false};
}

/* ------------------------------------------------------------------------------------------- functions */

/* A text that UTF-8 cannot express is compared as it is spelled. */
static int read_name(const struct json_found *found, struct arena *arena, struct span *name, ses_error *error)
{
    struct json_string string;

    if (!ses__json_read_string(found->reader, &string))
        return ses__json_error(found->reader, error);
    int code = ses__json_decode(string, arena, name);
    if (code == SES_NOMEM)
        return ses__error_nomem(error);
    if (code != SES_OK)
        *name = string.raw;
    return SES_OK;
}

static struct stored_function *last_function(struct stored_event *event)
{
    return &event->functions[event->function_count - 1];
}

static int stored_function_id(void *context, const struct json_found *found, ses_error *error)
{
    struct stored_event *event = context;
    return read_name(found, event->arena, &last_function(event)->id, error);
}

static int stored_function_name(void *context, const struct json_found *found, ses_error *error)
{
    struct stored_event *event = context;
    return read_name(found, event->arena, &last_function(event)->name, error);
}

static int stored_function_args(void *context, const struct json_found *found, ses_error *error)
{
    struct stored_event *event = context;
    return ses__json_take_value(found, &last_function(event)->args, error);
}

static const struct json_object stored_function_fields = {
    "the event",
    "content.parts[].",
    {{"id", NULL, JSON_MAY_BE(JSON_STRING), stored_function_id, NULL},
     {"name", NULL, JSON_MAY_BE(JSON_STRING), stored_function_name, NULL},
     {"args", NULL, JSON_MAY_BE(JSON_OBJECT), stored_function_args, NULL}},
};

static int add_stored_function(struct stored_event *event, const struct json_found *found, bool is_response,
                               ses_error *error)
{
    void *items = event->functions;
    bool ok = ses__memory_grow(event->arena->allocator, &items, &event->function_capacity,
                               event->function_count + 1, sizeof *event->functions);

    event->functions = items;
    if (!ok)
        return ses__error_nomem(error);
    event->functions[event->function_count++] = (struct stored_function){.is_response = is_response};
    return ses__json_read_object(found->reader, &stored_function_fields, event, error);
}

static int stored_call(void *context, const struct json_found *found, ses_error *error)
{
    return add_stored_function(context, found, false, error);
}

static int stored_response(void *context, const struct json_found *found, ses_error *error)
{
    return add_stored_function(context, found, true, error);
}

/* --------------------------------------------------------------------------------------------- content */

static const struct json_object stored_part_fields = {
    "the event",
    "content.parts[].",
    {{"functionCall", "function_call", JSON_MAY_BE(JSON_OBJECT), stored_call, NULL},
     {"functionResponse", "function_response", JSON_MAY_BE(JSON_OBJECT), stored_response, NULL}},
};

static int read_stored_part(struct stored_event *event, struct json_reader *json, ses_error *error)
{
    const size_t before = event->function_count;

    event->part_count++;
    if (ses__json_peek(json) != JSON_OBJECT)
        return ses__json_skip(json, NULL) ? SES_OK : ses__json_error(json, error);
    int code = ses__json_read_object(json, &stored_part_fields, event, error);
    if (event->function_count > before && last_function(event)->is_response)
        event->response_count++;
    return code;
}

static int stored_parts(void *context, const struct json_found *found, ses_error *error)
{
    struct json_reader *json = found->reader;
    struct stored_event *event = context;
    int code = ses__json_enter(json) ? SES_OK : ses__json_error(json, error);

    while (code == SES_OK && ses__json_element(json))
        code = read_stored_part(event, json, error);
    return code == SES_OK && json->wrong ? ses__json_error(json, error) : code;
}

static const struct json_object stored_content_fields = {
    "the event",
    "content.",
    {{"parts", NULL, JSON_MAY_BE(JSON_ARRAY), stored_parts, NULL}},
};

static int stored_content(void *context, const struct json_found *found, ses_error *error)
{
    struct stored_event *event = context;
    const char *from = found->reader->at;
    int code = ses__json_read_object(found->reader, &stored_content_fields, event, error);

    event->content = (struct span){from, (size_t)(found->reader->at - from)};
    return code;
}

/* --------------------------------------------------------------------------------------------- actions */

static int stored_delta(void *context, const struct json_found *found, ses_error *error)
{
    struct stored_event *event = context;

    if (found->type != JSON_OBJECT)
        return ses__json_must_be(found, "an object", error);
    return ses__delta_read(found->reader, event->arena, &event->delta, &event->edits, error);
}

static int stored_compaction(void *context, const struct json_found *found, ses_error *error)
{
    struct stored_event *event = context;
    return ses__compaction_read(found, &event->compaction, error);
}

/* --------------------------------------------------------------------------------------------- events */

static const struct json_object delta_actions = {
    "the event",
    "actions.",
    {{"stateDelta", "state_delta", JSON_MAY_BE_ANYTHING, stored_delta, NULL}},
};

static const struct json_object context_actions = {
    "the event",
    "actions.",
    {{"compaction", NULL, JSON_MAY_BE(JSON_OBJECT), stored_compaction, NULL}},
};

static int read_context_actions(void *context, const struct json_found *found, ses_error *error)
{
    return ses__json_read_object(found->reader, &context_actions, context, error);
}

static int read_delta_actions(void *context, const struct json_found *found, ses_error *error)
{
    return ses__json_read_object(found->reader, &delta_actions, context, error);
}

/* Everything needed has been read, because an accepted event has each field once. */
enum { ENOUGH = 1 };

static int stored_delta_only(void *context, const struct json_found *found, ses_error *error)
{
    int code = stored_delta(context, found, error);
    return code == SES_OK ? ENOUGH : code;
}

static const struct json_object delta_only_actions = {
    "the event",
    "actions.",
    {{"stateDelta", "state_delta", JSON_MAY_BE_ANYTHING, stored_delta_only, NULL}},
};

static int read_delta_only(void *context, const struct json_found *found, ses_error *error)
{
    int code = ses__json_read_object(found->reader, &delta_only_actions, context, error);
    return code == SES_OK ? ENOUGH : code;
}

#define CONTENT_FIELD                                                   \
    {                                                                   \
        "content", NULL, JSON_MAY_BE(JSON_OBJECT), stored_content, NULL \
    }

/* Indexed by the parts needed of content and actions. The rest is skipped, which is faster than reading
 * it. */
static const struct json_object stored_fields[] = {
    [STORED_DELTA] = {"the event", "", {{"actions", NULL, JSON_MAY_BE(JSON_OBJECT), read_delta_only, NULL}}},
    [STORED_CONTENT] = {"the event", "", {CONTENT_FIELD}},
    [STORED_DELTA |
        STORED_CONTENT] = {"the event",
                           "",
                           {CONTENT_FIELD,
                            {"actions", NULL, JSON_MAY_BE(JSON_OBJECT), read_delta_actions, NULL}}},
    [STORED_CONTEXT] = {"the event",
                        "",
                        {CONTENT_FIELD,
                         {"actions", NULL, JSON_MAY_BE(JSON_OBJECT), read_context_actions, NULL}}},
};

int ses__stored_event_read(struct stored_event *event, const struct event_row *row, unsigned wanted,
                           ses_error *error)
{
    const struct json_object *fields = &stored_fields[wanted];
    struct json_reader reader;
    int code = ses__json_start_object(&reader, row->body, "an event", error);

    forget(event);
    reader.lenient = true;
    reader.max_depth += JSON_AROUND;
    if (code == SES_OK)
        code = ses__json_read_object(&reader, fields, event, error);
    if (code == SES_OK && !ses__json_finish(&reader))
        code = ses__json_error(&reader, error);
    if (code == ENOUGH)
        return SES_OK;
    if (code != SES_OK && code != SES_NOMEM)
        code =
            ses__error_set(error, SES_CORRUPT, "the stored event %lld cannot be read", (long long)row->seq);
    return code;
}

/* Finds the next `word` that `before` precedes; NULL: none. The search looks first for what is rare in a
 * text. */
static const char *find_word(struct span text, const char *from, const char *before, const char *word)
{
    const size_t before_len = strlen(before);
    const size_t len = strlen(word);
    const char *end = text.ptr + text.len;
    const char *at = from;

    while ((size_t)(end - at) >= len && (at = memchr(at, word[0], (size_t)(end - at) - len + 1)) != NULL) {
        if (memcmp(at, word, len) == 0 && (size_t)(at - text.ptr) >= before_len &&
            memcmp(at - before_len, before, before_len) == 0)
            return at;
        at++;
    }
    return NULL;
}

static bool has_word(struct span text, const char *before, const char *word)
{
    return find_word(text, text.ptr, before, word) != NULL;
}

bool ses__stored_event_may_call(const struct event_row *row)
{
    const struct span body = row->body;
    return has_word(body, "function", "Call") || has_word(body, "function", "Response") ||
           has_word(body, "function", "_call") || has_word(body, "function", "_response") ||
           has_word(body, "", "\\u"); /* a name can be written with escapes */
}

/* True if one of the names is followed by anything but an empty object. */
static bool may_have_filled(struct span text, const char *before, const char *word)
{
    static const char empty[] = "\":{}";
    const char *end = text.ptr + text.len;
    const char *at = text.ptr;

    while ((at = find_word(text, at, before, word)) != NULL) {
        at += strlen(word);
        if ((size_t)(end - at) < sizeof empty - 1 || memcmp(at, empty, sizeof empty - 1) != 0)
            return true;
    }
    return false;
}

bool ses__stored_event_may_change(const struct event_row *row)
{
    return may_have_filled(row->body, "state", "Delta") || may_have_filled(row->body, "state", "_delta") ||
           has_word(row->body, "", "\\u");
}
