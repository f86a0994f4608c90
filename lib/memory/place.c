/* Where copies are kept, and of which events. */
#include "base/error.h"
#include "memory/memory.h"
#include "model/annotations.h"
#include "model/event/stored_event.h"
#include "session/handle.h"

void ses__memories_place_of(struct memory_place *place, const char *project, const char *session)
{
    ses__memories_name(project, session, place->id);
    place->label_count = 0;
    if (project)
        place->labels[place->label_count++] = (ses_label){MEMORY_PROJECT, project};
    if (project && session)
        place->labels[place->label_count++] = (ses_label){MEMORY_SOURCE, session};
}

int ses__memories_check_project(const char *project, ses_error *error)
{
    return !project || (project[0] && ses__is_label_value(ses__span_of(project)))
               ? SES_OK
               : ses__error_set(error, SES_INVALID,
                                "the project is empty, longer than %d bytes, or not valid UTF-8",
                                SES_LABEL_VALUE_MAX);
}

int ses__memories_is_said(const ses_allocator *allocator, struct span body, bool *is_said, ses_error *error)
{
    const struct event_row row = {.seq = 1, .body = body};
    struct stored_event stored;
    struct arena arena;

    ses__arena_init(&arena, allocator);
    ses__stored_event_init(&stored, &arena);
    const int code = ses__stored_event_read(&stored, &row, STORED_CONTENT | STORED_TEXT, error);
    *is_said = code == SES_OK && stored.text.len > 0;
    ses__stored_event_free(&stored);
    ses__arena_free(&arena);
    return code;
}

int ses__memories_look(ses_store *store, const ses_key *key, const struct limits *limits,
                       ses_session **session, ses_error *error)
{
    const ses_range none = {.size = sizeof none, .which = SES_RANGE_NONE};
    const ses_get_options options = {.size = sizeof options, .range = &none, LEFT_OF(limits)};
    const int code = ses__begun_get(store, key, &options, session, error);

    if (code != SES_NOTFOUND)
        return code;
    ses__error_clear(error);
    *session = NULL;
    return SES_OK;
}
