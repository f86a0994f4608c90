/*
 * Finds the events of a log that belong together, between which it must not be cut: those of an invocation, a
 * function call and its responses, a rewind and the events that it takes back.
 *
 * A response with an id belongs to the last call of that id before it, and to earlier calls of that id that
 * had no response yet. Within an event, responses come before calls. Which call a response answers can depend
 * on which events are live, and a rewind may be taken back. So the bonds of the whole log and those among
 * live events both count.
 */
#ifndef SESLITE_MODEL_BONDS_H
#define SESLITE_MODEL_BONDS_H

#include "model/calls.h"
#include "model/event/rows.h"
#include "model/event/stored_event.h"

/* Events that belong together: the first and the last of them. */
struct bond {
    int64_t first;
    int64_t last;
};

struct bonds {
    struct arena arena;
    int64_t goal; /* bonds that begin after it are not needed */
    struct bond *items;
    size_t count;
    size_t capacity;
    struct hash_table invocations;
    struct calls calls;
    struct calls live_calls;
    struct bond_invocation *latest; /* the invocation of the last event */
};

/* To be freed. */
SESLITE_PRIVATE void ses__bonds_init(struct bonds *bonds, const ses_allocator *allocator,
                                     struct hash_seed seed, int64_t goal);
SESLITE_PRIVATE void ses__bonds_free(struct bonds *bonds);
/* True if the calls and responses of the next event count. */
SESLITE_PRIVATE bool ses__bonds_want(const struct bonds *bonds, const struct event_row *row);
/* Adds the next event of the log, with its functions if they count; NULL: it has none. False: out of
 * memory. */
SESLITE_PRIVATE bool ses__bonds_add_event(struct bonds *bonds, const struct event_row *row,
                                          const struct stored_event *functions, bool is_live);
/* False: out of memory. */
SESLITE_PRIVATE bool ses__bonds_add(struct bonds *bonds, int64_t first, int64_t last);
/* To be called after the events were added, before the two calls below. After that, more events can be added
 * and settled again. False: out of memory. */
SESLITE_PRIVATE bool ses__bonds_settle(struct bonds *bonds);
/* Returns the last event, at `seq` or before it, after which the log can be cut. */
SESLITE_PRIVATE int64_t ses__bonds_before(const struct bonds *bonds, int64_t seq);
/* Returns the first event, at `seq` or after it, after which the log can be cut, or a number beyond the goal
 * if there is none up to it. No bond may begin before `seq`. */
SESLITE_PRIVATE int64_t ses__bonds_after(const struct bonds *bonds, int64_t seq);

#endif
