#include "formats/json/internal_keys.h"

#include <stdlib.h>
#include <string.h>

#include "formats/json/add_json.h"
#include "json/reader.h"

/* The state of a copy of an event without its internal keys. */
struct cut_event {
    struct text text;
    bool marks;  /* mark the event as restored from outside */
    bool marked; /* is done */
    bool changed;
};

static bool is_internal(struct json_string key)
{
    static const char prefix[] = "__adk_internal_";
    char *plain = allocate(key.raw.len);
    size_t len = 0;
    bool is = ses__json_unescape(key, plain, &len) && len >= sizeof prefix - 1 &&
              memcmp(plain, prefix, sizeof prefix - 1) == 0;

    free(plain);
    return is;
}

static void add_mark(struct cut_event *event)
{
    add_member(&event->text, "__adk_internal_restored_event", (struct span){"true", 4});
    event->marked = event->changed = true;
}

/* Adds the object without internal keys, or leaves it out if nothing remains. */
static void add_metadata(struct cut_event *event, struct json_string key, struct span metadata)
{
    const size_t before = event->text.len;
    struct json_reader reader;
    struct json_string name;
    struct span value;
    bool dropped = false;

    add_spelled_name(&event->text, key.raw);
    text_puts(&event->text, "{");
    const size_t start = event->text.len;
    ses__json_start(&reader, metadata.ptr, metadata.len);
    if (ses__json_type_of(metadata) == JSON_OBJECT && ses__json_enter(&reader)) {
        while (ses__json_member(&reader, &name) && ses__json_skip(&reader, &value)) {
            if (is_internal(name))
                dropped = true;
            else
                add_spelled_member(&event->text, name.raw, value);
        }
    }
    event->changed = event->changed || dropped;
    if (event->marks && !event->marked)
        add_mark(event);
    text_puts(&event->text, "}");
    if (dropped && event->text.len == start + 1)
        event->text.len = before;
}

static bool is_metadata(struct json_string key, struct span value, bool marks)
{
    const enum json_type type = ses__json_type_of(value);

    return (type == JSON_OBJECT || (marks && type == JSON_NULL)) &&
           (ses__json_string_is(key, "customMetadata") || ses__json_string_is(key, "custom_metadata"));
}

static void cut_members(struct cut_event *event, struct json_reader *reader)
{
    static const struct json_string name = {{"customMetadata", sizeof "customMetadata" - 1}, false};
    struct json_string key;
    struct span value;

    text_puts(&event->text, "{");
    while (ses__json_member(reader, &key) && ses__json_skip(reader, &value)) {
        if (is_metadata(key, value, event->marks))
            add_metadata(event, key, value);
        else
            add_spelled_member(&event->text, key.raw, value);
    }
    if (event->marks && !event->marked)
        add_metadata(event, name, (struct span){"{}", 2});
    text_puts(&event->text, "}");
}

/* Anything but an object is copied unchanged, and rejected later. */
static void cut(struct text *text, struct span json, bool marks)
{
    struct cut_event event = {.marks = marks};
    struct json_reader reader;

    ses__json_start(&reader, json.ptr, json.len);
    if (ses__json_peek(&reader) == JSON_OBJECT && ses__json_enter(&reader))
        cut_members(&event, &reader);
    if (event.changed && !reader.wrong)
        text_add(text, event.text.data, event.text.len);
    else
        text_add(text, json.ptr, json.len);
    text_free(&event.text);
}

void internal_keys_drop(struct text *text, struct span event)
{
    cut(text, event, false);
}

void internal_keys_mark(struct text *text, struct span event)
{
    cut(text, event, true);
}
