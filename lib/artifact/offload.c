#include "artifact/offload.h"

#include "json/base64.h"
#include "model/event/artifacts.h"

/* ------------------------------------------------------------------------------------------- the event */

/* False: out of memory. */
static bool add_data(struct inline_data_list *list, const struct part_data *part, size_t number,
                     const char *event, size_t limit, struct arena *arena)
{
    struct inline_data item = {.part = number,
                               .start = (size_t)(part->whole.ptr - event),
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
    if (ses__base64_decode(string.raw, out, &item.data.len) && item.data.len > limit)
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
    for (size_t number = 0; ok && ses__parts_next(&parts, &part); number++) {
        const struct part_data data = ses__part_inline_data(part);
        if (data.source.ptr && data.source.len / 4 * 3 > limit)
            ok = add_data(list, &data, number, event.ptr, limit, arena);
    }
    return ok;
}
