/* Redacts the text of an event. All that is not known to be harmless is replaced. */
#include "erase/erase.h"

#include "base/error.h"

/* The members of an event that stay. */
static const char *const kept_members[] = {
    "id",
    "invocationId",
    "invocation_id",
    "author",
    "branch",
    "timestamp",
    "partial",
    "turnComplete",
    "interrupted",
    "turn_complete",
    "finishReason",
    "finish_reason",
    "errorCode",
    "error_code",
    "longRunningToolIds",
    "long_running_tool_ids",
    "modelVersion",
    "model_version",
    "usageMetadata",
    "usage_metadata",
    "isolationScope",
    "isolation_scope",
    "avgLogprobs",
    "avg_logprobs",
};

/* And of its actions. */
static const char *const kept_actions[] = {
    "skipSummarization",
    "skip_summarization",
    "transferToAgent",
    "transfer_to_agent",
    "escalate",
    "endOfAgent",
    "end_of_agent",
    "rewindBeforeInvocationId",
    "rewind_before_invocation_id",
};

#define IS_LISTED(list, key) is_listed((list), sizeof(list) / sizeof(list)[0], (key))

static bool is_listed(const char *const *names, size_t count, struct json_string key)
{
    for (size_t i = 0; i < count; i++) {
        if (ses__json_string_is(key, names[i]))
            return true;
    }
    return false;
}

/* The edits of one event. */
struct body_edits {
    struct redacting *run;
    const struct event_row *event;
    bool copies;       /* only what it repeats of other events */
    bool has_content;  /* a content that is replaced by the given one */
    struct span named; /* the artifacts that it names; without text: none */
    struct edits edits;
};

static int put_edit(struct body_edits *own, struct span value, struct span fresh, ses_error *error)
{
    const size_t start = (size_t)(value.ptr - own->event->body.ptr);

    if (fresh.ptr == value.ptr || ses__span_is(fresh, value) ||
        ses__edits_add(&own->edits, own->run->asked->allocator,
                       (struct edit){start, start + value.len, fresh}))
        return SES_OK;
    return ses__error_nomem(error);
}

static bool is_empty_value(struct span value)
{
    size_t at = 1;

    while (at < value.len && ses__json_is_space(value.ptr[at]))
        at++;
    return at + 1 == value.len;
}

/* The value of a member of which nothing is known. */
static int redact_unknown(struct body_edits *own, struct span value, ses_error *error)
{
    const struct redaction *asked = own->run->asked;
    struct span fresh = value;
    int code = SES_OK;

    if (asked->find) {
        code = ses__found_replace(own->run, value, &fresh, error);
        return code == SES_OK ? put_edit(own, value, fresh, error) : code;
    }
    switch (ses__json_type_of(value)) {
    case JSON_STRING:
        return put_edit(own, value, asked->text, error);
    case JSON_NUMBER:
        return put_edit(own, value, (struct span){"null", 4}, error);
    case JSON_OBJECT:
        return is_empty_value(value) ? SES_OK : put_edit(own, value, (struct span){"{}", 2}, error);
    case JSON_ARRAY:
        return is_empty_value(value) ? SES_OK : put_edit(own, value, (struct span){"[]", 2}, error);
    default:
        return SES_OK;
    }
}

/* A value that one of these functions redacts. */
typedef int value_redactor(struct redacting *run, struct span value, struct span *after, ses_error *error);

static int redact_by(struct body_edits *own, struct span value, value_redactor *redact, ses_error *error)
{
    struct span fresh;
    const int code = redact(own->run, value, &fresh, error);
    return code == SES_OK ? put_edit(own, value, fresh, error) : code;
}

static int redact_event_content(struct body_edits *own, struct span value, ses_error *error)
{
    const struct redaction *asked = own->run->asked;

    if (asked->content.ptr)
        return put_edit(own, value, asked->content, error);
    return redact_by(own, value, asked->find ? ses__content_replace_found : ses__content_redact, error);
}

static int redact_event_state(struct body_edits *own, struct span value, ses_error *error)
{
    struct span fresh;
    const int code = own->copies ? ses__delta_redact_copies(own->run, value, own->event->seq, &fresh, error)
                                 : ses__delta_redact(own->run, value, own->event->seq, &fresh, error);
    return code == SES_OK ? put_edit(own, value, fresh, error) : code;
}

static int redact_event_artifacts(struct body_edits *own, struct span value, ses_error *error)
{
    if (own->copies)
        return redact_by(own, value, ses__versions_leave_out, error);
    if (ses__json_type_of(value) != JSON_OBJECT)
        return redact_unknown(own, value, error);
    own->named = value;
    return own->run->asked->find ? SES_OK : put_edit(own, value, (struct span){"{}", 2}, error);
}

/* The members of an object, each with its value. */
typedef int member_reader(struct body_edits *own, struct json_string key, struct span value,
                          ses_error *error);

static int refuse_unreadable_event(const struct body_edits *own, ses_error *error)
{
    return ses__error_set(error, SES_CORRUPT, "the stored event %lld of session number %lld cannot be read",
                          (long long)own->event->seq, (long long)own->run->row.id);
}

static int each_body_member(struct body_edits *own, struct span object, member_reader *read, ses_error *error)
{
    struct json_reader reader;
    struct json_string key;
    struct span value;
    int code = SES_OK;

    ses__json_start(&reader, object.ptr, object.len);
    if (ses__json_peek(&reader) != JSON_OBJECT || !ses__json_enter(&reader))
        return SES_OK;
    while (code == SES_OK && ses__json_member(&reader, &key) && ses__json_skip(&reader, &value))
        code = read(own, key, ses__json_trim(value), error);
    return code == SES_OK && reader.wrong ? refuse_unreadable_event(own, error) : code;
}

static int redact_compaction(struct body_edits *own, struct json_string key, struct span value,
                             ses_error *error)
{
    if (ses__key_is(key, "compactedContent", "compacted_content"))
        return redact_by(own, value, own->run->asked->find ? ses__content_replace_found : ses__content_redact,
                         error);
    if (ses__key_is(key, "startTimestamp", "start_timestamp") ||
        ses__key_is(key, "endTimestamp", "end_timestamp"))
        return SES_OK;
    return redact_unknown(own, value, error);
}

static int redact_action(struct body_edits *own, struct json_string key, struct span value, ses_error *error)
{
    if (ses__key_is(key, "stateDelta", "state_delta"))
        return redact_event_state(own, value, error);
    if (ses__key_is(key, "artifactDelta", "artifact_delta"))
        return redact_event_artifacts(own, value, error);
    if (own->copies || IS_LISTED(kept_actions, key))
        return SES_OK;
    if (ses__json_string_is(key, "compaction") && value.ptr[0] == '{')
        return each_body_member(own, value, redact_compaction, error);
    return redact_unknown(own, value, error);
}

static int redact_body_member(struct body_edits *own, struct json_string key, struct span value,
                              ses_error *error)
{
    if (ses__json_string_is(key, "actions") && value.ptr[0] == '{')
        return each_body_member(own, value, redact_action, error);
    if (own->copies || IS_LISTED(kept_members, key))
        return SES_OK;
    if (ses__json_string_is(key, "content")) {
        own->has_content = true;
        return redact_event_content(own, value, error);
    }
    return redact_unknown(own, value, error);
}

/* ------------------------------------------------------------------------------------- a given content */

static int read_stored_functions(struct stored_event *event, struct span body, ses_error *error)
{
    const struct event_row row = {.body = body};
    return ses__stored_event_read(event, &row, STORED_CONTENT, error);
}

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
    int code = read_stored_functions(&stored, before, error);
    if (code == SES_OK)
        code = read_stored_functions(&fresh, after, error);
    if (code == SES_OK && !have_same_functions(&stored, &fresh))
        code = ses__error_set(
            error, SES_INVALID,
            "redact options: content must have the function calls and responses of the event, with their ids and names");
    ses__stored_event_free(&fresh);
    ses__stored_event_free(&stored);
    return code;
}

/* ------------------------------------------------------------------------------------------- an event */

static int check_redacted_size(const struct body_edits *own, struct span after, ses_error *error)
{
    const size_t limit = own->run->asked->max_event_bytes;

    if (after.len <= own->event->body.len || after.len <= limit)
        return SES_OK;
    return ses__error_set(
        error, SES_LIMIT,
        "event %lld would have %zu bytes: it may have no more than before, or max_event_bytes, %zu",
        (long long)own->event->seq, after.len, limit);
}

static int apply_body_edits(struct body_edits *own, struct span *after, ses_error *error)
{
    struct redacting *run = own->run;
    const struct span body = own->event->body;

    if (own->edits.count == 0)
        return SES_OK;
    after->ptr = ses__edits_apply(&own->edits, &run->arena, body, &after->len);
    if (!after->ptr)
        return ses__error_nomem(error);
    int code =
        own->has_content && run->asked->content.ptr ? check_given_content(run, body, *after, error) : SES_OK;
    if (code == SES_OK && own->named.ptr)
        code = ses__versions_note(run, own->named, error);
    return code == SES_OK ? check_redacted_size(own, *after, error) : code;
}

static int redact_body(struct redacting *run, const struct event_row *event, bool copies, struct span *after,
                       ses_error *error)
{
    struct body_edits own = {.run = run, .event = event, .copies = copies};
    int code = each_body_member(&own, event->body, redact_body_member, error);

    *after = event->body;
    if (code == SES_OK && run->asked->content.ptr && !copies && !own.has_content)
        code = ses__error_set(error, SES_INVALID, "redact options: event %lld has no content to be replaced",
                              (long long)event->seq);
    if (code == SES_OK)
        code = apply_body_edits(&own, after, error);
    ses__edits_free(&own.edits, run->asked->allocator);
    return code;
}

int ses__body_redact(struct redacting *run, const struct event_row *event, struct span *after,
                     ses_error *error)
{
    return redact_body(run, event, false, after, error);
}

int ses__body_redact_copies(struct redacting *run, const struct event_row *event, struct span *after,
                            ses_error *error)
{
    return redact_body(run, event, true, after, error);
}
