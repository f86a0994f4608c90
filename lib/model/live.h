/*
 * Which events of a log are live. A rewind event takes back the events from its target to itself; where it has no target,
 * only itself. The walk goes from the newest event back, so that a rewind which was itself taken back counts for
 * nothing: google.adk.events._rewind_events.
 */
#ifndef SESLITE_MODEL_LIVE_H
#define SESLITE_MODEL_LIVE_H

#include "base/common.h"

/* Events that are not live: from `first` to `last`, both included. */
struct live_gap {
    int64_t first;
    int64_t last;
};

struct live {
    const ses_allocator *allocator;
    struct live_gap *gaps; /* the newest first; they do not touch each other's numbers */
    size_t count;
    size_t capacity;
};

/* To be freed. */
SESLITE_PRIVATE void ses__live_init(struct live *live, const ses_allocator *allocator);
SESLITE_PRIVATE void ses__live_free(struct live *live);
/* The next rewind event, from the newest to the oldest; target 0: none. False: out of memory. */
SESLITE_PRIVATE bool ses__live_add_rewind(struct live *live, int64_t seq, int64_t target);
/* Stretches of live numbers, counted from 0, the newest first; the newest ends at INT64_MAX, the oldest begins at 1. A
 * stretch may be empty (first > last). False: there is none of that number. */
SESLITE_PRIVATE bool ses__live_stretch(const struct live *live, size_t index, int64_t *first, int64_t *last);
/* The stretch in which the number lies; where it is not live, the one after it. */
SESLITE_PRIVATE size_t ses__live_find(const struct live *live, int64_t seq);
/* Is a number from `first` to `last`, both included, live? */
SESLITE_PRIVATE bool ses__live_within(const struct live *live, int64_t first, int64_t last);
SESLITE_PRIVATE bool ses__live_has(const struct live *live, int64_t seq);

#endif
