/*
 * What history reads of events that are stored: changes of state, function calls and responses, compactions. The store
 * checked only the envelope when they came in, so content of any shape is possible: what does not fit is passed over.
 */
#ifndef SESLITE_MODEL_STORED_EVENT_H
#define SESLITE_MODEL_STORED_EVENT_H

#include "base/memory.h"
#include "model/compaction.h"
#include "model/delta.h"
#include "model/rows.h"

/* A function call, or a response to one, in the order of the parts. */
struct stored_function {
    bool is_response;
    struct span id;   /* empty: none */
    struct span name; /* the same */
    struct span args; /* of a call: an object, as it is in the body; without text: none */
};

struct stored_event {
    struct arena *arena; /* of texts that had to be decoded, and for the lists' allocator */
    struct delta delta;
    struct edits edits; /* made, and not used */
    struct stored_function *functions;
    size_t function_count;
    size_t function_capacity;
    struct span content;   /* as it is in the body; without text: none */
    size_t part_count;     /* of the content; 0: none */
    size_t response_count; /* of them, those that are function responses and nothing else */
    struct compaction compaction;
};

enum stored_parts {
    STORED_DELTA = 0x1,   /* actions.stateDelta */
    STORED_CONTENT = 0x2, /* content.parts */
    STORED_CONTEXT = 0x4  /* content.parts and actions.compaction; with no other */
};

/* Can be used again and again: each read forgets the one before, but for what is in the arena. To be freed. */
SESLITE_PRIVATE void ses__stored_event_init(struct stored_event *event, struct arena *arena);
SESLITE_PRIVATE void ses__stored_event_free(struct stored_event *event);
/* Reads what is wanted (STORED_*). Texts live as long as the row's body and the arena. CORRUPT: the body is no
 * event that was ever accepted. NOMEM. */
SESLITE_PRIVATE int ses__stored_event_read(struct stored_event *event, const struct event_row *row,
                                           unsigned wanted, ses_error *error);
/* May the event have function calls or responses; may it change state? Found out without reading it; false: no. */
SESLITE_PRIVATE bool ses__stored_event_may_call(const struct event_row *row);
SESLITE_PRIVATE bool ses__stored_event_may_change(const struct event_row *row);

#endif
