#include "formats/load/event_read.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "formats/json/add_json.h"
#include "formats/times.h"
#include "json/decimal.h"
#include "json/object.h"

const char ESCAPED_TOMBSTONE[] = "\"\\u005f_ADK_SENTINEL_REMOVED__\"";

bool is_tombstone(struct span value)
{
    static const char tombstone[] = "\"__ADK_SENTINEL_REMOVED__\"";
    return value.len == sizeof tombstone - 1 && memcmp(value.ptr, tombstone, value.len) == 0;
}

int explain_json(struct span json, ses_error *error)
{
    static const char *const names[] = {"NaN", "Infinity", "-Infinity"};
    const size_t at = error->offset < 0 ? json.len : (size_t)error->offset;

    for (size_t i = 0; i < 3 && error->code == SES_JSON; i++) {
        /* The error in "-Infinity" is found at its first or second byte. */
        const size_t start =
            at > 0 && at < json.len && json.ptr[at] == 'I' && json.ptr[at - 1] == '-' ? at - 1 : at;
        const size_t len = strlen(names[i]);
        if (start < json.len && json.len - start >= len && memcmp(json.ptr + start, names[i], len) == 0)
            return ses__error_at(error, SES_JSON, start, "at byte %zu: %s is not a JSON number", start,
                                 names[i]);
    }
    return error->code;
}

/* ------------------------------------------------------------------------------------------------ reading */

static void add_change(struct event_read *read, struct event_change change)
{
    read->changes = enlarge(read->changes, read->count, &read->capacity, sizeof *read->changes);
    read->changes[read->count++] = change;
}

static int read_change(struct event_read *read, struct json_reader *reader, struct json_string key,
                       ses_error *error)
{
    struct event_change change = {.raw = key};

    if (!ses__json_skip(reader, &change.value))
        return ses__json_error(reader, error);
    int code = ses__json_decode(key, read->arena, &change.key);
    if (code == SES_RANGE)
        return ses__json_lone_surrogate(reader, key, error);
    if (code != SES_OK)
        return ses__error_nomem(error);
    change.value = ses__json_trim(change.value);
    add_change(read, change);
    return SES_OK;
}

static int take_delta(void *context, const struct json_found *found, ses_error *error)
{
    struct event_read *read = context;
    struct json_string key;
    int code = SES_OK;

    if (found->type == JSON_NULL)
        return ses__json_skip(found->reader, NULL) ? SES_OK : ses__json_error(found->reader, error);
    if (!ses__json_enter(found->reader))
        return ses__json_error(found->reader, error);
    while (code == SES_OK && ses__json_member(found->reader, &key))
        code = read_change(read, found->reader, key, error);
    return code == SES_OK && found->reader->wrong ? ses__json_error(found->reader, error) : code;
}

static const struct json_object actions_fields = {
    "the event", "actions.",
    JSON_FIELDS(
        {"stateDelta", "state_delta", JSON_MAY_BE(JSON_OBJECT) | JSON_MAY_BE(JSON_NULL), take_delta, NULL})};

static int take_actions(void *context, const struct json_found *found, ses_error *error)
{
    if (found->type == JSON_NULL)
        return ses__json_skip(found->reader, NULL) ? SES_OK : ses__json_error(found->reader, error);
    return ses__json_read_object(found->reader, &actions_fields, context, error);
}

static int take_null(const struct json_found *found, struct span *null, ses_error *error)
{
    return ses__json_read_value(null, found, error);
}

static int take_id(void *context, const struct json_found *found, ses_error *error)
{
    struct event_read *read = context;
    struct span id;

    if (found->type == JSON_NULL)
        return take_null(found, &read->null_id, error);
    int code = ses__json_take_text(found, read->arena, &id, error);
    if (code == SES_RANGE || (code == SES_OK && id.len == 0))
        return ses__json_must_be(found, "a string that is not empty", error);
    if (code == SES_OK)
        text_add(&read->id, id.ptr, id.len);
    return code;
}

/* Seconds, or milliseconds from 1e11 on. */
static int64_t time_of_number(struct span number)
{
    int64_t whole = 0;
    int64_t us = 0;
    bool half = false;
    const enum decimal_result size = ses__decimal_truncate(number, 0, &whole, &half);
    const bool milliseconds = whole >= INT64_C(100000000000);

    if (size == DECIMAL_TOO_LARGE ||
        ses__decimal_round(number, milliseconds ? 3 : 6, &us) == DECIMAL_TOO_LARGE)
        return FOREIGN_NO_TIME;
    return us;
}

static int take_time(void *context, const struct json_found *found, ses_error *error)
{
    struct event_read *read = context;
    struct span text;

    if (found->type == JSON_NULL)
        return take_null(found, &read->null_time, error);
    int code = found->type == JSON_STRING ? ses__json_take_text(found, read->arena, &text, error)
                                          : ses__json_read_value(&text, found, error);
    if (code != SES_OK)
        return code;
    read->time_us = found->type == JSON_STRING ? time_of_text(text, NULL) : time_of_number(text);
    return read->time_us == FOREIGN_NO_TIME ? ses__json_must_be(found, "a time", error) : SES_OK;
}

static int take_partial(void *context, const struct json_found *found, ses_error *error)
{
    struct event_read *read = context;

    if (found->type == JSON_NULL)
        return ses__json_skip(found->reader, NULL) ? SES_OK : ses__json_error(found->reader, error);
    return ses__json_read_bool(&read->partial, found, error);
}

static const struct json_object event_fields = {
    "the event", "",
    JSON_FIELDS({"id", NULL, JSON_MAY_BE(JSON_STRING) | JSON_MAY_BE(JSON_NULL), take_id, NULL},
                {"timestamp", NULL,
                 JSON_MAY_BE(JSON_NUMBER) | JSON_MAY_BE(JSON_STRING) | JSON_MAY_BE(JSON_NULL), take_time,
                 "a time"},
                {"partial", NULL, JSON_MAY_BE(JSON_BOOL) | JSON_MAY_BE(JSON_NULL), take_partial, NULL},
                {"actions", NULL, JSON_MAY_BE(JSON_OBJECT) | JSON_MAY_BE(JSON_NULL), take_actions, NULL})};

int event_read(struct event_read *read, struct span json, ses_error *error)
{
    if (!json.ptr || json.len == 0)
        return ses__error_set(error, SES_INVALID, "it is missing (NULL, or empty)");
    if (!read->arena) {
        static ses_allocator allocator; /* malloc */
        ses__memory_default(&allocator);
        read->arena = allocate(sizeof *read->arena);
        ses__arena_init(read->arena, &allocator);
    }
    ses__arena_reset(read->arena);
    read->json = json;
    read->count = 0;
    read->time_us = FOREIGN_NO_TIME;
    read->partial = false;
    read->null_id = read->null_time = (struct span){NULL, 0};
    text_clear(&read->id);
    int code = ses__json_read_whole(json, &event_fields, read, error);
    return code == SES_OK ? SES_OK : explain_json(json, error);
}

void event_read_free(struct event_read *read)
{
    if (read->arena)
        ses__arena_free(read->arena);
    free(read->arena);
    free(read->changes);
    text_free(&read->id);
    *read = (struct event_read){.count = 0};
}

/* ----------------------------------------------------------------------------------------------- changing */

static bool has_tombstone(const struct event_read *read)
{
    for (size_t i = 0; i < read->count; i++)
        if (is_tombstone(read->changes[i].value))
            return true;
    return false;
}

bool event_needs_change(const struct event_read *read)
{
    return read->id.len == 0 || read->time_us == FOREIGN_NO_TIME || has_tombstone(read);
}

/* Replaces the `len` bytes from `start` on by `text`. */
struct change {
    const char *start;
    size_t len;
    const char *text;
};

static int by_start(const void *a, const void *b)
{
    const struct change *left = a;
    const struct change *right = b;
    return (left->start > right->start) - (left->start < right->start);
}

static void apply(struct change *changes, size_t count, struct span json, struct text *changed)
{
    const char *at = json.ptr;

    qsort(changes, count, sizeof *changes, by_start);
    for (size_t i = 0; i < count; i++) {
        text_add(changed, at, (size_t)(changes[i].start - at));
        text_puts(changed, changes[i].text);
        at = changes[i].start + changes[i].len;
    }
    text_add(changed, at, (size_t)(json.ptr + json.len - at));
}

/* Inserts it after the first brace, or in place of a null. */
static void add_absent(struct text *text, struct span null, const char *name, const char *value,
                       struct text *front)
{
    if (null.ptr)
        text_puts(text, value);
    else
        text_print(front, "\"%s\":%s,", name, value);
}

static bool is_empty_object(struct span json)
{
    struct json_reader reader;
    struct json_string key;

    ses__json_start(&reader, json.ptr, json.len);
    return ses__json_enter(&reader) && !ses__json_member(&reader, &key);
}

void event_change(const struct event_read *read, const char *id, int64_t time_us, struct text *changed)
{
    struct change *changes = allocate((read->count + 3) * sizeof *changes);
    struct text front = {NULL, 0, 0};
    struct text own_id = {NULL, 0, 0};
    struct text own_time = {NULL, 0, 0};
    struct text value = {NULL, 0, 0};
    size_t count = 0;

    text_puts(&front, "{");
    if (read->id.len == 0) {
        text_print(&value, "\"%s\"", id);
        add_absent(&own_id, read->null_id, "id", value.data, &front);
        if (read->null_id.ptr)
            changes[count++] = (struct change){read->null_id.ptr, read->null_id.len, own_id.data};
    }
    if (read->time_us == FOREIGN_NO_TIME) {
        text_clear(&value);
        add_seconds(&value, time_us);
        add_absent(&own_time, read->null_time, "timestamp", value.data, &front);
        if (read->null_time.ptr)
            changes[count++] = (struct change){read->null_time.ptr, read->null_time.len, own_time.data};
    }
    if (front.len > 1) {
        if (is_empty_object(read->json))
            front.data[--front.len] = '\0';
        changes[count++] = (struct change){memchr(read->json.ptr, '{', read->json.len), 1, front.data};
    }
    for (size_t i = 0; i < read->count; i++)
        if (is_tombstone(read->changes[i].value))
            changes[count++] =
                (struct change){read->changes[i].value.ptr, read->changes[i].value.len, ESCAPED_TOMBSTONE};
    text_clear(changed);
    apply(changes, count, read->json, changed);
    text_free(&front);
    text_free(&own_id);
    text_free(&own_time);
    text_free(&value);
    free(changes);
}
