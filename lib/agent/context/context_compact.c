/*
 * Puts summaries in the place of the events that they cover, as
 * google.adk.flows.llm_flows.context._compaction does. If one range lies within another, the larger counts;
 * of equal ranges, the later in the log. The time of an event decides whether it is covered, wherever in the
 * log it is. A summary has the time of the end of its range.
 */
#include <stdlib.h>

#include "agent/context/context.h"
#include "model/event/coverage.h"

/* Collects the ranges, from the newest to the oldest. */
static bool find_ranges(const struct context_work *work, struct coverage *ranges)
{
    bool ok = true;

    for (size_t i = work->event_count; i > 0 && ok; i--) {
        const struct compaction *compaction = &work->events[i - 1].compaction;
        if (ses__compacts(compaction))
            ok = ses__coverage_add(ranges,
                                   (struct coverage_range){compaction->from_us, compaction->to_us, i - 1});
    }
    return ok;
}

static void put_summaries(struct context_work *work, const struct coverage *ranges)
{
    for (size_t i = 0; i < ranges->count; i++)
        work->places[work->place_count++] =
            (struct context_place){ranges->items[i].to_us, ranges->items[i].event, true};
}

static void put_events(struct context_work *work, const struct coverage *ranges)
{
    for (size_t i = 0; i < work->event_count; i++) {
        struct context_event *event = &work->events[i];
        const int64_t time_us = event->event->time_us;
        event->is_there = !ses__compacts(&event->compaction) && !ses__coverage_has(ranges, time_us, time_us);
        if (event->is_there)
            work->places[work->place_count++] = (struct context_place){time_us, i, false};
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
    struct coverage ranges = {.allocator = work->arena.allocator};

    work->places = ses__arena_new(&work->arena, (work->event_count + 1) * sizeof *work->places);
    const bool ok = work->places && find_ranges(work, &ranges);
    work->compacts = ranges.count > 0;
    if (ok) {
        put_summaries(work, &ranges);
        put_events(work, &ranges);
    }
    if (ok && work->compacts) /* otherwise the order of the log is kept */
        qsort(work->places, work->place_count, sizeof *work->places, compare_places_by_time);
    ses__memory_free(ranges.allocator, ranges.items);
    return ok;
}
