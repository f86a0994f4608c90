#include "artifact/offload.h"

#include "json/reader.h"

/* ----------------------------------------------------------------------------------------------- base64 */

/* Of both alphabets: the ADK for Python writes the one for URLs. -1: the character is in none. */
static int sextet_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

/* False: it is not base64. `out` has room for three bytes for each four characters, or fewer. */
static bool decode_base64(struct span text, char *out, size_t *len)
{
    uint32_t bits = 0;
    size_t count = text.len;

    while (count > 0 && text.len - count < 2 && text.ptr[count - 1] == '=')
        count--;
    *len = 0;
    for (size_t i = 0; i < count; i++) {
        const int sextet = sextet_of(text.ptr[i]);
        if (sextet < 0)
            return false;
        bits = bits << 6 | (uint32_t)sextet;
        if (i % 4 != 0)
            out[(*len)++] = (char)(unsigned char)(bits >> (6 - 2 * (i % 4)));
    }
    return count % 4 != 1 && (count == text.len || text.len % 4 == 0);
}

/* ------------------------------------------------------------------------------------------- the event */

struct inline_search {
    struct inline_data_list *list;
    const char *begin; /* of the event */
    size_t limit;
    struct arena *arena;
    bool failed;
};

static bool next_member(struct json_reader *reader, struct json_string *key, struct span *value)
{
    if (!ses__json_member(reader, key) || !ses__json_skip(reader, value))
        return false;
    *value = ses__json_trim(*value);
    return true;
}

static bool enter_value(struct json_reader *reader, struct span value, enum json_type type)
{
    ses__json_start(reader, value.ptr, value.len);
    return ses__json_peek(reader) == type && ses__json_enter(reader);
}

static bool is_key(struct json_string key, const char *name, const char *other)
{
    return ses__json_string_is(key, name) || ses__json_string_is(key, other);
}

/* The value of the last member of that name. */
static struct span member_of(struct span object, const char *name, const char *other)
{
    struct json_reader reader;
    struct json_string key;
    struct span found = {NULL, 0};
    struct span value;

    if (!object.ptr || !enter_value(&reader, object, JSON_OBJECT))
        return found;
    while (next_member(&reader, &key, &value)) {
        if (is_key(key, name, other))
            found = value;
    }
    return found;
}

static struct span string_member(struct span object, const char *name, const char *other)
{
    const struct span value = member_of(object, name, other);
    const struct span none = {NULL, 0};
    return value.ptr && value.ptr[0] == '"' ? value : none;
}

static void add_data(struct inline_search *search, struct json_string key, struct span value)
{
    const struct span text = string_member(value, "data", "data");
    struct inline_data item = {.start = (size_t)(key.raw.ptr - 1 - search->begin),
                               .end = (size_t)(value.ptr + value.len - search->begin),
                               .mime_type = string_member(value, "mimeType", "mime_type"),
                               .display_name = string_member(value, "displayName", "display_name")};
    char *out = NULL;

    if (!text.ptr || text.len / 4 * 3 <= search->limit)
        return;
    const struct json_string string = ses__json_string_of(text);
    if (string.escaped)
        return;
    out = ses__arena_new(search->arena, string.raw.len);
    search->failed = search->failed || !out || !LIST_GROW(search->list->allocator, search->list);
    item.data.ptr = out;
    if (!search->failed && decode_base64(string.raw, out, &item.data.len) && item.data.len > search->limit)
        search->list->items[search->list->count++] = item;
}

static void look_at_part(struct inline_search *search, struct span part)
{
    struct json_reader reader;
    struct json_string key;
    struct span value;

    if (!enter_value(&reader, part, JSON_OBJECT))
        return;
    while (next_member(&reader, &key, &value)) {
        if (is_key(key, "inlineData", "inline_data"))
            add_data(search, key, value);
    }
}

bool ses__inline_data_find(struct inline_data_list *list, struct span event, size_t limit,
                           struct arena *arena)
{
    const struct span content = member_of(event, "content", "content");
    const struct span parts = member_of(content, "parts", "parts");
    struct inline_search search = {.list = list, .begin = event.ptr, .limit = limit, .arena = arena};
    struct json_reader reader;
    struct span part;

    list->count = 0;
    if (!parts.ptr || !enter_value(&reader, parts, JSON_ARRAY))
        return true;
    while (!search.failed && ses__json_element(&reader) && ses__json_skip(&reader, &part))
        look_at_part(&search, ses__json_trim(part));
    return !search.failed;
}
