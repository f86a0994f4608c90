/* The function calls that have no response yet at a point of a walk through a log. */
#ifndef SESLITE_AGENT_PENDING_H
#define SESLITE_AGENT_PENDING_H

#include "seslite_agent.h"

#include "base/common.h"
#include "base/memory.h"
#include "model/state/state_map.h"

/* An event with pending calls. It is freed with the last of them. */
struct pending_event {
    struct arena arena; /* of the event, its calls, and texts that had to be decoded */
    const ses_event *event;
    size_t calls;
};

/* In the arena of its event. */
struct pending_call {
    ses_function function;
    struct pending_event *event;
    bool is_long_running;
    struct pending_call *before; /* in the order of the log */
    struct pending_call *after;
    struct pending_call *next; /* in its group */
};

/* The pending calls of one id, newest first; or those of one name without an id, oldest first. */
struct pending_group {
    struct pending_group *next; /* in its slot */
    uint64_t hash;
    bool by_name;
    struct pending_call *first;
    struct pending_call *last; /* of those without an id */
    size_t key_len;
    char key[];
};

struct pending_table {
    const ses_allocator *allocator;
    struct hash_seed seed;
    struct pending_group **slots;
    size_t slot_count; /* a power of two, or 0 */
    size_t group_count;
    struct pending_call *oldest;
    struct pending_call *newest;
    size_t call_count;
};

SESLITE_PRIVATE struct pending_event *ses__pending_event_new(const ses_allocator *allocator);
SESLITE_PRIVATE void ses__pending_event_free(struct pending_event *event);

/* Adds a call, which is in its event's arena. False: out of memory; nothing has changed. */
SESLITE_PRIVATE bool ses__pending_add(struct pending_table *table, struct pending_call *call);
/* Removes the calls that a response of that id and name answers. Events that have no call left are freed. */
SESLITE_PRIVATE void ses__pending_answer(struct pending_table *table, struct span id, struct span name);
/* Marks the calls of that id as long-running in the event that was added last. */
SESLITE_PRIVATE void ses__pending_mark(struct pending_table *table, const struct pending_event *event,
                                       struct span id);
/* Frees the table with all calls and their events. */
SESLITE_PRIVATE void ses__pending_table_free(struct pending_table *table);

#endif
