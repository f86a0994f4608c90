/* The part of a session's log that a model is sent. */
#include "agent/context/context.h"

#include "agent/tracked.h"
#include "base/argument.h"
#include "base/error.h"
#include "session/handle.h"

struct context_item {
    const ses_event *event;
    ses_text content;
};

struct ses_context {
    ses_session *session; /* holds the events */
    const ses_allocator *allocator;
    struct context_item *items;
    size_t count;
};

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
        context->items[i] = (struct context_item){own->event, ses__text(content)};
    }
    context->count = work->place_count;
    return SES_OK;
}

static int work_out(ses_context *context, struct hash_seed seed, unsigned flags, ses_error *error)
{
    struct context_work work = {.events = NULL};

    ses__arena_init(&work.arena, context->allocator);
    int code = ses__context_read(&work, context->session, (flags & SES_CONTEXT_VISIBLE) != 0, error);
    if (code == SES_OK && !(ses__context_compact(&work) && ses__context_recall(&work, seed)))
        code = ses__error_nomem(error);
    if (code == SES_OK)
        code = keep_places(context, &work, error);
    ses__memory_free(context->allocator, work.functions);
    ses__arena_free(&work.arena);
    return code;
}

/* ------------------------------------------------------------------------------------------------ opening */

/* Takes the session over, also on failure. */
static int context_new(ses_store *store, ses_session *session, unsigned flags, ses_context **context,
                       ses_error *error)
{
    const ses_allocator *allocator = ses__store_allocator(store);
    ses_context *fresh = ses__memory_zeroed(allocator, sizeof *fresh);

    if (!fresh) {
        ses_session_close(session);
        return ses__error_nomem(error);
    }
    fresh->session = session;
    fresh->allocator = allocator;
    int code = work_out(fresh, ses__store_seed(store), flags, error);
    if (code == SES_OK)
        *context = fresh;
    else
        ses_context_close(fresh);
    return code;
}

static int make_context(ses_store *store, const ses_key *key, const ses_session *handle,
                        const ses_context_options *given, ses_context **context, ses_error *error)
{
    const ses_range live = {.size = sizeof live, .which = SES_RANGE_LIVE};
    const ses_get_options get = {.size = sizeof get, .range = &live};
    ses_context_options options;
    ses_session *fresh = NULL;
    int code = ses__take_options(&options, sizeof options, given, "context options", error);

    if (code == SES_OK)
        code = ses__check_flags(options.flags, SES_CONTEXT_VISIBLE, "context options", error);
    if (code == SES_OK)
        code = ses__begun_get(store, key, &get, &fresh, error);
    if (code == SES_OK)
        code = ses__check_epoch(fresh, handle, error);
    if (code == SES_OK)
        return context_new(store, fresh, options.flags, context, error);
    ses_session_close(fresh);
    return code;
}

static int open_context(ses_store *store, const ses_key *key, const ses_session *handle,
                        const ses_context_options *options, ses_context **context, ses_error *error)
{
    int code = ses__store_begin(store, error);
    if (code == SES_OK)
        code = ses__store_end(store, make_context(store, key, handle, options, context, error));
    return code;
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
    return open_context(ses__session_store(session), &key, session, options, context, error);
}

int ses_context_open_by_key(ses_store *store, const ses_key *key, const ses_context_options *options,
                            ses_context **context, ses_error *error)
{
    int code = ses__check_output(context, "context", error);
    return code == SES_OK ? open_context(store, key, NULL, options, context, error) : code;
}

void ses_context_close(ses_context *context)
{
    if (context) {
        ses_session *session = context->session; /* keeps the allocator */
        const ses_allocator *allocator = context->allocator;
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
