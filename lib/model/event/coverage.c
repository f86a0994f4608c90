#include "model/event/coverage.h"

#include <string.h>

#include "base/memory.h"

void ses__coverage_init(struct coverage *coverage, const ses_allocator *allocator)
{
    *coverage = (struct coverage){.allocator = allocator};
}

void ses__coverage_free(struct coverage *coverage)
{
    ses__memory_free(coverage->allocator, coverage->ranges);
    *coverage = (struct coverage){.allocator = coverage->allocator};
}

/* Returns how many ranges begin at the time or before it. */
static size_t count_from(const struct coverage *coverage, int64_t from_us)
{
    size_t low = 0;
    size_t high = coverage->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (coverage->ranges[middle].from_us <= from_us)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool ses__coverage_has(const struct coverage *coverage, int64_t from_us, int64_t to_us)
{
    size_t count = count_from(coverage, from_us);
    return count > 0 && coverage->ranges[count - 1].to_us >= to_us; /* the last of them ends last */
}

bool ses__coverage_add(struct coverage *coverage, int64_t from_us, int64_t to_us)
{
    void *ranges = coverage->ranges;

    if (from_us > to_us || ses__coverage_has(coverage, from_us, to_us))
        return true;
    if (!ses__memory_grow(coverage->allocator, &ranges, &coverage->capacity, coverage->count + 1,
                          sizeof *coverage->ranges))
        return false;
    coverage->ranges = ranges;
    size_t end = count_from(coverage, from_us);
    size_t first = end;
    /* Remove the ranges that lie within it, also one with the same beginning. */
    while (first > 0 && coverage->ranges[first - 1].from_us == from_us)
        first--;
    while (end < coverage->count && coverage->ranges[end].to_us <= to_us)
        end++;
    memmove(&coverage->ranges[first + 1], &coverage->ranges[end],
            (coverage->count - end) * sizeof *coverage->ranges);
    coverage->ranges[first] = (struct coverage_range){from_us, to_us};
    coverage->count = coverage->count - (end - first) + 1;
    return true;
}
