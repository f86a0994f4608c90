/*
 * Events as google-adk reads them: it takes both spellings of a name, so the bytes stay as they are, but for what it would
 * refuse. It refuses a session as a whole if one event in it is wrong.
 */
#include <inttypes.h>
#include <string.h>

#include "foreign/adk_fields.h"
#include "foreign/export.h"
#include "json/decimal.h"
#include "json/reader.h"

enum { MOST_DEPTH = 190 };

static void add_span(struct text *text, struct span span)
{
    text_add(text, span.ptr, span.len);
}

static void add_name(struct text *text, size_t start, struct json_string key)
{
    text_puts(text, text->len > start ? ",\"" : "\"");
    add_span(text, key.raw);
    text_puts(text, "\":");
}

/* Adds what a field holds, without what its class does not know. Gives whether nothing was left out. */
static bool add_known(struct export *export, enum adk_form form, const struct adk_model *model,
                      struct span value, struct text *text);

static bool add_object(struct export *export, bool is_map, const struct adk_model *model, struct span object,
                       struct text *text)
{
    struct json_reader reader;
    struct json_string key;
    struct span value;
    bool same = true;

    text_puts(text, "{");
    const size_t start = text->len;
    ses__json_start(&reader, object.ptr, object.len);
    (void)ses__json_enter(&reader);
    while (ses__json_member(&reader, &key) && ses__json_skip(&reader, &value)) {
        const struct adk_field *field = is_map ? NULL : adk_field_of(model, key);
        if (!is_map && !field) {
            export_note(export, EXPORT_NOTE_UNKNOWN, 1);
            same = false;
            continue;
        }
        add_name(text, start, key);
        same =
            add_known(export, is_map ? ADK_ONE : field->form, is_map ? model : field->model, value, text) &&
            same;
    }
    text_puts(text, "}");
    return same;
}

static bool add_list(struct export *export, const struct adk_model *model, struct span list,
                     struct text *text)
{
    struct json_reader reader;
    struct span value;
    bool same = true;

    text_puts(text, "[");
    const size_t start = text->len;
    ses__json_start(&reader, list.ptr, list.len);
    (void)ses__json_enter(&reader);
    while (ses__json_element(&reader) && ses__json_skip(&reader, &value)) {
        if (text->len > start)
            text_puts(text, ",");
        same = add_known(export, ADK_ONE, model, value, text) && same;
    }
    text_puts(text, "]");
    return same;
}

/* The depth is that of the classes. */
static bool add_known(struct export *export, enum adk_form form, const struct adk_model *model,
                      struct span value, struct text *text)
{
    const enum json_type type = ses__json_type_of(value);

    if (form == ADK_LIST && type == JSON_ARRAY)
        return add_list(export, model, value, text);
    if ((form == ADK_ONE || form == ADK_MAP) && type == JSON_OBJECT && (form == ADK_MAP || !model->ignores))
        return add_object(export, form == ADK_MAP, model, value, text);
    add_span(text, value);
    return true;
}

/* A number that google-adk takes for the same time: not one of milliseconds. */
static bool is_seconds(struct span time)
{
    int64_t seconds = 0;
    bool half = false;

    return ses__json_type_of(time) == JSON_NUMBER &&
           ses__decimal_truncate(time, 0, &seconds, &half) != DECIMAL_TOO_LARGE &&
           seconds < INT64_C(100000000000);
}

static void add_seconds(struct text *text, int64_t time_us)
{
    const uint64_t us = time_us < 0 ? 0 - (uint64_t)time_us : (uint64_t)time_us;

    text_print(text, "%s%" PRIu64 ".%06" PRIu64, time_us < 0 ? "-" : "", us / 1000000, us % 1000000);
}

/* Adds the member as google-adk takes it. Gives whether that is as it was. */
static bool add_event_member(struct export *export, const ses_event *event, struct json_string key,
                             struct span value, struct text *text)
{
    const struct adk_field *field = adk_field_of(&adk_event_model, key);
    const bool is_null = ses__json_type_of(value) == JSON_NULL;

    add_name(text, 1, key);
    if (adk_is_named(key, "timestamp") && !is_seconds(value)) {
        add_seconds(text, event->time_us);
        export_note(export, EXPORT_NOTE_TIMES, 1);
        return false;
    }
    if (is_null &&
        (adk_is_named(key, "author") || adk_is_named(key, "invocationId") || adk_is_named(key, "actions"))) {
        text_puts(text, adk_is_named(key, "actions") ? "{}" : "\"\"");
        export_note(export, EXPORT_NOTE_NULLS, 1);
        return false;
    }
    export_note(export, EXPORT_NOTE_FIELDS, !field);
    return add_known(export, field ? field->form : ADK_ANY, field ? field->model : NULL, value, text);
}

/* Is the escape at `at` a surrogate without its other half? *len: of the escape, or of both. */
static bool is_lone(const char *at, const char *end, size_t *len)
{
    int32_t unit = at + 6 <= end && at[1] == 'u' ? ses__json_hex4(at + 2) : 0;

    *len = at[1] == 'u' ? 6 : 2;
    if (unit < 0xd800 || unit > 0xdfff)
        return false;
    if (unit < 0xdc00 && at + 12 <= end && at[6] == '\\' && at[7] == 'u') {
        const int32_t low = ses__json_hex4(at + 8);
        if (low >= 0xdc00 && low <= 0xdfff) {
            *len = 12;
            return false;
        }
    }
    return true;
}

/* Looks at every byte: lone surrogates are written in `text` as U+FFFD, in place: that escape is as long. */
static void look_through(struct export *export, struct text *text)
{
    const char *end = text->data + text->len;
    bool in_string = false;
    int depth = 0;
    int deepest = 0;

    for (char *at = text->data; at < end; at++) {
        size_t len = 1;
        if (in_string && *at == '\\') {
            if (is_lone(at, end, &len)) {
                memcpy(at + 2, "fffd", 4);
                export_note(export, EXPORT_NOTE_SURROGATES, 1);
            }
            at += len - 1;
        } else if (*at == '"') {
            in_string = !in_string;
        } else if (!in_string && (*at == '{' || *at == '[')) {
            deepest = ++depth > deepest ? depth : deepest;
        } else if (!in_string && (*at == '}' || *at == ']')) {
            depth--;
        }
    }
    export_note(export, EXPORT_NOTE_DEPTH, deepest > MOST_DEPTH);
}

struct span export_event(struct export *export, const ses_event *event, struct text *room)
{
    struct json_reader reader;
    struct json_string key;
    struct span value;
    bool same = true;

    text_clear(room);
    text_puts(room, "{");
    ses__json_start(&reader, event->json, event->json_len);
    if (ses__json_enter(&reader)) {
        while (ses__json_member(&reader, &key) && ses__json_skip(&reader, &value))
            same = add_event_member(export, event, key, value, room) && same;
    }
    text_puts(room, "}");
    if (same) {
        text_clear(room);
        text_add(room, event->json, event->json_len);
    }
    look_through(export, room);
    return (struct span){room->data, room->len};
}
