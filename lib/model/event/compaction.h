/* The `compaction` of an event's actions: a summary that replaces the events of a period. */
#ifndef SESLITE_MODEL_EVENT_COMPACTION_H
#define SESLITE_MODEL_EVENT_COMPACTION_H

#include "json/object.h"

#define NO_BOUND INT64_MIN

struct compaction {
    int64_t from_us; /* NO_BOUND: it is absent, or not a time */
    int64_t to_us;
    struct span content; /* as it is in the text; without text: none */
};

/* Reads a field that is a struct compaction. */
SESLITE_PRIVATE int ses__compaction_read(void *into, const struct json_found *found, ses_error *error);

/* Without a start, an end or a content, the event counts as an ordinary event. */
static inline bool ses__compacts(const struct compaction *compaction)
{
    return compaction->content.ptr && compaction->from_us != NO_BOUND && compaction->to_us != NO_BOUND;
}

#endif
