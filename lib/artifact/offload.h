/* Inline data of an event that is kept as artifacts. */
#ifndef SESLITE_ARTIFACT_OFFLOAD_H
#define SESLITE_ARTIFACT_OFFLOAD_H

#include "base/memory.h"

/* An `inlineData` of a part of the event. */
struct inline_data {
    size_t start; /* the member in the event's text, from its key on */
    size_t end;
    size_t part;              /* its number, from 0 on */
    struct span data;         /* decoded, in the arena */
    struct span mime_type;    /* as JSON, in quotes; without a pointer: absent */
    struct span display_name; /* likewise */
};

struct inline_data_list {
    const ses_allocator *allocator;
    struct inline_data *items;
    size_t count;
    size_t capacity;
};

/* Finds those with more than `limit` bytes. Inline data that is not valid base64 stays where it is. False:
 * out of memory. */
SESLITE_PRIVATE bool ses__inline_data_find(struct inline_data_list *list, struct span event, size_t limit,
                                           struct arena *arena);

#endif
