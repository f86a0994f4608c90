/*
 * Puts summaries in the place of the events that they cover, as
 * google.adk.flows.llm_flows.context._compaction does. If one range lies within another, the larger counts;
 * of equal ranges, the later in the log. The time of an event decides whether it is covered, wherever in the
 * log it is. A summary has the time of the end of its range. In the order of the log, a summary covers only
 * events before its own, and comes after the last that it covers.
 */
#include <stdlib.h>

#include "agent/context/context.h"
#include "model/calls.h"
#include "model/event/log.h"

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
    bool ok = work->places != NULL;
    for (size_t i = work->event_count; i > 0 && ok; i--) { /* the newest first */
        const struct compaction *compaction = &work->events[i - 1].compaction;
        if (ses__compacts(compaction))
            ok = ses__coverage_add(&ranges,
                                   (struct coverage_range){compaction->from_us, compaction->to_us, i - 1});
    }
    work->compacts = ranges.count > 0;
    for (size_t i = 0; i < ranges.count && ok; i++) {
        const struct coverage_range *range = &ranges.items[i];
        work->places[work->place_count++] =
            (struct context_place){order_of_summary(work, range), range->event, true};
    }
    for (size_t i = 0; i < work->event_count && ok; i++) {
        struct context_event *event = &work->events[i];
        const int64_t time_us = event->event->time_us;
        const bool is_covered = work->in_log_order ? ses__coverage_has_after(&ranges, time_us, i)
                                                   : ses__coverage_has(&ranges, time_us, time_us);
        event->is_there = !is_covered && !ses__compacts(&event->compaction);
        if (event->is_there)
            work->places[work->place_count++] = (struct context_place){order_of_event(work, i), i, false};
    }
    if (ok && work->compacts) /* otherwise the order of the log is kept */
        qsort(work->places, work->place_count, sizeof *work->places, compare_context_places);
    ses__memory_free(ranges.allocator, ranges.items);
    return ok;
}

/* ----------------------------------------------------------------------------------- calls that come back */

/*
 * Brings back the calls that a summary covers but whose response it does not, because no provider accepts a
 * response without its call. See google.adk.flows.llm_flows.context._compaction.
 */

/* ------------------------------------------------------------------------------------------ exchanges */

static const struct span no_name = {NULL, 0};

/* The calls of one id in one event are one exchange. */
static bool add_exchange(struct context_work *work, struct calls *calls, struct context_function *function)
{
    struct context_exchange *exchange =
        (struct context_exchange *)ses__calls_find(calls, function->id, no_name);

    if (!exchange || exchange->event != function->event) {
        exchange = ses__arena_new(&work->arena, sizeof *exchange);
        if (!exchange)
            return false;
        *exchange = (struct context_exchange){.event = function->event, .answer = CONTEXT_NONE};
        if (!ses__calls_add(calls, function->id, no_name, &exchange->call))
            return false;
    }
    function->exchange = exchange;
    return true;
}

/* A response belongs to the latest call of its id before it. */
static void note_answer(const struct context_work *work, struct calls *calls,
                        struct context_function *function)
{
    const struct context_event *response = &work->events[function->event];
    struct context_exchange *exchange =
        (struct context_exchange *)ses__calls_answer(calls, function->id, no_name);

    function->exchange = exchange;
    if (!exchange)
        return;
    exchange->has_answer_there = exchange->has_answer_there || response->is_there;
    if (exchange->answer == CONTEXT_NONE || work->in_log_order ||
        response->event->time_us >= work->events[exchange->answer].event->time_us)
        exchange->answer = function->event;
}

/* Within an event, calls come before responses. */
bool ses__context_find_exchanges(struct context_work *work, struct hash_seed seed)
{
    struct calls calls = {.allocator = work->arena.allocator, .seed = seed};
    bool ok = true;

    for (size_t i = 0; i < work->event_count && ok; i++) {
        struct context_function *functions = &work->functions[work->events[i].first_function];
        const size_t count = work->events[i].function_count;
        for (size_t k = 0; k < count && ok; k++)
            ok = functions[k].is_response || add_exchange(work, &calls, &functions[k]);
        for (size_t k = 0; k < count && ok; k++) {
            if (functions[k].is_response)
                note_answer(work, &calls, &functions[k]);
        }
    }
    ses__calls_free(&calls);
    return ok;
}

/* ---------------------------------------------------------------------------------------- what comes back */

/* Adds an event to the places, each only once. */
static void come_back(struct context_work *work, size_t event)
{
    struct context_event *own = &work->events[event];

    if (own->is_there)
        return;
    work->places[work->place_count++] = (struct context_place){.event = event};
    own->is_there = true;
    own->is_recalled = true;
}

/* Brings back the whole event of a call, and the responses to its other calls, which would otherwise look
 * unanswered. */
static void bring_back_call(struct context_work *work, size_t event)
{
    const struct context_event *call = &work->events[event];

    come_back(work, event);
    for (size_t i = 0; i < call->function_count; i++) {
        const struct context_function *function = &work->functions[call->first_function + i];
        const struct context_exchange *exchange = function->exchange;
        if (!function->is_response && !exchange->has_answer_there && exchange->answer != CONTEXT_NONE)
            come_back(work, exchange->answer);
    }
}

bool ses__context_recall(struct context_work *work)
{
    const struct context_place *before = work->places;
    const size_t count = work->place_count;

    work->places = ses__arena_new(&work->arena, (count + work->event_count) * sizeof *work->places);
    if (!work->places)
        return false;
    work->place_count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct context_event *event = &work->events[before[i].event];
        for (size_t k = 0; k < event->function_count && !before[i].is_summary; k++) {
            const struct context_function *function = &work->functions[event->first_function + k];
            const struct context_exchange *exchange = function->is_response ? function->exchange : NULL;
            if (exchange && !work->events[exchange->event].is_there)
                bring_back_call(work, exchange->event);
        }
        work->places[work->place_count++] = before[i];
    }
    return true;
}
