/* The part of a session's log that a model is sent. */
#include <string.h>

#include "agent/context/context.h"

#include "agent/tracked.h"
#include "artifact/begun.h"
#include "base/argument.h"
#include "base/error.h"
#include "session/handle.h"

struct context_item {
    const ses_event *event;
    ses_text content;
    char *inlined; /* the content, if bytes of artifacts are in it; otherwise NULL */
};

struct ses_context {
    ses_session *session; /* holds the events */
    const ses_allocator *allocator;
    struct context_item *items;
    size_t count;
    ses_left_out left_out;
};

/* ----------------------------------------------------------------------------------------------- the log */

static int add_context_event(struct context_work *work, const ses_event *event,
                             const struct stored_event *stored, ses_error *error)
{
    struct context_event *own = &work->events[work->event_count];

    *own = (struct context_event){.event = event,
                                  .content = stored->content,
                                  .compaction = stored->compaction,
                                  .begins_turn = strcmp(event->author, "user") == 0 &&
                                                 stored->part_count > stored->response_count &&
                                                 !ses__compacts(&stored->compaction),
                                  .first_function = work->function_count};
    if (!ses__memory_grow(work->arena.allocator, &work->functions, &work->function_capacity,
                          work->function_count + stored->function_count, sizeof *work->functions))
        return ses__error_nomem(error);
    for (size_t i = 0; i < stored->function_count; i++) {
        const struct stored_function *function = &stored->functions[i];
        if (function->id.len > 0)
            work->functions[work->function_count++] =
                (struct context_function){work->event_count, function->id, function->is_response, NULL};
    }
    own->function_count = work->function_count - own->first_function;
    work->first_turn += !own->begins_turn && work->first_turn == work->event_count;
    work->event_count++;
    return SES_OK;
}

/* Fills the events and functions from the live events of the session; with `visible_only`, without those that
 * no model sees. CORRUPT: an event cannot be read. */
static int read_live_events(struct context_work *work, const ses_session *session, bool visible_only,
                            const struct limits *limits, ses_error *error)
{
    const size_t count = ses_session_event_count(session);
    struct stored_event stored;
    int code = SES_OK;

    work->events = ses__arena_new(&work->arena, (count + 1) * sizeof *work->events);
    if (!work->events)
        return ses__error_nomem(error);
    ses__stored_event_init(&stored, &work->arena);
    for (size_t i = 0; i < count && code == SES_OK; i++) {
        const ses_event *event = ses_session_event(session, i);
        const struct event_row row = {.seq = event->seq, .body = {event->json, event->json_len}};
        bool wanted = true;
        code = ses__limits_passed(limits)
                   ? ses__limits_refuse(ses_session_id(session), error)
                   : ses__stored_event_read(&stored, &row, STORED_CONTENT | STORED_COMPACTION, error);
        if (code == SES_OK && visible_only)
            code = ses__event_is_visible(event, &stored, &wanted, error);
        if (code == SES_OK && wanted)
            code = add_context_event(work, event, &stored, error);
    }
    ses__stored_event_free(&stored);
    return code;
}

/* ----------------------------------------------------------------------------------------- working it out */

static int keep_places(ses_context *context, const struct context_work *work, ses_error *error)
{
    context->items = ses__memory_new(context->allocator, (work->place_count + 1) * sizeof *context->items);
    if (!context->items)
        return ses__error_nomem(error);
    for (size_t i = 0; i < work->place_count; i++) {
        const struct context_place *place = &work->places[i];
        const struct context_event *own = &work->events[place->event];
        struct span content = place->is_summary ? own->compaction.content : own->content;
        context->items[i] = (struct context_item){own->event, ses__text(content), NULL};
    }
    context->count = work->place_count;
    return SES_OK;
}

static bool has_budget(const ses_context_options *options)
{
    return options->max_bytes > 0 || options->max_tokens > 0 || options->max_turns > 0;
}

static int work_out(ses_context *context, struct hash_seed seed, const ses_context_options *options,
                    const struct limits *limits, ses_error *error)
{
    const struct context_budget budget = {options, limits, ses_session_id(context->session)};
    const bool visible_only = (options->flags & SES_CONTEXT_VISIBLE) != 0;
    const bool fits = has_budget(options);
    struct context_work work = {.in_log_order = (options->flags & SES_CONTEXT_LOG_ORDER) != 0};

    ses__arena_init(&work.arena, context->allocator);
    int code = read_live_events(&work, context->session, visible_only, limits, error);
    if (code == SES_OK && !ses__context_compact(&work))
        code = ses__error_nomem(error);
    const bool pairs = (work.compacts || fits) && work.function_count > 0;
    if (code == SES_OK && pairs && !ses__context_find_exchanges(&work, seed))
        code = ses__error_nomem(error);
    if (code == SES_OK && pairs && work.compacts && !ses__context_recall(&work))
        code = ses__error_nomem(error);
    if (code == SES_OK && fits)
        code = ses__context_fit(&work, &budget, &context->left_out, error);
    if (code == SES_OK)
        code = keep_places(context, &work, error);
    ses__memory_free(context->allocator, work.functions);
    ses__arena_free(&work.arena);
    return code;
}

/* --------------------------------------------------------------------------------------------- artifacts */

static int inline_item(struct artifact_inlining *inlining, struct context_item *item, ses_error *error)
{
    const struct span event = {item->event->json, item->event->json_len};
    struct buffer out;

    ses__buffer_init(&out, inlining->arena.allocator);
    const int code = ses__begun_artifacts_inline(
        inlining, (struct span){item->content.text, item->content.len}, event, &out, error);
    if (code != SES_OK || out.len == 0) {
        ses__buffer_free(&out);
        return code;
    }
    item->inlined = out.data;
    item->content = (ses_text){out.data, out.len};
    return SES_OK;
}

/* The newest come first, because a model needs them most. */
static int inline_artifacts(ses_context *context, ses_store *store, const ses_key *key, int64_t bytes,
                            const struct limits *limits, ses_error *error)
{
    struct artifact_inlining inlining = {.store = store, .key = key, .limits = limits, .left = bytes};
    int code = SES_OK;

    ses__arena_init(&inlining.arena, context->allocator);
    for (size_t i = context->count; i > 0 && bytes > 0 && code == SES_OK; i--) {
        ses__arena_reset(&inlining.arena);
        code = inline_item(&inlining, &context->items[i - 1], error);
    }
    ses__arena_free(&inlining.arena);
    return code;
}

/* ------------------------------------------------------------------------------------------------ opening */

static int take_context_options(ses_context_options *options, const ses_context_options *given,
                                ses_error *error)
{
    const int code = ses__take_flagged(options, sizeof *options, given,
                                       SES_CONTEXT_VISIBLE | SES_CONTEXT_LOG_ORDER | SES_CONTEXT_FIRST_TURN,
                                       "context options", error);
    const char *const negative = code != SES_OK              ? NULL
                                 : options->inline_bytes < 0 ? "inline_bytes"
                                 : options->max_bytes < 0    ? "max_bytes"
                                 : options->max_tokens < 0   ? "max_tokens"
                                 : options->max_turns < 0    ? "max_turns"
                                                             : NULL;

    return negative ? ses__error_set(error, SES_INVALID, "context options: %s is negative", negative) : code;
}

static int make_context(ses_store *store, const ses_key *key, const ses_session *handle,
                        const ses_context_options *given, ses_context **context, ses_error *error)
{
    const ses_range live = {.size = sizeof live, .which = SES_RANGE_LIVE};
    ses_get_options get = {.size = sizeof get, .range = &live};
    const ses_allocator *allocator = ses__store_allocator(store);
    ses_context_options options;
    ses_context *fresh = NULL;
    ses_session *read = NULL;
    int code = take_context_options(&options, given, error);

    const struct limits limits = ses__limits(store, options.timeout_ms, options.cancel);
    get.timeout_ms = options.timeout_ms;
    get.cancel = options.cancel;
    if (code == SES_OK)
        code = ses__begun_get(store, key, &get, &read, error);
    if (code == SES_OK)
        code = ses__check_epoch(read, handle, error);
    if (code == SES_OK) {
        fresh = ses__memory_zeroed(allocator, sizeof *fresh);
        code = fresh ? SES_OK : ses__error_nomem(error);
    }
    if (code != SES_OK) {
        ses_session_close(read);
        return code;
    }
    fresh->session = read;
    fresh->allocator = allocator;
    code = work_out(fresh, ses__store_seed(store), &options, &limits, error);
    if (code == SES_OK)
        code = inline_artifacts(fresh, store, key, options.inline_bytes, &limits, error);
    if (code == SES_OK)
        *context = fresh;
    else
        ses_context_close(fresh);
    return code;
}

static int open_context(ses_store *store, const char *call, const ses_key *key, const ses_session *handle,
                        const ses_context_options *options, ses_context **context, ses_error *error)
{
    int code = ses__store_begin_as(store, call, error);
    return code == SES_OK ? ses__store_end(store, make_context(store, key, handle, options, context, error))
                          : code;
}

int ses_context_open(ses_session *session, const ses_context_options *options, ses_context **context,
                     ses_error *error)
{
    int code = ses__check_output(context, "context", error);

    if (code == SES_OK)
        code = ses__session_check(session, error);
    if (code != SES_OK)
        return code;
    const ses_key key = {ses_session_app(session), ses_session_user(session), ses_session_id(session)};
    return open_context(ses__session_store(session), __func__, &key, session, options, context, error);
}

int ses_context_open_by_key(ses_store *store, const ses_key *key, const ses_context_options *options,
                            ses_context **context, ses_error *error)
{
    int code = ses__check_output(context, "context", error);
    return code == SES_OK ? open_context(store, __func__, key, NULL, options, context, error) : code;
}

void ses_context_close(ses_context *context)
{
    if (context) {
        ses_session *session = context->session; /* keeps the allocator */
        const ses_allocator *allocator = context->allocator;
        for (size_t i = 0; i < context->count; i++)
            ses__memory_free(allocator, context->items[i].inlined);
        ses__memory_free(allocator, context->items);
        ses__memory_free(allocator, context);
        ses_session_close(session);
    }
}

/* ---------------------------------------------------------------------------------------------- accessors */

size_t ses_context_count(const ses_context *context)
{
    return context->count;
}

const ses_event *ses_context_event(const ses_context *context, size_t index)
{
    return index < context->count ? context->items[index].event : NULL;
}

ses_text ses_context_content(const ses_context *context, size_t index)
{
    return index < context->count ? context->items[index].content : (ses_text){NULL, 0};
}

const ses_left_out *ses_context_left_out(const ses_context *context)
{
    return &context->left_out;
}
