#include "artifact/offload.h"

#include "model/event/part_data.h"

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

/* False: out of memory. */
static bool add_data(struct inline_data_list *list, const struct part_data *part, const char *event,
                     size_t limit, struct arena *arena)
{
    struct inline_data item = {.start = (size_t)(part->whole.ptr - event),
                               .end = (size_t)(part->whole.ptr + part->whole.len - event),
                               .mime_type = part->mime_type,
                               .display_name = part->display_name};
    const struct json_string string = ses__json_string_of(part->source);

    if (string.escaped)
        return true;
    char *out = ses__arena_new(arena, string.raw.len);
    if (!out || !LIST_GROW(list->allocator, list))
        return false;
    item.data.ptr = out;
    if (decode_base64(string.raw, out, &item.data.len) && item.data.len > limit)
        list->items[list->count++] = item;
    return true;
}

bool ses__inline_data_find(struct inline_data_list *list, struct span event, size_t limit,
                           struct arena *arena)
{
    struct part_walk parts;
    struct span part;
    bool ok = true;

    list->count = 0;
    ses__parts_open(&parts, ses__event_content(event));
    while (ok && ses__parts_next(&parts, &part)) {
        const struct part_data data = ses__part_inline_data(part);
        if (data.source.ptr && data.source.len / 4 * 3 > limit)
            ok = add_data(list, &data, event.ptr, limit, arena);
    }
    return ok;
}
