/*
 * Puts summaries in the place of the events that they cover, as
 * google.adk.flows.llm_flows.context._compaction does. If one range lies within another, the larger counts;
 * of equal ranges, the later in the log. The time of an event decides whether it is covered, wherever in the
 * log it is. A summary has the time of the end of its range.
 */
#include <stdlib.h>

#include "agent/context/context.h"

struct compacted_range {
    int64_t from_us;
    int64_t to_us;
    size_t event;
};

struct compacted_ranges {
    struct compacted_range *items; /* sorted by their beginning */
    size_t count;
};

/* Ranges that can contain others come first. */
static int compare_compacted(const void *left, const void *right)
{
    const struct compacted_range *a = left;
    const struct compacted_range *b = right;

    if (a->from_us != b->from_us)
        return a->from_us < b->from_us ? -1 : 1;
    if (a->to_us != b->to_us)
        return a->to_us > b->to_us ? -1 : 1;
    return a->event > b->event ? -1 : a->event < b->event;
}

static bool find_ranges(struct context_work *work, struct compacted_ranges *ranges)
{
    ranges->count = 0;
    ranges->items = ses__arena_new(&work->arena, (work->event_count + 1) * sizeof *ranges->items);
    if (!ranges->items)
        return false;
    for (size_t i = 0; i < work->event_count; i++) {
        const struct context_event *event = &work->events[i];
        if (event->summary.ptr)
            ranges->items[ranges->count++] = (struct compacted_range){event->from_us, event->to_us, i};
    }
    return true;
}

static void drop_held(struct compacted_ranges *ranges)
{
    size_t kept = 0;

    qsort(ranges->items, ranges->count, sizeof *ranges->items, compare_compacted);
    for (size_t i = 0; i < ranges->count; i++) {
        if (kept == 0 || ranges->items[i].to_us > ranges->items[kept - 1].to_us)
            ranges->items[kept++] = ranges->items[i];
    }
    ranges->count = kept;
}

/* Joins overlapping ranges. A range that ends before it begins covers nothing. */
static void join_ranges(struct compacted_ranges *ranges)
{
    size_t joined = 0;

    for (size_t i = 0; i < ranges->count; i++) {
        const struct compacted_range *range = &ranges->items[i];
        if (range->from_us > range->to_us)
            continue;
        if (joined > 0 && range->from_us <= ranges->items[joined - 1].to_us)
            ranges->items[joined - 1].to_us = range->to_us;
        else
            ranges->items[joined++] = *range;
    }
    ranges->count = joined;
}

static bool are_covering(const struct compacted_ranges *ranges, int64_t time_us)
{
    size_t low = 0;
    size_t high = ranges->count;

    /* Find the first range that ends at the time or after it. */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ranges->items[middle].to_us < time_us)
            low = middle + 1;
        else
            high = middle;
    }
    return low < ranges->count && ranges->items[low].from_us <= time_us;
}

static void put_summaries(struct context_work *work, const struct compacted_ranges *ranges)
{
    for (size_t i = 0; i < ranges->count; i++)
        work->places[work->place_count++] =
            (struct context_place){ranges->items[i].to_us, ranges->items[i].event, true};
}

static void put_events(struct context_work *work, const struct compacted_ranges *joined)
{
    for (size_t i = 0; i < work->event_count; i++) {
        struct context_event *event = &work->events[i];
        event->is_there = !event->summary.ptr && !are_covering(joined, event->event->time_us);
        if (event->is_there)
            work->places[work->place_count++] = (struct context_place){event->event->time_us, i, false};
    }
}

static int compare_places_by_time(const void *left, const void *right)
{
    const struct context_place *a = left;
    const struct context_place *b = right;

    if (a->time_us != b->time_us)
        return a->time_us < b->time_us ? -1 : 1;
    return a->event < b->event ? -1 : a->event > b->event;
}

bool ses__context_compact(struct context_work *work)
{
    struct compacted_ranges ranges;

    work->places = ses__arena_new(&work->arena, (work->event_count + 1) * sizeof *work->places);
    if (!work->places || !find_ranges(work, &ranges))
        return false;
    work->compacts = ranges.count > 0;
    drop_held(&ranges);
    put_summaries(work, &ranges);
    join_ranges(&ranges);
    put_events(work, &ranges);
    if (work->compacts) /* otherwise the order of the log is kept */
        qsort(work->places, work->place_count, sizeof *work->places, compare_places_by_time);
    return true;
}
