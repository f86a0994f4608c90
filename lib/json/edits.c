#include "json/edits.h"

#include <string.h>

void ses__edits_free(struct edits *edits, const ses_allocator *allocator)
{
    ses__memory_free(allocator, edits->items);
    *edits = (struct edits){0};
}

bool ses__edits_add(struct edits *edits, const ses_allocator *allocator, struct edit edit)
{
    if (!LIST_GROW(allocator, edits))
        return false;
    edits->items[edits->count++] = edit;
    return true;
}

char *ses__edits_apply(const struct edits *edits, struct arena *arena, struct span text, size_t *len)
{
    size_t total = text.len;
    for (size_t i = 0; i < edits->count; i++)
        total = total - (edits->items[i].end - edits->items[i].start) + edits->items[i].text.len;

    char *out = ses__arena_new(arena, total + 1);
    char *to = out;
    size_t from = 0;
    if (!out)
        return NULL;
    for (size_t i = 0; i < edits->count; i++) {
        const struct edit *edit = &edits->items[i];
        memcpy(to, text.ptr + from, edit->start - from);
        to += edit->start - from;
        if (edit->text.len)
            memcpy(to, edit->text.ptr, edit->text.len);
        to += edit->text.len;
        from = edit->end;
    }
    memcpy(to, text.ptr + from, text.len - from);
    out[total] = '\0';
    *len = total;
    return out;
}
