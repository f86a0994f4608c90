/* The `compaction` of an event's actions: a summary that stands for the events of a time. */
#ifndef SESLITE_MODEL_COMPACTION_H
#define SESLITE_MODEL_COMPACTION_H

#include "json/object.h"

struct compaction {
    bool has_from; /* what cannot be a time is as if it were absent */
    bool has_to;
    int64_t from_us;
    int64_t to_us;
    struct span content; /* as it is in the text; without text: none */
};

/* Reads the object that was found. */
SESLITE_PRIVATE int ses__compaction_read(const struct json_found *found, struct compaction *compaction,
                                         ses_error *error);

/* Without a start, an end or a content, the event counts as any other. */
static inline bool ses__compacts(const struct compaction *compaction)
{
    return compaction->has_from && compaction->has_to && compaction->content.ptr;
}

#endif
