/* The live events of a session, as the context needs them. */
#include <string.h>

#include "agent/context/context.h"
#include "base/error.h"

static int add_context_event(struct context_work *work, const ses_event *event,
                             const struct stored_event *stored, ses_error *error)
{
    struct context_event *own = &work->events[work->event_count];

    *own = (struct context_event){.event = event,
                                  .content = stored->content,
                                  .compaction = stored->compaction,
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
