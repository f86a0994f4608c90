/*
 * Events as google-adk reads them. It accepts both spellings of a name, so the bytes stay as they are except
 * for what it would reject. It rejects a whole session if one event in it is invalid.
 */
#include <string.h>

#include "formats/write/event.h"

#include "formats/json/add_json.h"
#include "formats/write/convert.h"
#include "json/decimal.h"
#include "json/reader.h"

enum { MAX_DEPTH = 190 };

/* Adds the time in seconds, as google-adk stores it, and never in milliseconds. */
static bool is_seconds(struct span time)
{
    int64_t seconds = 0;
    bool half = false;

    return ses__json_type_of(time) == JSON_NUMBER &&
           ses__decimal_truncate(time, 0, &seconds, &half) != DECIMAL_TOO_LARGE &&
           seconds < INT64_C(100000000000);
}

/* Adds the member in a form that google-adk accepts. Returns true if it is unchanged. */
static bool add_event_member(struct writing *writing, const ses_event *event, struct json_string key,
                             struct span value, struct text *text)
{
    const struct adk_field *field = ses__adk_field_of(ses__adk_event, key);

    add_spelled_name(text, key.raw);
    if (ses__adk_is_named(key, "timestamp") && !is_seconds(value)) {
        add_seconds(text, event->time_us);
        write_note(writing, WRITE_NOTE_TIMES, 1);
        return false;
    }
    if (field && ses__json_type_of(value) == JSON_NULL && !(field->flags & ADK_NULL)) {
        text_puts(text, field->kind == ADK_OBJECT ? "{}" : "\"\"");
        write_note(writing, WRITE_NOTE_NULLS, 1);
        return false;
    }
    write_note(writing, WRITE_NOTE_FIELDS, !field);
    struct adk_conversion conversion = {.spelling = ADK_AS_IT_IS};
    const bool same = adk_convert(&conversion, field, value, text);
    write_note(writing, WRITE_NOTE_UNKNOWN, conversion.unknown);
    write_note(writing, WRITE_NOTE_NULLS, conversion.nulls);
    return same;
}

/* True if the escape at `at` is a surrogate without its other half. Sets *len to the length of the escape, or
 * of the pair. */
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

/* In place: both escapes have the same length. */
bool write_mended(struct writing *writing, struct text *text)
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
                write_note(writing, WRITE_NOTE_SURROGATES, 1);
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
    return deepest <= MAX_DEPTH;
}

static bool may_have_address(struct span json)
{
    static const char address[] = "artifact:";
    const size_t len = sizeof address - 1;
    const char *end = json.ptr + json.len;

    for (const char *at = json.ptr; (size_t)(end - at) >= len; at++) {
        at = memchr(at, address[0], (size_t)(end - at) - len + 1);
        if (!at)
            return false;
        if (memcmp(at, address, len) == 0)
            return true;
    }
    return false;
}

int write_inlined(struct writing *writing, const ses_session *session, struct span *json, char **inlined,
                  ses_error *error)
{
    const ses_key key = {ses_session_app(session), ses_session_user(session), ses_session_id(session)};
    size_t len = 0;

    *inlined = NULL;
    if (!may_have_address(*json))
        return SES_OK;
    const int code =
        ses_artifact_inline_by_key(writing->store, &key, json->ptr, json->len, NULL, inlined, &len, error);
    if (code < 0)
        return code;
    if (*inlined)
        *json = (struct span){*inlined, len};
    write_note(writing, WRITE_NOTE_REFERENCES, may_have_address(*json));
    return SES_OK;
}

struct span write_event(struct writing *writing, const ses_event *event, struct span json, struct text *room)
{
    struct json_reader reader;
    struct json_string key;
    struct span value;
    bool same = true;

    text_clear(room);
    text_puts(room, "{");
    ses__json_start(&reader, json.ptr, json.len);
    if (ses__json_enter(&reader)) {
        while (ses__json_member(&reader, &key) && ses__json_skip(&reader, &value))
            same = add_event_member(writing, event, key, value, room) && same;
    }
    text_puts(room, "}");
    if (same) {
        text_clear(room);
        text_add(room, json.ptr, json.len);
    }
    write_note(writing, WRITE_NOTE_DEPTH, !write_mended(writing, room));
    return (struct span){room->data, room->len};
}
