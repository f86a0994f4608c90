/* The invocations of a log, and where each begins, as runs of neighbouring events of one invocation. */
#ifndef SESLITE_MODEL_EVENT_RUNS_H
#define SESLITE_MODEL_EVENT_RUNS_H

#include "base/memory.h"
#include "model/event/rows.h"

struct run {
    struct span id;
    int64_t first;
    bool is_turn; /* as given for its first event */
};

struct runs {
    struct arena arena;
    struct run *items;
    size_t count;
    size_t capacity;
};

/* To be freed. */
SESLITE_PRIVATE void ses__runs_init(struct runs *runs, const ses_allocator *allocator);
SESLITE_PRIVATE void ses__runs_free(struct runs *runs);
/* True if the event belongs to the last run. Events without an invocation belong to no run. */
SESLITE_PRIVATE bool ses__runs_continue(const struct runs *runs, const struct event_row *row);
/* Adds the next event of the log; `is_turn` counts if it begins a run. False: out of memory. */
SESLITE_PRIVATE bool ses__runs_add(struct runs *runs, const struct event_row *row, bool is_turn);
/* Sorts by id, then by place, so that the runs of one invocation are neighbours. */
SESLITE_PRIVATE void ses__runs_sort(struct runs *runs);
/* Of sorted runs: the first event of the invocation; 0: it has none. */
SESLITE_PRIVATE int64_t ses__runs_first(const struct runs *runs, struct span id);
SESLITE_PRIVATE bool ses__run_is_of(const struct run *run, struct span id);

#endif
