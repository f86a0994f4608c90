/* The output key: an agent's final text, kept in the state. */
#include "agent/content.h"
#include "agent/tracked.h"

#include <string.h>

#include "base/argument.h"
#include "base/error.h"
#include "json/writer.h"
#include "session/handle.h"

/* The output to save: the key, and the text as a JSON string. Both are empty if there is none. */
struct output {
    struct span key;
    struct buffer text;
    struct buffer turn; /* the view's text with this one added; empty when it does not change */
    bool saves;
};

static int check_output_key(const char *agent, const char *key, struct output *output, ses_error *error)
{
    int code = ses__check_argument(agent, "agent", error);

    if (code == SES_OK)
        code = ses__check_span(key, SES_NUL, "key", &output->key, error);
    if (code == SES_OK)
        code = ses__scope_check_name(output->key, error);
    return code;
}

static bool is_by(const ses_content *content, const char *agent)
{
    return content->author.len == strlen(agent) &&
           (content->author.len == 0 || memcmp(content->author.text, agent, content->author.len) == 0);
}

/* Begins the text of a turn: whose it is, and the text so far if the view has it. */
static void begin_turn(struct buffer *turn, const ses_tracked *tracked, const char *agent, struct span key)
{
    ses__buffer_add(turn, agent, strlen(agent) + 1);
    ses__buffer_add(turn, key.ptr, key.len + 1);
    if (!turn->failed && tracked->turn.len >= turn->len &&
        memcmp(tracked->turn.data, turn->data, turn->len) == 0)
        ses__buffer_add(turn, tracked->turn.data + turn->len, tracked->turn.len - turn->len);
}

/* `tracked` is NULL if nothing accumulates. */
static void take_output(const ses_content *content, const ses_tracked *tracked, const char *agent,
                        struct output *output)
{
    size_t len = 0;
    const char *text = ses_content_text(content, &len);
    const bool adds = tracked && tracked->accumulates && text && len > 0 && !content->partial;

    output->saves = text && is_by(content, agent) && (adds || ses_content_is_final(content));
    if (output->saves && adds) {
        const size_t owner = strlen(agent) + 1 + output->key.len + 1;
        begin_turn(&output->turn, tracked, agent, output->key);
        ses__buffer_add(&output->turn, text, len);
        text = output->turn.failed ? "" : output->turn.data + owner;
        len = output->turn.failed ? 0 : output->turn.len - owner;
    }
    if (output->saves)
        ses__json_add_string(&output->text, text, len);
}

static int read_output(ses_store *store, struct span event, const ses_tracked *tracked, const char *agent,
                       struct output *output, ses_error *error)
{
    ses_content *content = NULL;
    int code = ses_content_open(store, event.ptr, event.len, &content, error);

    ses__buffer_init(&output->text, ses__store_allocator(store));
    ses__buffer_init(&output->turn, ses__store_allocator(store));
    if (code == SES_OK) {
        take_output(content, tracked, agent, output);
        if (output->text.failed || output->turn.failed)
            code = ses__error_nomem(error);
    }
    ses_content_close(content);
    return code;
}

static void output_free(struct output *output)
{
    ses__buffer_free(&output->text);
    ses__buffer_free(&output->turn);
}

static struct member output_member(const struct output *output)
{
    return (struct member){output->key, {output->text.data, output->text.len}};
}

static int print_output(ses_store *store, const struct output *output, char **delta, size_t *len,
                        ses_error *error)
{
    const struct member member = output_member(output);
    struct buffer object;

    ses__buffer_init_text(&object, ses__store_allocator(store));
    ses__buffer_add(&object, "{", 1);
    ses__json_add_member(&object, object.len, member.name, member.value);
    ses__buffer_add(&object, "}", 1);
    return ses__buffer_give(&object, SES_OK, delta, len, error);
}

int ses_output_delta(ses_store *store, const char *event, size_t event_len, const char *agent,
                     const char *key, char **delta, size_t *len, ses_error *error)
{
    struct output output = {.saves = false};
    struct span text;
    int code = ses__check_output(delta, "delta", error);

    if (code == SES_OK)
        code = ses__check_argument(store, "store", error);
    if (code == SES_OK)
        code = ses__check_span(event, event_len, "event", &text, error);
    if (code == SES_OK)
        code = check_output_key(agent, key, &output, error);
    if (code != SES_OK)
        return code;
    code = read_output(store, text, NULL, agent, &output, error);
    if (code == SES_OK && output.saves)
        code = print_output(store, &output, delta, len, error);
    output_free(&output);
    return code;
}

int ses_output_append(ses_tracked *tracked, const char *event, size_t event_len, const char *agent,
                      const char *key, const ses_append_options *options, ses_appended *appended,
                      ses_error *error)
{
    struct output output = {.saves = false};
    struct span text;
    int result = ses__tracked_check_write(tracked, error);

    if (result == SES_OK)
        result = ses__check_span(event, event_len, "event", &text, error);
    if (result == SES_OK && key)
        result = check_output_key(agent, key, &output, error);
    if (result != SES_OK)
        return result;
    if (!key)
        return ses__tracked_append(__func__, tracked, text.ptr, text.len, NULL, options, appended, error);
    result = read_output(ses__session_store(tracked->session), text, tracked, agent, &output, error);
    if (result == SES_OK) {
        const struct member last = output_member(&output);
        result = ses__tracked_append(__func__, tracked, text.ptr, text.len, output.saves ? &last : NULL,
                                     options, appended, error);
    }
    if ((result == SES_OK || result == SES_DUPLICATE) && output.turn.len > 0) {
        const struct buffer before = tracked->turn;
        tracked->turn = output.turn;
        output.turn = before;
    }
    output_free(&output);
    return result;
}
