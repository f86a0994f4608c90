/* Redacts the text of an event. All that is not known to be harmless is replaced. */
#include "erase/erase.h"

#include "base/error.h"

/* ------------------------------------------------------------------------------------- a given content */

static bool have_same_functions(const struct stored_event *a, const struct stored_event *b)
{
    bool equal = a->function_count == b->function_count;

    for (size_t i = 0; equal && i < a->function_count; i++) {
        const struct stored_function *one = &a->functions[i];
        const struct stored_function *other = &b->functions[i];
        equal = one->is_response == other->is_response && one->id.len == other->id.len &&
                one->name.len == other->name.len && (one->id.len == 0 || ses__span_is(one->id, other->id)) &&
                (one->name.len == 0 || ses__span_is(one->name, other->name));
    }
    return equal;
}

/* The redacted event must have the calls and responses of the one before. */
static int check_given_content(struct redacting *run, struct span before, struct span after, ses_error *error)
{
    struct stored_event stored;
    struct stored_event fresh;

    ses__stored_event_init(&stored, &run->arena);
    ses__stored_event_init(&fresh, &run->arena);
    int code = ses__stored_event_read(&stored, &(struct event_row){.body = before}, STORED_CONTENT, error);
    if (code == SES_OK)
        code = ses__stored_event_read(&fresh, &(struct event_row){.body = after}, STORED_CONTENT, error);
    if (code == SES_OK && !have_same_functions(&stored, &fresh))
        code = ses__error_set(
            error, SES_INVALID,
            "redact options: content must have the function calls and responses of the event, with their ids and names");
    ses__stored_event_free(&fresh);
    ses__stored_event_free(&stored);
    return code;
}

/* ------------------------------------------------------------------------------------------- an event */

int ses__body_redact(struct redacting *run, const struct event_row *event, bool copies, struct span *after,
                     ses_error *error)
{
    struct redacted_body body = {.run = run, .event = event, .copies = copies};
    const size_t limit = run->asked->max_event_bytes;
    const size_t start = run->built.len;
    bool changed = false;
    int code = ses__fields_redact(&body, &changed, error);

    *after = event->body;
    if (code == SES_OK && run->asked->content.ptr && !copies && !body.has_content)
        code = ses__error_set(error, SES_INVALID, "redact options: event %lld has no content to be replaced",
                              (long long)event->seq);
    run->counts.names_left += body.found_kept;
    if (code != SES_OK || !changed) {
        ses__buffer_take_back(&run->built, start);
        return code;
    }
    code = ses__built_take(run, start, after, error);
    if (code == SES_OK && body.has_content && run->asked->content.ptr)
        code = check_given_content(run, event->body, *after, error);
    if (code == SES_OK && body.named.ptr)
        code = ses__versions_note(run, body.named, error);
    if (code == SES_OK && after->len > event->body.len && after->len > limit)
        code = ses__error_set(
            error, SES_LIMIT,
            "event %lld would have %zu bytes: it may have no more than before, or max_event_bytes, %zu",
            (long long)event->seq, after->len, limit);
    return code;
}
