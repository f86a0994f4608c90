/*
 * Brings back the calls that a summary covers but whose response it does not, because no provider accepts a
 * response without its call. See google.adk.flows.llm_flows.context._compaction.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/context/context.h"

/* ------------------------------------------------------------------------------------------ exchanges */

/* Sorts by id, then in the order of the log; within an event calls come first. */
static int compare_functions(const void *left, const void *right)
{
    const struct context_function *a = *(const struct context_function *const *)left;
    const struct context_function *b = *(const struct context_function *const *)right;
    size_t shorter = a->id.len < b->id.len ? a->id.len : b->id.len;
    int order = memcmp(a->id.ptr, b->id.ptr, shorter);

    if (order == 0)
        order = a->id.len < b->id.len ? -1 : a->id.len > b->id.len;
    if (order == 0)
        order = a->event < b->event ? -1 : a->event > b->event;
    return order != 0 ? order : a->is_response - b->is_response;
}

static bool is_same_id(const struct context_function *left, const struct context_function *right)
{
    return left->id.len == right->id.len && memcmp(left->id.ptr, right->id.ptr, left->id.len) == 0;
}

static void note_response(const struct context_work *work, struct context_exchange *exchange, size_t event)
{
    const struct context_event *response = &work->events[event];

    exchange->has_answer_there = exchange->has_answer_there || response->is_there;
    if (exchange->answer == CONTEXT_NONE ||
        response->event->time_us >= work->events[exchange->answer].event->time_us)
        exchange->answer = event;
}

/* A response belongs to the latest call of its id before it. */
static void find_exchanges(const struct context_work *work, struct context_function *const *sorted,
                           struct context_exchange *exchanges)
{
    size_t count = 0;
    size_t current = CONTEXT_NONE;

    for (size_t i = 0; i < work->function_count; i++) {
        struct context_function *function = sorted[i];
        if (i > 0 && !is_same_id(sorted[i - 1], function))
            current = CONTEXT_NONE;
        if (!function->is_response &&
            (current == CONTEXT_NONE || exchanges[current].call != function->event)) {
            current = count++;
            exchanges[current] = (struct context_exchange){function->event, CONTEXT_NONE, false};
        }
        function->exchange = current;
        if (function->is_response && current != CONTEXT_NONE)
            note_response(work, &exchanges[current], function->event);
    }
}

static struct context_exchange *make_exchanges(struct context_work *work)
{
    const size_t count = work->function_count;
    struct context_function **sorted = ses__arena_new(&work->arena, count * sizeof *sorted);
    struct context_exchange *exchanges = ses__arena_new(&work->arena, count * sizeof *exchanges);

    if (!sorted || !exchanges)
        return NULL;
    for (size_t i = 0; i < count; i++)
        sorted[i] = &work->functions[i];
    qsort(sorted, count, sizeof *sorted, compare_functions);
    find_exchanges(work, sorted, exchanges);
    return exchanges;
}

/* ---------------------------------------------------------------------------------------- what comes back */

struct recall {
    struct context_work *work;
    const struct context_exchange *exchanges;
    struct context_place *places;
    size_t count;
};

/* Adds an event, each only once. */
static void come_back(struct recall *recall, size_t event)
{
    struct context_event *own = &recall->work->events[event];

    if (!own->is_there) {
        own->is_there = true;
        recall->places[recall->count++] = (struct context_place){own->event->time_us, event, false};
    }
}

/* Brings back the whole event of a call, and the responses to its other calls, which would otherwise look
 * unanswered. */
static void bring_back_call(struct recall *recall, size_t event)
{
    const struct context_event *call = &recall->work->events[event];

    come_back(recall, event);
    for (size_t i = 0; i < call->function_count; i++) {
        const struct context_function *function = &recall->work->functions[call->first_function + i];
        const struct context_exchange *exchange = &recall->exchanges[function->exchange];
        if (!function->is_response && !exchange->has_answer_there && exchange->answer != CONTEXT_NONE)
            come_back(recall, exchange->answer);
    }
}

static void bring_back_before(struct recall *recall, const struct context_place *place)
{
    const struct context_event *event = &recall->work->events[place->event];

    for (size_t i = 0; i < event->function_count && !place->is_summary; i++) {
        const struct context_function *function = &recall->work->functions[event->first_function + i];
        if (!function->is_response || function->exchange == CONTEXT_NONE)
            continue;
        size_t call = recall->exchanges[function->exchange].call;
        if (!recall->work->events[call].is_there)
            bring_back_call(recall, call);
    }
}

bool ses__context_recall(struct context_work *work)
{
    struct recall recall = {.work = work};

    if (!work->compacts || work->function_count == 0)
        return true;
    recall.exchanges = make_exchanges(work);
    recall.places =
        ses__arena_new(&work->arena, (work->place_count + work->event_count) * sizeof *recall.places);
    if (!recall.exchanges || !recall.places)
        return false;
    for (size_t i = 0; i < work->place_count; i++) {
        bring_back_before(&recall, &work->places[i]);
        recall.places[recall.count++] = work->places[i];
    }
    work->places = recall.places;
    work->place_count = recall.count;
    return true;
}
