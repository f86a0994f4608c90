/*
 * Brings back the calls that a summary covers but whose response it does not, because no provider accepts a
 * response without its call. See google.adk.flows.llm_flows.context._compaction.
 */
#include "agent/context/context.h"
#include "model/calls.h"

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
static bool find_exchanges_of(struct context_work *work, struct calls *calls,
                              const struct context_event *event)
{
    struct context_function *functions = &work->functions[event->first_function];
    bool ok = true;

    for (size_t i = 0; i < event->function_count && ok; i++)
        ok = functions[i].is_response || add_exchange(work, calls, &functions[i]);
    for (size_t i = 0; i < event->function_count && ok; i++) {
        if (functions[i].is_response)
            note_answer(work, calls, &functions[i]);
    }
    return ok;
}

static bool find_exchanges(struct context_work *work, struct hash_seed seed)
{
    struct calls calls = {.allocator = work->arena.allocator, .seed = seed};
    bool ok = true;

    for (size_t i = 0; i < work->event_count && ok; i++)
        ok = find_exchanges_of(work, &calls, &work->events[i]);
    ses__calls_free(&calls);
    return ok;
}

/* ---------------------------------------------------------------------------------------- what comes back */

/* Adds an event to the places, each only once. */
static void come_back(struct context_work *work, size_t event)
{
    struct context_event *own = &work->events[event];

    if (!own->is_there)
        work->places[work->place_count++] = (struct context_place){.event = event};
    own->is_there = true;
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

static void bring_back_before(struct context_work *work, const struct context_place *place)
{
    const struct context_event *event = &work->events[place->event];

    for (size_t i = 0; i < event->function_count && !place->is_summary; i++) {
        const struct context_function *function = &work->functions[event->first_function + i];
        if (function->is_response && function->exchange && !work->events[function->exchange->event].is_there)
            bring_back_call(work, function->exchange->event);
    }
}

bool ses__context_recall(struct context_work *work, struct hash_seed seed)
{
    const struct context_place *before = work->places;
    const size_t count = work->place_count;

    if (!work->compacts || work->function_count == 0)
        return true;
    work->places = ses__arena_new(&work->arena, (count + work->event_count) * sizeof *work->places);
    if (!work->places || !find_exchanges(work, seed))
        return false;
    work->place_count = 0;
    for (size_t i = 0; i < count; i++) {
        bring_back_before(work, &before[i]);
        work->places[work->place_count++] = before[i];
    }
    return true;
}
