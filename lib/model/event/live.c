#include "model/event/live.h"

#include "base/memory.h"

void ses__live_init(struct live *live, const ses_allocator *allocator)
{
    *live = (struct live){.allocator = allocator};
}

void ses__live_free(struct live *live)
{
    ses__memory_free(live->allocator, live->gaps);
    *live = (struct live){.allocator = live->allocator};
}

bool ses__live_add_rewind(struct live *live, int64_t seq, int64_t target)
{
    if (live->count > 0 && seq >= live->gaps[live->count - 1].first)
        return true; /* was itself taken back */
    if (!ses__memory_grow(live->allocator, &live->gaps, &live->capacity, live->count + 1, sizeof *live->gaps))
        return false;
    live->gaps[live->count++] = (struct live_gap){target > 0 ? target : seq, seq};
    return true;
}

bool ses__live_stretch(const struct live *live, size_t index, int64_t *first, int64_t *last)
{
    if (index > live->count)
        return false;
    *first = index < live->count ? live->gaps[index].last + 1 : 1;
    *last = index > 0 ? live->gaps[index - 1].first - 1 : INT64_MAX;
    return true;
}

/* Finds the newest gap that begins at the event or before it. The stretch comes right after that gap. */
size_t ses__live_find(const struct live *live, int64_t seq)
{
    size_t low = 0;
    size_t high = live->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (live->gaps[middle].first > seq)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool ses__live_has(const struct live *live, int64_t seq)
{
    size_t gap = ses__live_find(live, seq);
    return gap == live->count || live->gaps[gap].last < seq;
}

bool ses__live_within(const struct live *live, int64_t first, int64_t last)
{
    int64_t from = 0;
    int64_t to = -1;

    for (size_t i = ses__live_find(live, first); from > to && from <= last; i--) {
        if (!ses__live_stretch(live, i, &from, &to))
            return false;
    }
    return from <= last;
}
