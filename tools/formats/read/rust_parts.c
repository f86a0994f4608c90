#include "formats/read/rust_parts.h"

#include "formats/json/add_json.h"
#include "formats/json/members.h"
#include "json/decimal.h"

/* Writes all members as "name":value. The member `but` is renamed to `instead`, or left out if that is
 * NULL. */
static void add_members(struct text *text, const struct members *part, const char *but, const char *instead)
{
    for (size_t i = 0; i < part->count; i++) {
        if (!but || !ses__json_string_is(part->names[i], but))
            add_spelled_member(text, part->names[i].raw, part->values[i]);
        else if (instead)
            add_member(text, instead, part->values[i]);
    }
}

/* -------------------------------------------------------------------------------------------------- bytes */

/* Writes an array of bytes as base64. Returns false, without adding anything, if it contains anything
 * else. */
static bool add_base64(struct text *text, struct span array)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const size_t start = text->len;
    struct json_reader reader;
    struct span value;
    unsigned bits = 0;
    int count = 0;

    reader_begin(&reader, array);
    while (ses__json_element(&reader) && ses__json_skip(&reader, &value)) {
        int64_t byte = -1;
        bool half = false;
        value = ses__json_trim(value);
        if (ses__json_type_of(value) != JSON_NUMBER ||
            ses__decimal_truncate(value, 0, &byte, &half) != DECIMAL_EXACT || byte < 0 || byte > 255) {
            text->len = start;
            return false;
        }
        bits = bits << 8 | (unsigned)byte;
        if (++count < 3)
            continue;
        for (int shift = 18; shift >= 0; shift -= 6)
            text_add(text, &digits[bits >> shift & 63], 1);
        bits = 0;
        count = 0;
    }
    if (count == 1)
        text_print(text, "%c%c==", digits[bits >> 2 & 63], digits[bits << 4 & 63]);
    if (count == 2)
        text_print(text, "%c%c%c=", digits[bits >> 10 & 63], digits[bits >> 4 & 63], digits[bits << 2 & 63]);
    return true;
}

static bool add_inline_data(struct text *text, const struct members *part)
{
    const struct span type = member_of(part, "mime_type", JSON_STRING);
    const struct span data = member_of(part, "data", JSON_ARRAY);
    const size_t start = text->len;

    if (!type.ptr || !data.ptr || part->count != 2)
        return false;
    text_puts(text, "{\"inline_data\":{\"mime_type\":");
    add_span(text, type);
    text_puts(text, ",\"data\":\"");
    if (!add_base64(text, data)) {
        text->len = start;
        return false;
    }
    text_puts(text, "\"}}");
    return true;
}

/* -------------------------------------------------------------------------------------------------- parts */

static bool add_thought(struct text *text, const struct members *part)
{
    if (!member_of(part, "thinking", JSON_STRING).ptr)
        return false;
    text_puts(text, "{");
    add_members(text, part, "thinking", "text");
    text_puts(text, ",\"thought\":true}");
    return true;
}

static bool add_call(struct text *text, const struct members *part)
{
    if (!member_of(part, "name", JSON_STRING).ptr || !member_of(part, "args", JSON_OBJECT).ptr)
        return false;
    text_puts(text, "{\"function_call\":{");
    add_members(text, part, NULL, NULL);
    text_puts(text, "}}");
    return true;
}

/* {"functionResponse":{...},"id":"..."}: the id belongs to the response. */
static bool add_response(struct text *text, const struct members *part)
{
    const struct span response = member_of(part, "functionResponse", JSON_OBJECT);
    struct members inner;

    if (!response.ptr)
        return false;
    members_read(&inner, response);
    if (inner.more || inner.count == 0 || part->count > 2 ||
        (part->count == 2 && !member_of(part, "id", JSON_STRING).ptr))
        return false;
    text_puts(text, "{\"function_response\":{");
    add_members(text, part, "functionResponse", NULL);
    add_members(text, &inner, NULL, NULL);
    text_puts(text, "}}");
    return true;
}

static bool add_file_data(struct text *text, const struct members *part)
{
    if (!member_of(part, "file_uri", JSON_STRING).ptr || !member_of(part, "mime_type", JSON_STRING).ptr)
        return false;
    text_puts(text, "{\"file_data\":{");
    add_members(text, part, NULL, NULL);
    text_puts(text, "}}");
    return true;
}

/* {"server_tool_call":{"executableCode":{...}}}: the inner object is already a part. */
static bool add_server_tool(struct text *text, const struct members *part)
{
    const struct span call =
        part->count == 1 ? member_of(part, "server_tool_call", JSON_OBJECT) : (struct span){NULL, 0};
    const struct span result =
        part->count == 1 ? member_of(part, "server_tool_response", JSON_OBJECT) : (struct span){NULL, 0};
    const struct span inside = call.ptr ? call : result;
    struct members inner;

    if (!inside.ptr)
        return false;
    members_read(&inner, inside);
    if (inner.count != 1 || (!member_of(&inner, "executableCode", JSON_OBJECT).ptr &&
                             !member_of(&inner, "codeExecutionResult", JSON_OBJECT).ptr))
        return false;
    add_span(text, inside);
    return true;
}

static void add_part(struct text *text, struct span json)
{
    struct members part;

    members_read(&part, json);
    if (!part.more &&
        (add_thought(text, &part) || add_call(text, &part) || add_response(text, &part) ||
         add_inline_data(text, &part) || add_file_data(text, &part) || add_server_tool(text, &part)))
        return;
    add_span(text, json);
}

static void add_parts(struct text *text, struct span parts)
{
    struct json_reader reader;
    struct span value;
    bool first = true;

    text_puts(text, "[");
    reader_begin(&reader, parts);
    while (ses__json_element(&reader) && ses__json_skip(&reader, &value)) {
        text_puts(text, first ? "" : ",");
        first = false;
        add_part(text, ses__json_trim(value));
    }
    text_puts(text, "]");
}

void rust_content(struct adk_source *source, struct span content)
{
    struct text *text = &source->scratch;
    struct json_reader reader;
    struct json_string name;
    struct span value;

    if (ses__json_type_of(content) != JSON_OBJECT) {
        adk_json(source, "content", content);
        return;
    }
    text_clear(text);
    text_puts(text, "{");
    reader_begin(&reader, content);
    while (ses__json_member(&reader, &name) && ses__json_skip(&reader, &value)) {
        value = ses__json_trim(value);
        add_spelled_name(text, name.raw);
        if (ses__json_string_is(name, "parts") && ses__json_type_of(value) == JSON_ARRAY)
            add_parts(text, value);
        else
            add_span(text, value);
    }
    text_puts(text, "}");
    adk_json(source, "content", (struct span){text->data, text->len});
}
