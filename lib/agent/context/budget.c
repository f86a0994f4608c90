/*
 * Leaves the oldest turns out of a context, so that the rest fits a budget. Turns are taken from the newest
 * back, until one does not fit. A turn is measured with the calls and responses that it needs.
 */
#include "agent/context/context.h"
#include "base/error.h"

struct choice {
    struct context_work *work;
    const struct context_budget *budget;
    size_t *chosen; /* events, in the order in which they were chosen */
    size_t count;
    size_t measured; /* the first of them */
    int64_t bytes;
    int64_t tokens;
};

/* -------------------------------------------------------------------------------------------- measuring */

static int count_tokens(const struct context_budget *budget, const ses_event *event, struct span content,
                        int64_t *tokens, ses_error *error)
{
    ses_error own;

    *tokens = (int64_t)(content.len / 4 + (content.len % 4 > 0));
    if (!budget->options->count || budget->options->max_tokens == 0)
        return SES_OK;
    ses__error_clear(&own);
    *tokens = 0;
    const int code =
        budget->options->count(budget->options->count_context, event, content.ptr, content.len, tokens, &own);
    if (code != SES_OK)
        return ses__error_called(error, code, 0, &own, "counts tokens");
    return *tokens >= 0 ? SES_OK
                        : ses__error_set(error, SES_MISUSE, "the function that counts tokens counted %lld",
                                         (long long)*tokens);
}

static int measure(struct choice *choice, const ses_event *event, struct span content, ses_error *error)
{
    int64_t tokens = 0;

    if (content.len == 0)
        return SES_OK;
    if (ses__limits_passed(choice->budget->limits))
        return ses__limits_refuse(choice->budget->name, error);
    const int code = count_tokens(choice->budget, event, content, &tokens, error);
    choice->bytes += (int64_t)content.len;
    choice->tokens = tokens > INT64_MAX - choice->tokens ? INT64_MAX : choice->tokens + tokens;
    return code;
}

static int measure_summaries(struct choice *choice, ses_error *error)
{
    const struct context_work *work = choice->work;
    int code = SES_OK;

    for (size_t i = 0; i < work->place_count && code == SES_OK; i++) {
        const struct context_event *event = &work->events[work->places[i].event];
        if (work->places[i].is_summary)
            code = measure(choice, event->event, event->compaction.content, error);
    }
    return code;
}

static bool is_over(const struct choice *choice)
{
    const ses_context_options *options = choice->budget->options;

    return (options->max_bytes > 0 && choice->bytes > options->max_bytes) ||
           (options->max_tokens > 0 && choice->tokens > options->max_tokens);
}

/* --------------------------------------------------------------------------------------------- choosing */

/* Chooses an event of the context, each only once. */
static void choose(struct choice *choice, size_t at)
{
    struct context_event *event = &choice->work->events[at];

    if (event->is_there && !event->is_chosen)
        choice->chosen[choice->count++] = at;
    event->is_chosen = event->is_there;
}

/* A response needs its call, and a call its latest response. */
static void choose_needed(struct choice *choice, const struct context_event *event)
{
    for (size_t i = 0; i < event->function_count; i++) {
        const struct context_function *function = &choice->work->functions[event->first_function + i];
        const struct context_exchange *exchange = function->exchange;
        if (exchange && function->is_response)
            choose(choice, exchange->event);
        else if (exchange && exchange->answer != CONTEXT_NONE)
            choose(choice, exchange->answer);
    }
}

/* Chooses a turn with all that it needs, and measures that. */
static int choose_turn(struct choice *choice, size_t first, size_t end, ses_error *error)
{
    int code = SES_OK;

    for (size_t i = first; i < end; i++) {
        if (!choice->work->events[i].is_recalled)
            choose(choice, i);
    }
    for (; choice->measured < choice->count && code == SES_OK; choice->measured++) {
        const struct context_event *event = &choice->work->events[choice->chosen[choice->measured]];
        code = measure(choice, event->event, event->content, error);
        choose_needed(choice, event);
    }
    return code;
}

/* Returns where the turn begins that ends before an event. The first turn has what is before it, too. */
static size_t find_turn(const struct choice *choice, size_t end)
{
    while (end > 0 && !choice->work->events[end - 1].begins_turn)
        end--;
    return end > choice->work->first_turn + 1 ? end - 1 : 0;
}

static int choose_first_turn(struct choice *choice, ses_error *error)
{
    const struct context_work *work = choice->work;
    size_t end = work->first_turn + (work->first_turn < work->event_count);

    while (end < work->event_count && !work->events[end].begins_turn)
        end++;
    return choose_turn(choice, 0, end, error);
}

/* Chooses turns from the newest back, and sets how many of the chosen events stay: those of a turn that does
 * not fit do not. */
static int choose_newest_turns(struct choice *choice, size_t *staying, bool *is_over_budget, ses_error *error)
{
    const int64_t most = choice->budget->options->max_turns;
    size_t end = choice->work->event_count;
    int64_t turns = 0;
    int code = SES_OK;

    *staying = choice->count;
    *is_over_budget = is_over(choice);
    while (end > 0 && code == SES_OK && (most == 0 || turns < most)) {
        const size_t first = find_turn(choice, end);
        code = choose_turn(choice, first, end, error);
        if (turns == 0)
            *is_over_budget = is_over(choice);
        else if (is_over(choice))
            break;
        turns += choice->count > *staying; /* not if it was chosen before, or summaries replace it */
        *staying = choice->count;
        end = first;
    }
    return code;
}

static void leave_out(struct choice *choice, size_t staying, ses_left_out *left)
{
    struct context_work *work = choice->work;
    size_t place_count = 0;
    bool is_counted = false; /* the turn */

    while (choice->count > staying)
        work->events[choice->chosen[--choice->count]].is_chosen = false;
    for (size_t i = 0; i < work->place_count; i++) {
        if (work->places[i].is_summary || work->events[work->places[i].event].is_chosen)
            work->places[place_count++] = work->places[i];
    }
    work->place_count = place_count;
    for (size_t i = 0; i < work->event_count; i++) {
        const struct context_event *event = &work->events[i];
        const bool is_left_out = event->is_there && !event->is_chosen;
        if (event->begins_turn && i > work->first_turn)
            is_counted = false;
        left->events += is_left_out;
        left->turns += is_left_out && !is_counted;
        is_counted = is_counted || is_left_out;
    }
}

/* Lets the latest response to a call be one in the context. */
static void find_answers(struct context_work *work)
{
    for (size_t i = 0; i < work->function_count; i++) {
        const struct context_function *function = &work->functions[i];
        if (function->is_response && function->exchange && work->events[function->event].is_there)
            function->exchange->answer = function->event;
    }
}

int ses__context_fit(struct context_work *work, const struct context_budget *budget, ses_left_out *left,
                     ses_error *error)
{
    struct choice choice = {.work = work, .budget = budget};
    bool is_over_budget = false;
    size_t staying = 0;

    choice.chosen = ses__arena_new(&work->arena, (work->event_count + 1) * sizeof *choice.chosen);
    if (!choice.chosen)
        return ses__error_nomem(error);
    find_answers(work);
    int code = measure_summaries(&choice, error);
    if (code == SES_OK && (budget->options->flags & SES_CONTEXT_FIRST_TURN))
        code = choose_first_turn(&choice, error);
    if (code == SES_OK)
        code = choose_newest_turns(&choice, &staying, &is_over_budget, error);
    if (code != SES_OK)
        return code;
    leave_out(&choice, staying, left);
    left->over_budget = is_over_budget;
    return SES_OK;
}
