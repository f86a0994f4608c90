/* The pending calls of a session, as the calls on them see them. */
#ifndef SESLITE_AGENT_PENDING_H
#define SESLITE_AGENT_PENDING_H

#include "seslite_agent.h"

#include "base/memory.h"
#include "model/calls.h"

/* An event with pending calls. It is freed with the last of them. */
struct pending_event {
    struct arena arena;       /* of the event, its calls, and texts that had to be decoded */
    const struct calls *open; /* all pending calls */
    const ses_event *event;
    struct span scope; /* its `isolationScope`, as plain text; without text: none */
    size_t calls;
};

/* In the arena of its event. */
struct pending_call {
    struct call call;
    ses_function function;
    struct pending_event *event;
    bool is_long_running;
    size_t number; /* in its event, among the calls and responses */
    size_t index;  /* in the list */
};

struct ses_pending {
    ses_allocator allocator; /* it may outlive the store */
    struct calls open;       /* the pending calls, by what a response names */
    /* All calls in the order of the log; NULL for a call that has had a response since. */
    struct pending_call **items;
    size_t count;
    size_t capacity;
    size_t unanswered; /* calls of the list that are not NULL */
};

/* Removes the call and all others that a response to it answers. They leave NULLs in the list. */
SESLITE_PRIVATE void ses__pending_answered(ses_pending *pending, const struct pending_call *call);

#endif
