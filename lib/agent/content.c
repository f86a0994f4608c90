/* The content of an event. */
#include "agent/content.h"

#include "base/argument.h"
#include "base/error.h"
#include "session/handle.h"

int ses__content_open(ses_store *store, const char *event, size_t event_len, bool shows,
                      ses_content **content, ses_error *error)
{
    struct span text;
    int code = ses__check_output(content, "content", error);

    if (code == SES_OK)
        code = ses__check_argument(store, "store", error);
    if (code == SES_OK)
        code = ses__check_span(event, event_len, "event", &text, error);
    if (code != SES_OK)
        return code;
    ses_content *fresh = ses__memory_zeroed(ses__store_allocator(store), sizeof *fresh);
    if (!fresh)
        return ses__error_nomem(error);
    fresh->allocator = *ses__store_allocator(store); /* a content may outlive its store */
    ses__arena_init(&fresh->arena, &fresh->allocator);
    ses__buffer_init(&fresh->text, &fresh->allocator);
    code = ses__content_read(fresh, text, shows, error);
    if (code == SES_OK)
        *content = fresh;
    else
        ses_content_close(fresh);
    return code;
}

int ses_content_open(ses_store *store, const char *event, size_t event_len, ses_content **content,
                     ses_error *error)
{
    return ses__content_open(store, event, event_len, true, content, error);
}

void ses_content_close(ses_content *content)
{
    if (content) {
        ses_allocator allocator = content->allocator;
        ses__memory_free(&allocator, content->parts.items);
        ses__memory_free(&allocator, content->calls.items);
        ses__memory_free(&allocator, content->responses.items);
        ses__buffer_free(&content->text);
        ses__arena_free(&content->arena);
        ses__memory_free(&allocator, content);
    }
}

const char *ses_content_text(const ses_content *content, size_t *len)
{
    if (len)
        *len = content->text.len;
    return content->text.data;
}

ses_text ses_content_json(const ses_content *content)
{
    return content->json;
}

size_t ses_content_part_count(const ses_content *content)
{
    return content->parts.count;
}

const ses_part *ses_content_part(const ses_content *content, size_t index)
{
    return index < content->parts.count ? &content->parts.items[index] : NULL;
}

size_t ses_content_call_count(const ses_content *content)
{
    return content->calls.count;
}

const ses_function *ses_content_call(const ses_content *content, size_t index)
{
    return index < content->calls.count ? content->calls.items[index] : NULL;
}

size_t ses_content_response_count(const ses_content *content)
{
    return content->responses.count;
}

const ses_function *ses_content_response(const ses_content *content, size_t index)
{
    return index < content->responses.count ? content->responses.items[index] : NULL;
}

int ses_content_is_final(const ses_content *content)
{
    return content->skips_summarization || content->runs_long ||
           (!content->partial && content->calls.count == 0 &&
            (content->error_code.len > 0 || (content->responses.count == 0 && !content->latest.is_result)));
}

ses_text ses_content_actions(const ses_content *content)
{
    return content->actions;
}

ses_text ses_content_state_delta(const ses_content *content)
{
    return content->state_delta;
}

ses_text ses_content_error_code(const ses_content *content)
{
    return content->error_code;
}

ses_text ses_content_error_message(const ses_content *content)
{
    return content->error_message;
}

const ses_usage *ses_content_usage(const ses_content *content)
{
    return content->has_usage ? &content->usage : NULL;
}

const ses_compaction *ses_content_compaction(const ses_content *content)
{
    return content->compacts ? &content->compaction : NULL;
}
