#include "model/rewind.h"

#include "base/error.h"
#include "json/writer.h"

/* --------------------------------------------------------------------------------------------- the delta */

/* Adds the changes that lead from `now` to `then`. */
static int add_changes(struct buffer *text, const struct state *then, const struct state *now,
                       ses_error *error)
{
    struct state_entry *const *old = ses__state_sorted(then);
    struct state_entry *const *new = ses__state_sorted(now);
    const size_t old_count = ses__state_count(then);
    const size_t new_count = ses__state_count(now);
    const size_t start = text->len;
    size_t i = 0;
    size_t k = 0;
    int code = old && new ? SES_OK : ses__error_nomem(error);

    while (code == SES_OK && (i < old_count || k < new_count)) {
        const int order = i == old_count ? 1
                          : k == new_count
                              ? -1
                              : ses__span_order(ses__state_entry_span(old[i]), ses__state_entry_span(new[k]));
        struct state_entry *entry = order <= 0 ? old[i] : new[k];
        const bool stays =
            order == 0 && ses__span_is(ses__state_entry_value(entry), ses__state_entry_value(new[k]));
        if (!stays)
            code = ses__state_entry_check(entry, error);
        if (!stays && code == SES_OK)
            ses__json_add_member(text, start, ses__state_entry_span(entry),
                                 order <= 0 ? ses__state_entry_value(entry) : TOMBSTONE_VALUE);
        i += order <= 0;
        k += order >= 0;
    }
    return code;
}

/* ---------------------------------------------------------------------------------------------- the event */

static int write_event(struct buffer *text, const struct rewind_event *event, const struct state *then,
                       const struct state *now, ses_error *error)
{
    static const struct span nothing = {"{}", 2};
    const struct span artifacts = event->artifact_delta.ptr ? event->artifact_delta : nothing;

    ses__json_add_named(text, "{\"invocationId\":", event->invocation_id);
    ses__buffer_add_word(text, ",\"author\":\"user\",\"actions\":{\"stateDelta\":{");
    int code = add_changes(text, then, now, error);
    ses__buffer_add_word(text, "},\"artifactDelta\":");
    ses__buffer_add(text, artifacts.ptr, artifacts.len);
    ses__json_add_named(text, ",\"rewindBeforeInvocationId\":", event->before);
    ses__buffer_add_word(text, "}}");
    return code == SES_OK && text->failed ? ses__error_nomem(error) : code;
}

/* Reads the event like any other event, so that the same rules apply. */
static int read_own_event(struct event_draft *draft, const struct rewind_event *event,
                          const struct buffer *text, ses_error *error)
{
    const char *kept = ses__arena_text(&draft->arena, text->data, text->len);

    if (!kept)
        return ses__error_nomem(error);
    int code = ses__event_read(draft, (struct span){kept, text->len}, error);
    if (code == SES_LIMIT)
        ses__error_prefix(error, "the event that rewinds: ");
    else if (code != SES_OK && code != SES_NOMEM)
        code = ses__error_set(
            error, SES_CORRUPT,
            "the invocation id of event %lld cannot be named by a rewind: another program wrote it",
            (long long)event->before_seq);
    return code;
}

int ses__rewind_draft(struct event_draft *draft, const struct rewind_event *event, const struct state *then,
                      const struct state *now, ses_error *error)
{
    struct buffer text;

    ses__buffer_init(&text, draft->arena.allocator);
    int code = write_event(&text, event, then, now, error);
    if (code == SES_OK)
        code = read_own_event(draft, event, &text, error);
    ses__buffer_free(&text);
    draft->row.id = event->id;
    draft->row.time_us = event->time_us;
    draft->row.rewinds_to = event->before_seq;
    return code == SES_OK ? ses__event_seal(draft, error) : code;
}
