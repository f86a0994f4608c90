/* The ranges of time that compactions cover. No range lies within another. */
#ifndef SESLITE_MODEL_EVENT_COVERAGE_H
#define SESLITE_MODEL_EVENT_COVERAGE_H

#include "base/common.h"

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

#endif
