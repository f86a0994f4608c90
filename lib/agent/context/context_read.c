/* The live events of a session, as the context needs them. */
#include <string.h>

#include "agent/context/context.h"
#include "base/error.h"

static bool add_context_function(struct context_work *work, const struct stored_function *function)
{
    void *items = work->functions;
    bool ok = ses__memory_grow(work->arena.allocator, &items, &work->function_capacity,
                               work->function_count + 1, sizeof *work->functions);

    work->functions = items;
    if (ok)
        work->functions[work->function_count++] =
            (struct context_function){work->event_count, function->id, function->is_response, NULL};
    return ok;
}

static int add_context_event(struct context_work *work, const ses_event *event,
                             const struct stored_event *stored, ses_error *error)
{
    struct context_event *own = &work->events[work->event_count];

    *own = (struct context_event){
        .event = event, .content = stored->content, .first_function = work->function_count};
    if (ses__compacts(&stored->compaction)) {
        own->summary = stored->compaction.content;
        own->from_us = stored->compaction.from_us;
        own->to_us = stored->compaction.to_us;
    }
    for (size_t i = 0; i < stored->function_count; i++) {
        if (stored->functions[i].id.len > 0 && !add_context_function(work, &stored->functions[i]))
            return ses__error_nomem(error);
    }
    own->function_count = work->function_count - own->first_function;
    work->event_count++;
    return SES_OK;
}

static int read_context_event(struct context_work *work, const ses_event *event, struct stored_event *stored,
                              bool visible_only, ses_error *error)
{
    const struct event_row row = {.seq = event->seq, .body = {event->json, event->json_len}};
    bool wanted = true;
    int code = ses__stored_event_read(stored, &row, STORED_CONTENT | STORED_COMPACTION, error);

    if (code == SES_OK && visible_only)
        code = ses__event_is_visible(event, stored, &wanted, error);
    return code == SES_OK && wanted ? add_context_event(work, event, stored, error) : code;
}

int ses__context_read(struct context_work *work, const ses_session *session, bool visible_only,
                      ses_error *error)
{
    const size_t count = ses_session_event_count(session);
    struct stored_event stored;
    int code = SES_OK;

    work->events = ses__arena_new(&work->arena, (count + 1) * sizeof *work->events);
    if (!work->events)
        return ses__error_nomem(error);
    ses__stored_event_init(&stored, &work->arena);
    for (size_t i = 0; i < count && code == SES_OK; i++)
        code = read_context_event(work, ses_session_event(session, i), &stored, visible_only, error);
    ses__stored_event_free(&stored);
    return code;
}
