/*
 * Finds the live events of a log, as google.adk.events._rewind_events does. A rewind event takes back the
 * events from its target to itself, or only itself if it has no target. The walk goes backward from the
 * newest event, so a rewind that was itself taken back has no effect.
 */
#ifndef SESLITE_MODEL_EVENT_LIVE_H
#define SESLITE_MODEL_EVENT_LIVE_H

#include "base/common.h"

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

#endif
