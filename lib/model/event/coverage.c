#include "model/event/coverage.h"

#include <string.h>

#include "base/memory.h"

/* Returns how many ranges begin at the time or before it. */
static size_t count_from(const struct coverage *coverage, int64_t from_us)
{
    size_t low = 0;
    size_t high = coverage->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (coverage->items[middle].from_us <= from_us)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool ses__coverage_has(const struct coverage *coverage, int64_t from_us, int64_t to_us)
{
    size_t count = count_from(coverage, from_us);
    return count > 0 && coverage->items[count - 1].to_us >= to_us; /* the last of them ends last */
}

bool ses__coverage_has_after(const struct coverage *coverage, int64_t time_us, size_t event)
{
    size_t i = count_from(coverage, time_us);

    while (i > 0 && coverage->items[i - 1].to_us >= time_us && coverage->items[i - 1].event <= event)
        i--;
    return i > 0 && coverage->items[i - 1].to_us >= time_us;
}

bool ses__coverage_add(struct coverage *coverage, struct coverage_range range)
{
    if (ses__coverage_has(coverage, range.from_us, range.to_us))
        return true;
    if (!LIST_GROW(coverage->allocator, coverage))
        return false;
    struct coverage_range *items = coverage->items;
    size_t end = count_from(coverage, range.from_us);
    size_t first = end;
    /* Remove the ranges that lie within it, also one with the same beginning. */
    while (first > 0 && items[first - 1].from_us == range.from_us)
        first--;
    while (end < coverage->count && items[end].to_us <= range.to_us)
        end++;
    memmove(&items[first + 1], &items[end], (coverage->count - end) * sizeof *items);
    items[first] = range;
    coverage->count = coverage->count - (end - first) + 1;
    return true;
}
