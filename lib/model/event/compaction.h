/* The `compaction` of an event's actions: a summary that replaces the events of a period. */
#ifndef SESLITE_MODEL_EVENT_COMPACTION_H
#define SESLITE_MODEL_EVENT_COMPACTION_H

#include "json/object.h"

struct compaction {
    bool has_from; /* a value that is not a time counts as absent */
    bool has_to;
    int64_t from_us;
    int64_t to_us;
    struct span content; /* as it is in the text; without text: none */
};

/* Reads the object that was found. */
SESLITE_PRIVATE int ses__compaction_read(const struct json_found *found, struct compaction *compaction,
                                         ses_error *error);

/* Without a start, an end or a content, the event counts as an ordinary event. */
static inline bool ses__compacts(const struct compaction *compaction)
{
    return compaction->has_from && compaction->has_to && compaction->content.ptr;
}

#endif
