/* The ranges of time that compactions cover. No range lies within another. */
#ifndef SESLITE_MODEL_EVENT_COVERAGE_H
#define SESLITE_MODEL_EVENT_COVERAGE_H

#include "base/common.h"

struct coverage_range {
    int64_t from_us;
    int64_t to_us;
};

struct coverage {
    const ses_allocator *allocator;
    struct coverage_range *ranges; /* in order of both ends */
    size_t count;
    size_t capacity;
};

/* To be freed. */
SESLITE_PRIVATE void ses__coverage_init(struct coverage *coverage, const ses_allocator *allocator);
SESLITE_PRIVATE void ses__coverage_free(struct coverage *coverage);
/* True if one range contains the whole period, both ends included. */
SESLITE_PRIVATE bool ses__coverage_has(const struct coverage *coverage, int64_t from_us, int64_t to_us);
/* False: out of memory. */
SESLITE_PRIVATE bool ses__coverage_add(struct coverage *coverage, int64_t from_us, int64_t to_us);

#endif
