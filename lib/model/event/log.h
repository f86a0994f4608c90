/* Facts of a log that a walk over its events finds: the events that are live, the places where invocations
 * begin, the times that compactions cover, and the update times. */
#ifndef SESLITE_MODEL_EVENT_LOG_H
#define SESLITE_MODEL_EVENT_LOG_H

#include "base/memory.h"
#include "model/event/rows.h"

/* ---- live events */

/*
 * Finds the live events of a log, as google.adk.events._rewind_events does. A rewind event takes back the
 * events from its target to itself, or only itself if it has no target. The walk goes backward from the
 * newest event, so a rewind that was itself taken back has no effect.
 */

/* Events that are not live: from `first` to `last`, both included. */
struct live_gap {
    int64_t first;
    int64_t last;
};

struct live {
    const ses_allocator *allocator;
    struct live_gap *gaps; /* newest first, without overlap */
    size_t count;
    size_t capacity;
};

/* To be freed. */
SESLITE_PRIVATE void ses__live_init(struct live *live, const ses_allocator *allocator);
SESLITE_PRIVATE void ses__live_free(struct live *live);
/* Adds the next rewind event, from the newest to the oldest; target 0: none. False: out of memory. */
SESLITE_PRIVATE bool ses__live_add_rewind(struct live *live, int64_t seq, int64_t target);
/* Gives a stretch of live numbers. Stretches are counted from 0, newest first; the newest ends at
 * INT64_MAX, the oldest begins at 1. A stretch may be empty (first > last). False: there is no stretch
 * with that index. */
SESLITE_PRIVATE bool ses__live_stretch(const struct live *live, size_t index, int64_t *first, int64_t *last);
/* Returns the stretch that contains the number, or the one after it if the number is not live. */
SESLITE_PRIVATE size_t ses__live_find(const struct live *live, int64_t seq);
/* True if a number from `first` to `last`, both included, is live. */
SESLITE_PRIVATE bool ses__live_within(const struct live *live, int64_t first, int64_t last);
SESLITE_PRIVATE bool ses__live_has(const struct live *live, int64_t seq);

/* ---- invocations */

/* The invocations of a log, and where each begins, as runs of neighbouring events of one invocation. */

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
/* Returns the first event of the invocation; 0: it has none. The runs are sorted. */
SESLITE_PRIVATE int64_t ses__runs_first(const struct runs *runs, struct span id);
SESLITE_PRIVATE bool ses__run_is_of(const struct run *run, struct span id);

/* ---- compactions */

/* The ranges of time that compactions cover. No range lies within another. */

/* A range that ends before it begins covers nothing. */
struct coverage_range {
    int64_t from_us;
    int64_t to_us;
    size_t event; /* as given */
};

/* Begins with its allocator, and otherwise zeroed. The items are freed with it. */
struct coverage {
    const ses_allocator *allocator;
    struct coverage_range *items; /* in order of both ends */
    size_t count;
    size_t capacity;
};

/* True if one range contains the whole period, both ends included. */
SESLITE_PRIVATE bool ses__coverage_has(const struct coverage *coverage, int64_t from_us, int64_t to_us);
/* True if a range that contains the time was given with a later event than this one. */
SESLITE_PRIVATE bool ses__coverage_has_after(const struct coverage *coverage, int64_t time_us, size_t event);
/* Adds a range, in place of those within it, unless it lies within another. False: out of memory. */
SESLITE_PRIVATE bool ses__coverage_add(struct coverage *coverage, struct coverage_range range);

/* ---- update times */

/*
 * The update times along a log. The update time after an event is never earlier than before it. If no number
 * is missing in between, it is exactly the later of that time and the event's own; only cut or pruned events
 * can have raised it otherwise. Events that a fork has copied keep their own times, which may be earlier than
 * the fork's creation.
 */

struct update_times {
    int64_t created_us;
    int64_t base_seq;
    int64_t inherited; /* events up to this number come from the parent */
    int64_t seq;       /* the last event; base_seq: none yet */
    int64_t high_us;   /* the update time after it */
};

SESLITE_PRIVATE void ses__update_times_begin(struct update_times *times, int64_t created_us, int64_t base_seq,
                                             int64_t inherited);
/* Returns the time after the next event, if nothing else has raised it. */
SESLITE_PRIVATE int64_t ses__update_times_after(const struct update_times *times, int64_t seq,
                                                int64_t time_us);
/* True if the time after the next event can be `high_us`. */
SESLITE_PRIVATE bool ses__update_times_allow(const struct update_times *times, int64_t seq, int64_t time_us,
                                             int64_t high_us);
SESLITE_PRIVATE void ses__update_times_pass(struct update_times *times, int64_t seq, int64_t high_us);
/* Returns the earliest possible update time of the session after the last event. */
SESLITE_PRIVATE int64_t ses__update_times_end(const struct update_times *times);

#endif
