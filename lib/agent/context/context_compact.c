/*
 * Puts summaries in the place of the events that they cover, as
 * google.adk.flows.llm_flows.context._compaction does. If one range lies within another, the larger counts;
 * of equal ranges, the later in the log. The time of an event decides whether it is covered, wherever in the
 * log it is. A summary has the time of the end of its range. In the order of the log, a summary covers only
 * events before its own, and comes after the last that it covers.
 */
#include <stdlib.h>

#include "agent/context/context.h"
#include "model/event/log.h"

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

/* In the order of the log, two numbers for each event: its own, and that of the summaries after it. */
static int64_t order_of_event(const struct context_work *work, size_t event)
{
    return work->in_log_order ? 2 * (int64_t)event + 1 : work->events[event].event->time_us;
}

/* If no covered event is left, the last that is earlier by time counts. */
static int64_t order_of_summary(const struct context_work *work, const struct coverage_range *range)
{
    int64_t order = 0;

    if (!work->in_log_order)
        return range->to_us;
    for (size_t i = range->event; i > 0; i--) {
        const int64_t time_us = work->events[i - 1].event->time_us;
        if (time_us >= range->from_us && time_us <= range->to_us)
            return order_of_event(work, i - 1) + 1;
        if (order == 0 && time_us < range->from_us)
            order = order_of_event(work, i - 1) + 1;
    }
    return order;
}

static void put_summaries(struct context_work *work, const struct coverage *ranges)
{
    for (size_t i = 0; i < ranges->count; i++) {
        const struct coverage_range *range = &ranges->items[i];
        work->places[work->place_count++] =
            (struct context_place){order_of_summary(work, range), range->event, true};
    }
}

static bool is_covered(const struct context_work *work, const struct coverage *ranges, size_t event)
{
    const int64_t time_us = work->events[event].event->time_us;

    return work->in_log_order ? ses__coverage_has_after(ranges, time_us, event)
                              : ses__coverage_has(ranges, time_us, time_us);
}

static void put_events(struct context_work *work, const struct coverage *ranges)
{
    for (size_t i = 0; i < work->event_count; i++) {
        struct context_event *event = &work->events[i];
        event->is_there = !ses__compacts(&event->compaction) && !is_covered(work, ranges, i);
        if (event->is_there)
            work->places[work->place_count++] = (struct context_place){order_of_event(work, i), i, false};
    }
}

static int compare_context_places(const void *left, const void *right)
{
    const struct context_place *a = left;
    const struct context_place *b = right;

    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
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
        qsort(work->places, work->place_count, sizeof *work->places, compare_context_places);
    ses__memory_free(ranges.allocator, ranges.items);
    return ok;
}
