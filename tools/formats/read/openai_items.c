#include "formats/read/openai_items.h"

#include <inttypes.h>

#include "base/error.h"
#include "formats/json/add_json.h"
#include "formats/json/members.h"

/* ------------------------------------------------------------------------------------------------ content */

/* {"type":"input_text","text":"..."}, "output_text", "text", "refusal", "summary_text". */
static bool add_text_part(struct text *parts, struct span json)
{
    struct members part;

    members_read(&part, json);
    const struct span text = member_of(&part, "text", JSON_STRING);
    const struct span refusal = member_of(&part, "refusal", JSON_STRING);
    if (!text.ptr && !refusal.ptr)
        return false;
    text_puts(parts, parts->len > 0 ? ",{\"text\":" : "{\"text\":");
    add_span(parts, text.ptr ? text : refusal);
    text_puts(parts, "}");
    return true;
}

/* The parts of a message: its content is a text, or a list of parts. */
static bool take_message(struct openai_items *items, const struct members *item)
{
    const struct span text = member_of(item, "content", JSON_STRING);
    const struct span list = member_of(item, "content", JSON_ARRAY);
    struct json_reader reader;
    struct span value;
    bool whole = true;

    if (text.ptr) {
        text_puts(&items->room, "{\"text\":");
        add_span(&items->room, text);
        text_puts(&items->room, "}");
        return true;
    }
    if (!list.ptr)
        return false;
    reader_begin(&reader, list);
    while (ses__json_element(&reader) && ses__json_skip(&reader, &value))
        whole = add_text_part(&items->room, ses__json_trim(value)) && whole;
    return whole;
}

/* The arguments are a string that contains a JSON object. Returns false if it contains anything else. */
static bool add_arguments(struct text *text, struct span string)
{
    struct json_string raw = ses__json_string_of(string);
    const size_t start = text->len;
    struct text decoded = {NULL, 0, 0};
    size_t len = 0;

    text_add(&decoded, raw.raw.ptr, raw.raw.len); /* reserves enough room */
    bool ok = ses__json_unescape(raw, decoded.data, &len) &&
              ses__json_check(decoded.data, len, NULL) == SES_OK &&
              ses__json_type_of(ses__json_trim((struct span){decoded.data, len})) == JSON_OBJECT;
    if (ok)
        text_add(text, decoded.data, len);
    else
        text->len = start;
    text_free(&decoded);
    return ok;
}

static bool take_call(struct openai_items *items, const struct members *item)
{
    const struct span id = member_of(item, "call_id", JSON_STRING);
    const struct span name = member_of(item, "name", JSON_STRING);
    const struct span arguments = member_of(item, "arguments", JSON_STRING);
    struct text *parts = &items->room;

    if (!id.ptr || !name.ptr || !arguments.ptr)
        return false;
    own_state_set(&items->calls, id, name);
    text_puts(parts, "{\"functionCall\":{\"id\":");
    add_span(parts, id);
    text_puts(parts, ",\"name\":");
    add_span(parts, name);
    text_puts(parts, ",\"args\":");
    if (!add_arguments(parts, arguments)) {
        text_puts(parts, "{\"arguments\":");
        add_span(parts, arguments);
        text_puts(parts, "}");
    }
    text_puts(parts, "}}");
    return true;
}

/* An output does not name its function; the call with the same id does. */
static bool take_output(struct openai_items *items, const struct members *item)
{
    const struct span id = member_of(item, "call_id", JSON_STRING);
    struct span output = member_of(item, "output", JSON_STRING);
    struct text *parts = &items->room;

    if (!output.ptr)
        output = member_of(item, "output", JSON_ARRAY);
    const struct own_entry *call = id.ptr ? own_state_find(&items->calls, id) : NULL;
    if (!output.ptr || !call)
        return false;
    text_puts(parts, "{\"functionResponse\":{\"id\":");
    add_span(parts, id);
    text_puts(parts, ",\"name\":");
    text_add(parts, call->value.data, call->value.len);
    text_puts(parts, ",\"response\":{\"result\":");
    add_span(parts, output);
    text_puts(parts, "}}}");
    return true;
}

/* -------------------------------------------------------------------------------------------------- items */

enum role { ROLE_USER, ROLE_ASSISTANT, ROLE_OTHER };

/* Writes the parts into `room`. Sets *whole if nothing but metadata is left out. */
static enum role take_item(struct openai_items *items, const struct members *item, bool *whole)
{
    const bool is_message = member_is(item, "type", "message") || !member_of(item, "type", JSON_STRING).ptr;

    if (is_message && (member_is(item, "role", "user") || member_is(item, "role", "assistant"))) {
        *whole = take_message(items, item);
        return member_is(item, "role", "user") ? ROLE_USER : ROLE_ASSISTANT;
    }
    if (member_is(item, "type", "function_call"))
        *whole = take_call(items, item);
    else if (member_is(item, "type", "function_call_output"))
        *whole = take_output(items, item);
    else
        *whole = false;
    return member_is(item, "type", "function_call_output") ? ROLE_OTHER : ROLE_ASSISTANT;
}

/* The ADK's candidates are without the thoughts. */
static void add_usage(struct text *json, const struct openai_usage *usage)
{
    text_print(json,
               ",\"usageMetadata\":{\"promptTokenCount\":%" PRId64 ",\"candidatesTokenCount\":%" PRId64
               ",\"totalTokenCount\":%" PRId64,
               usage->input, usage->output - usage->reasoning, usage->total);
    if (usage->cached > 0)
        text_print(json, ",\"cachedContentTokenCount\":%" PRId64, usage->cached);
    if (usage->reasoning > 0)
        text_print(json, ",\"thoughtsTokenCount\":%" PRId64, usage->reasoning);
    text_puts(json, "}");
}

static void write_event(struct openai_items *items, int64_t number, enum role role, struct span item,
                        int64_t time_us)
{
    struct text *json = &items->json;

    text_clear(json);
    text_print(json, "{\"id\":\"item-%" PRId64 "\",\"invocationId\":\"turn-%" PRId64 "\",\"author\":\"%s\"",
               number, items->turn, role == ROLE_USER ? "user" : "assistant");
    if (time_us != FOREIGN_NO_TIME)
        text_print(json, ",\"timestamp\":%" PRId64, time_us / 1000000);
    if (items->room.len > 0) {
        text_print(json, ",\"content\":{\"role\":\"%s\",\"parts\":[",
                   role == ROLE_ASSISTANT ? "model" : "user");
        text_add(json, items->room.data, items->room.len);
        text_puts(json, "]}");
    }
    if (items->usage)
        add_usage(json, items->usage);
    text_puts(json, ",\"customMetadata\":{\"openaiItem\":");
    add_span(json, item);
    text_puts(json, "}}");
}

int openai_item(struct openai_items *items, int64_t number, struct span item, int64_t time_us,
                struct span *event, ses_error *error)
{
    struct members members;
    bool whole = true;
    int code = ses__json_check(item.ptr ? item.ptr : "", item.len, error);

    if (code != SES_OK)
        return code;
    item = ses__json_trim(item);
    if (ses__json_type_of(item) != JSON_OBJECT)
        return ses__error_set(error, SES_INVALID, "the item is not a JSON object");
    members_read(&members, item);
    text_clear(&items->room);
    const enum role role = take_item(items, &members, &whole);
    if (!whole)
        foreign_note(items->notes, FOREIGN_NOTE_CONVERTED, "item %" PRId64, number);
    if (role == ROLE_USER)
        items->turn = number;
    write_event(items, number, role, item, time_us);
    *event = (struct span){items->json.data, items->json.len};
    return 1;
}

void openai_items_begin(struct openai_items *items)
{
    own_state_free(&items->calls);
    items->turn = 0;
}

void openai_items_free(struct openai_items *items)
{
    own_state_free(&items->calls);
    text_free(&items->json);
    text_free(&items->room);
}
