#include "model/event/stored_event.h"

#include <string.h>

#include "base/error.h"
#include "model/event/timestamp.h"

void ses__stored_event_init(struct stored_event *event, struct arena *arena)
{
    *event = (struct stored_event){.arena = arena};
    ses__buffer_init(&event->text, arena->allocator);
}

void ses__stored_event_free(struct stored_event *event)
{
    const ses_allocator *allocator = event->arena->allocator;
    ses__delta_free(&event->delta, allocator);
    ses__memory_free(allocator, event->functions);
    ses__buffer_free(&event->text);
}

/* ------------------------------------------------------------------------------------------- functions */

/* A text that UTF-8 cannot express is compared as it is spelled. */
static int read_name(void *into, const struct json_found *found, ses_error *error)
{
    return ses__json_take_name(found, found->reader->arena, into, error);
}

#define STORED_NAME(member) JSON_MAY_BE(JSON_STRING) | JSON_INTO(struct stored_function, member), read_name

static const struct json_object stored_function_fields = {
    "the event",
    "content.parts[].",
    JSON_FIELDS({"id", NULL, STORED_NAME(id), NULL}, {"name", NULL, STORED_NAME(name), NULL},
                {"args", NULL, JSON_MAY_BE(JSON_OBJECT) | JSON_INTO(struct stored_function, args),
                 ses__json_read_value, NULL}),
};

static int add_stored_function(struct stored_event *event, const struct json_found *found, bool is_response,
                               ses_error *error)
{
    if (!ses__memory_grow(event->arena->allocator, &event->functions, &event->function_capacity,
                          event->function_count + 1, sizeof *event->functions))
        return ses__error_nomem(error);
    struct stored_function *function = &event->functions[event->function_count++];
    *function = (struct stored_function){.is_response = is_response};
    return ses__json_read_object(found->reader, &stored_function_fields, function, error);
}

static int stored_call(void *into, const struct json_found *found, ses_error *error)
{
    return add_stored_function(into, found, false, error);
}

static int stored_response(void *into, const struct json_found *found, ses_error *error)
{
    return add_stored_function(into, found, true, error);
}

/* --------------------------------------------------------------------------------------------- content */

static const struct json_object stored_part_fields = {
    "the event",
    "content.parts[].",
    JSON_FIELDS({"functionCall", "function_call", JSON_MAY_BE(JSON_OBJECT), stored_call, NULL},
                {"functionResponse", "function_response", JSON_MAY_BE(JSON_OBJECT), stored_response, NULL}),
};

static int read_part_text(void *into, const struct json_found *found, ses_error *error)
{
    return ses__json_take_text(found, found->reader->arena, into, error);
}

static const struct json_object shown_part_fields = {
    "the event",
    "content.parts[].",
    JSON_FIELDS({"functionCall", "function_call", JSON_MAY_BE(JSON_OBJECT), stored_call, NULL},
                {"functionResponse", "function_response", JSON_MAY_BE(JSON_OBJECT), stored_response, NULL},
                {"text", NULL, JSON_MAY_BE(JSON_STRING) | JSON_INTO(struct stored_event, part_text),
                 read_part_text, NULL},
                {"thought", NULL, JSON_MAY_BE(JSON_BOOL) | JSON_INTO(struct stored_event, is_thought),
                 ses__json_read_bool, NULL}),
};

static int read_stored_part(void *into, const struct json_found *found, ses_error *error)
{
    struct stored_event *event = into;
    const size_t before = event->function_count;
    const bool shows = (event->wanted & STORED_TEXT) != 0;

    event->part_text = (struct span){NULL, 0};
    event->is_thought = false;
    int code = ses__json_take_object(found, shows ? &shown_part_fields : &stored_part_fields, event, error);
    if (event->part_text.len > 0 && !event->is_thought)
        ses__buffer_add(&event->text, event->part_text.ptr, event->part_text.len);
    if (code == SES_OK && event->text.failed)
        code = ses__error_nomem(error);
    event->part_count++;
    if (event->function_count > before && event->functions[event->function_count - 1].is_response)
        event->response_count++;
    return code;
}

static int stored_parts(void *into, const struct json_found *found, ses_error *error)
{
    return ses__json_take_elements(found, "parts[]", read_stored_part, into, error);
}

static const struct json_object stored_content_fields = {
    "the event",
    "content.",
    JSON_FIELDS({"parts", NULL, JSON_MAY_BE(JSON_ARRAY), stored_parts, NULL}),
};

/* Everything that is wanted has been read, because an accepted event has each field once. */
enum { ENOUGH = 1 };

static int stored_content(void *into, const struct json_found *found, ses_error *error)
{
    struct stored_event *event = into;

    if (!(event->wanted & STORED_CONTENT))
        return ses__json_pass(found, error);
    int code = ses__json_take_object(found, &stored_content_fields, event, error);
    event->content = ses__json_taken(found);
    return code == SES_OK && event->wanted == (STORED_CONTENT | STORED_TEXT) ? ENOUGH : code;
}

/* ------------------------------------------------------------------------------------------------ actions */

/* Reads seconds, or RFC 3339, which the ADK for Go writes. */
static int read_bound(void *into, const struct json_found *found, ses_error *error)
{
    int64_t *time_us = into;
    struct span value;
    int code = ses__json_read_value(&value, found, error);

    *time_us = NO_BOUND; /* stays if the value is not a time */
    if (code == SES_OK && found->type == JSON_NUMBER)
        (void)ses__timestamp_from_number(value, time_us);
    else if (code == SES_OK)
        (void)ses__timestamp_from_text(value.ptr + 1, value.len - 2, time_us);
    return code;
}

#define A_BOUND(member) \
    JSON_MAY_BE(JSON_NUMBER) | JSON_MAY_BE(JSON_STRING) | JSON_INTO(struct compaction, member), read_bound

static const struct json_object compaction_fields = {
    "the event",
    "actions.compaction.",
    JSON_FIELDS({"startTimestamp", "start_timestamp", A_BOUND(from_us), NULL},
                {"endTimestamp", "end_timestamp", A_BOUND(to_us), NULL},
                {"compactedContent", "compacted_content",
                 JSON_MAY_BE(JSON_OBJECT) | JSON_INTO(struct compaction, content), ses__json_read_value,
                 NULL}),
};

int ses__compaction_read(void *into, const struct json_found *found, ses_error *error)
{
    *(struct compaction *)into = (struct compaction){NO_BOUND, NO_BOUND, {NULL, 0}};
    return ses__json_take_object(found, &compaction_fields, into, error);
}

static int stored_delta(void *into, const struct json_found *found, ses_error *error)
{
    struct stored_event *event = into;

    if (!(event->wanted & STORED_DELTA))
        return ses__json_pass(found, error);
    if (found->type != JSON_OBJECT)
        return ses__json_must_be(found, "an object", error);
    int code = ses__delta_merge(found->reader, event->arena, NULL, &event->delta, NULL, error);
    return code == SES_OK && event->wanted == STORED_DELTA ? ENOUGH : code;
}

static int stored_compaction(void *into, const struct json_found *found, ses_error *error)
{
    struct stored_event *event = into;
    return event->wanted & STORED_COMPACTION ? ses__compaction_read(&event->compaction, found, error)
                                             : ses__json_pass(found, error);
}

static const struct json_object stored_actions_fields = {
    "the event",
    "actions.",
    JSON_FIELDS({"stateDelta", "state_delta", JSON_MAY_BE_ANYTHING, stored_delta, NULL},
                {"compaction", NULL, JSON_MAY_BE(JSON_OBJECT), stored_compaction, NULL}),
};

/* Skipping is faster than reading. */
static int stored_actions(void *into, const struct json_found *found, ses_error *error)
{
    const struct stored_event *event = into;

    if (!(event->wanted & (STORED_DELTA | STORED_COMPACTION)))
        return ses__json_pass(found, error);
    int code = ses__json_take_object(found, &stored_actions_fields, into, error);
    return code == SES_OK && event->wanted == STORED_DELTA ? ENOUGH : code;
}

/* --------------------------------------------------------------------------------------------- events */

static const struct json_object stored_fields = {
    "the event",
    "",
    JSON_FIELDS({"content", NULL, JSON_MAY_BE(JSON_OBJECT), stored_content, NULL},
                {"actions", NULL, JSON_MAY_BE(JSON_OBJECT), stored_actions, NULL}),
};

int ses__stored_event_read(struct stored_event *event, const struct event_row *row, unsigned wanted,
                           ses_error *error)
{
    struct json_reader reader;
    int code = ses__json_start_object(&reader, row->body, "an event", error);

    event->delta.count = 0; /* of the event before */
    event->function_count = 0;
    event->content = (struct span){NULL, 0};
    event->part_count = 0;
    event->response_count = 0;
    ses__buffer_cut(&event->text, 0);
    event->compaction = (struct compaction){.content = {NULL, 0}};
    event->wanted = wanted;
    reader.lenient = true;
    reader.shows = (wanted & STORED_TEXT) != 0;
    reader.max_depth += JSON_AROUND;
    reader.arena = event->arena;
    if (code == SES_OK)
        code = ses__json_read_last(&reader, &stored_fields, event, error);
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

bool ses__stored_event_may_name(const struct event_row *row)
{
    return may_have_filled(row->body, "artifact", "Delta") ||
           may_have_filled(row->body, "artifact", "_delta") || has_word(row->body, "artifact", ":") ||
           has_word(row->body, "", "\\u");
}
