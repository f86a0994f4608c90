#include "model/event/part_data.h"

static bool enter_value(struct json_reader *reader, struct span value, enum json_type type)
{
    ses__json_start(reader, value.ptr, value.len);
    return ses__json_peek(reader) == type && ses__json_enter(reader);
}

struct found_member {
    struct span whole; /* from its key on */
    struct span value;
};

/* The last member of that name. */
static struct found_member member_of(struct span object, const char *name, const char *other)
{
    struct found_member found = {{NULL, 0}, {NULL, 0}};
    struct json_reader reader;
    struct json_string key;
    struct span value;

    if (!object.ptr || !enter_value(&reader, object, JSON_OBJECT))
        return found;
    while (ses__json_member(&reader, &key) && ses__json_skip(&reader, &value)) {
        if (!ses__json_string_is(key, name) && !ses__json_string_is(key, other))
            continue;
        found.value = ses__json_trim(value);
        found.whole.ptr = key.raw.ptr - 1;
        found.whole.len = (size_t)(found.value.ptr + found.value.len - found.whole.ptr);
    }
    return found;
}

static struct span string_member(struct span object, const char *name, const char *other)
{
    const struct span value = member_of(object, name, other).value;
    const struct span none = {NULL, 0};
    return value.ptr && value.ptr[0] == '"' ? value : none;
}

static struct part_data data_of(struct found_member member, struct span source)
{
    return (struct part_data){.whole = member.whole,
                              .source = source,
                              .mime_type = string_member(member.value, "mimeType", "mime_type"),
                              .display_name = string_member(member.value, "displayName", "display_name")};
}

struct part_data ses__part_inline_data(struct span part)
{
    const struct found_member member = member_of(part, "inlineData", "inline_data");
    return data_of(member, string_member(member.value, "data", "data"));
}

struct part_data ses__part_file_data(struct span part)
{
    const struct found_member member = member_of(part, "fileData", "file_data");
    return data_of(member, string_member(member.value, "fileUri", "file_uri"));
}

void ses__parts_open(struct part_walk *walk, struct span content)
{
    const struct span parts = member_of(content, "parts", "parts").value;
    walk->any = parts.ptr && enter_value(&walk->reader, parts, JSON_ARRAY);
}

bool ses__parts_next(struct part_walk *walk, struct span *part)
{
    if (!walk->any || !ses__json_element(&walk->reader) || !ses__json_skip(&walk->reader, part))
        return false;
    *part = ses__json_trim(*part);
    return true;
}

struct span ses__event_content(struct span event)
{
    return member_of(event, "content", "content").value;
}
