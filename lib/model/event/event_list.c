#include "model/event/event_list.h"

#include <string.h>

static char *put_text(char **to, struct span text)
{
    char *start = *to;
    if (text.len)
        memcpy(start, text.ptr, text.len);
    start[text.len] = '\0';
    *to = start + text.len + 1;
    return start;
}

ses_event *ses__event_copy(struct arena *arena, const struct event_row *row)
{
    size_t bytes =
        row->id.len + row->invocation_id.len + row->author.len + row->branch.len + row->body.len + 5;
    ses_event *event = ses__arena_new(arena, sizeof *event + bytes);

    if (event) {
        char *to = (char *)(event + 1);
        event->seq = row->seq;
        event->time_us = row->time_us;
        event->id = put_text(&to, row->id);
        event->invocation_id = put_text(&to, row->invocation_id);
        event->author = put_text(&to, row->author);
        event->branch = row->branch.ptr ? put_text(&to, row->branch) : NULL;
        event->json = put_text(&to, row->body);
        event->json_len = row->body.len;
    }
    return event;
}

bool ses__event_list_add(struct event_list *list, const ses_allocator *allocator, ses_event *event)
{
    if (!event || !LIST_GROW(allocator, list))
        return false;
    list->items[list->count++] = event;
    return true;
}

static bool resize_list(struct event_list *list, const ses_allocator *allocator, size_t count)
{
    ses_event **items = ses__memory_resize(allocator, list->items, count * sizeof *items);

    if (!items)
        return false;
    list->items = items;
    list->capacity = count;
    return true;
}

bool ses__event_list_reserve(struct event_list *list, const ses_allocator *allocator, size_t count)
{
    return count <= list->capacity || resize_list(list, allocator, count);
}

void ses__event_list_reverse(struct event_list *list)
{
    for (size_t i = 0, j = list->count; i + 1 < j; i++) {
        ses_event *event = list->items[i];
        list->items[i] = list->items[--j];
        list->items[j] = event;
    }
}

bool ses__event_list_trim(struct event_list *list, struct arena *arena)
{
    struct arena_move move;

    if (list->count == 0) {
        ses__memory_free(arena->allocator, list->items);
        *list = (struct event_list){.items = NULL};
    } else if (list->count < list->capacity && !resize_list(list, arena->allocator, list->count)) {
        return false;
    }
    if (!ses__arena_trim(arena, &move))
        return false;
    for (size_t i = 0; i < list->count && (uintptr_t)move.to != move.from; i++) {
        ses_event *event = ses__moved(&move, list->items[i]);
        event->id = ses__moved(&move, event->id);
        event->invocation_id = ses__moved(&move, event->invocation_id);
        event->author = ses__moved(&move, event->author);
        event->branch = ses__moved(&move, event->branch);
        event->json = ses__moved(&move, event->json);
        list->items[i] = event;
    }
    return true;
}
