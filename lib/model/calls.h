/*
 * A book of function calls, by which to find those that a response belongs to. A response with an id belongs
 * to calls of that id before it. A response without an id belongs to the oldest call of its name that has no
 * response yet. An empty id counts as no id.
 *
 * Its users decide in which order they add the calls and responses of one event, and which of several calls
 * of an id count.
 */
#ifndef SESLITE_MODEL_CALLS_H
#define SESLITE_MODEL_CALLS_H

#include "base/hash.h"
#include "base/memory.h"
#include "base/table.h"

/* A call begins with this. */
struct call {
    struct call *next; /* of its id: the next older; of its name without an id: the next newer */
};

struct calls {
    const ses_allocator *allocator;
    struct hash_seed seed;
    bool forgets; /* calls that have a response; otherwise the calls of an id stay for further responses */
    struct hash_table groups;
};

/* Frees the book, but not the calls. */
SESLITE_PRIVATE void ses__calls_free(struct calls *calls);
/* Returns the newest call of the id, or the oldest of the name if there is no id. NULL: there is none. */
SESLITE_PRIVATE struct call *ses__calls_find(const struct calls *calls, struct span id, struct span name);
/* False: out of memory; nothing has changed. */
SESLITE_PRIVATE bool ses__calls_add(struct calls *calls, struct span id, struct span name, struct call *call);
/* Returns the calls that a response belongs to: those of its id, or one without an id. NULL: none. */
SESLITE_PRIVATE struct call *ses__calls_answer(struct calls *calls, struct span id, struct span name);

#endif
