/* Events as callers see them, in an arena. */
#ifndef SESLITE_MODEL_EVENT_EVENT_LIST_H
#define SESLITE_MODEL_EVENT_EVENT_LIST_H

#include "base/memory.h"
#include "model/event/rows.h"

struct event_list {
    ses_event **items;
    size_t count;
    size_t capacity;
};

/* Copies an event into the arena. NULL: out of memory. */
SESLITE_PRIVATE ses_event *ses__event_copy(struct arena *arena, const struct event_row *row);
/* `event` may be NULL, a copy that failed. False: out of memory. */
SESLITE_PRIVATE bool ses__event_list_add(struct event_list *list, const ses_allocator *allocator,
                                         ses_event *event);
/* Makes room for exactly that many events in all. False: out of memory. */
SESLITE_PRIVATE bool ses__event_list_reserve(struct event_list *list, const ses_allocator *allocator,
                                             size_t count);
SESLITE_PRIVATE void ses__event_list_reverse(struct event_list *list);
/* Gives back the memory that the list and the arena, which holds nothing else, reserved beyond their events.
 * False: out of memory. */
SESLITE_PRIVATE bool ses__event_list_trim(struct event_list *list, struct arena *arena);

#endif
