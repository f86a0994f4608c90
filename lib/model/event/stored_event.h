/*
 * Reads from stored events the parts that history needs: changes of state, function calls and responses,
 * compactions. The store checked only the envelope when they were appended, so content of any shape is
 * possible. Parts of another shape are skipped.
 */
#ifndef SESLITE_MODEL_EVENT_STORED_EVENT_H
#define SESLITE_MODEL_EVENT_STORED_EVENT_H

#include "base/memory.h"
#include "json/object.h"
#include "model/event/rows.h"
#include "model/state/delta.h"

/* A function call, or a response to one, in the order of the parts. */
struct stored_function {
    bool is_response;
    struct span id;   /* empty: none */
    struct span name; /* empty: none */
    struct span args; /* the arguments of a call, an object in the body; without text: none */
};

#define NO_BOUND INT64_MIN

/* The `compaction` of an event's actions: a summary that replaces the events of a period. */
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

struct stored_event {
    struct arena *arena; /* holds decoded texts; its allocator is the lists' */
    unsigned wanted;     /* STORED_*: the parts to read */
    struct delta delta;
    struct stored_function *functions;
    size_t function_count;
    size_t function_capacity;
    struct span content;   /* as it is in the body; without text: none */
    size_t part_count;     /* the parts of the content; 0: none */
    size_t response_count; /* those parts that are function responses and nothing else */
    struct buffer text;    /* the texts of the parts that are no thoughts, one after the other */
    struct span part_text; /* of the part being read, and whether that is a thought */
    bool is_thought;
    struct compaction compaction;
};

enum stored_parts {
    STORED_DELTA = 0x1,      /* actions.stateDelta */
    STORED_CONTENT = 0x2,    /* content.parts */
    STORED_COMPACTION = 0x4, /* actions.compaction */
    STORED_TEXT = 0x8        /* with STORED_CONTENT: the texts of the parts, to be shown */
};

/* Can be used for several reads: each forgets the one before, except what is in the arena. Must be freed. */
SESLITE_PRIVATE void ses__stored_event_init(struct stored_event *event, struct arena *arena);
SESLITE_PRIVATE void ses__stored_event_free(struct stored_event *event);
/* Reads the parts that STORED_* flags select. Texts live as long as the row's body and the arena. CORRUPT:
 * the store never accepted such a body. NOMEM. */
SESLITE_PRIVATE int ses__stored_event_read(struct stored_event *event, const struct event_row *row,
                                           unsigned wanted, ses_error *error);
/* True if the event may have function calls or responses, may change state, or may name artifacts. False is
 * certain. The event is not read for this. */
SESLITE_PRIVATE bool ses__stored_event_may_call(const struct event_row *row);
SESLITE_PRIVATE bool ses__stored_event_may_change(const struct event_row *row);
SESLITE_PRIVATE bool ses__stored_event_may_name(const struct event_row *row);

#endif
