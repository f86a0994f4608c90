/* The output key: an agent's final text, kept in the state. */
#include "agent/content.h"
#include "agent/tracked.h"

#include <string.h>

#include "base/argument.h"
#include "base/error.h"
#include "json/reader.h"
#include "json/writer.h"
#include "model/event/event.h"
#include "model/state/state.h"
#include "session/handle.h"

/* The output to save: the key, and the text as a JSON string. Both are empty if there is none. */
struct output {
    struct span key;
    struct buffer text;
    struct buffer turn;   /* the view's text with this one added; empty when it does not change */
    size_t turn_owner;    /* how many bytes at its front say whose it is */
    size_t turn_addition; /* how many at its end are this event's text */
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

/* The text to save becomes that of the turn. */
static void print_turn(struct output *output)
{
    const struct buffer *turn = &output->turn;

    ses__buffer_cut(&output->text, 0);
    if (!turn->failed)
        ses__json_add_string(&output->text, turn->data + output->turn_owner, turn->len - output->turn_owner);
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
        output->turn_owner = strlen(agent) + 1 + output->key.len + 1;
        output->turn_addition = len;
        begin_turn(&output->turn, tracked, agent, output->key);
        ses__buffer_add(&output->turn, text, len);
        print_turn(output);
    } else if (output->saves) {
        ses__json_add_string(&output->text, text, len);
    }
}

static int read_output(ses_store *store, struct span event, const ses_tracked *tracked, const char *agent,
                       struct output *output, ses_error *error)
{
    ses_content *content = NULL;
    int code = ses__content_open(store, event.ptr, event.len, false, &content, error);

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
    if (code == SES_OK && output.saves) {
        const struct member member = output_member(&output);
        struct buffer object;
        ses__buffer_init_text(&object, ses__store_allocator(store));
        ses__buffer_add(&object, "{", 1);
        ses__json_add_member(&object, object.len, member.name, member.value);
        ses__buffer_add(&object, "}", 1);
        code = ses__buffer_give(&object, SES_OK, delta, len, error);
    }
    output_free(&output);
    return code;
}

/* -------------------------------------------------------------------------------------------- appending */

/* Decodes the turn that the stored event saved. It stays empty if that event saved none. */
static int decode_stored_turn(const struct output *output, const struct event_draft *stored,
                              struct buffer *turn, ses_error *error)
{
    struct span value = {NULL, 0};

    for (size_t i = 0; i < stored->delta.count; i++) {
        if (ses__span_is(stored->delta.ops[i].name, output->key))
            value = stored->delta.ops[i].value;
    }
    if (!value.ptr || ses__json_type_of(value) != JSON_STRING)
        return SES_OK;
    ses__buffer_add(turn, output->turn.data, output->turn_owner);
    int code = ses__typed_add_text(value, output->key.ptr, turn, error);
    return code == SES_OK && turn->failed ? ses__error_nomem(error) : code;
}

/* Takes the turn as the stored event saved it if it ends with the text of this one. */
static int take_stored_turn(struct output *output, const struct event_draft *stored, ses_error *error)
{
    const struct buffer computed = output->turn;
    struct buffer turn;

    ses__buffer_init(&turn, computed.allocator);
    int code = decode_stored_turn(output, stored, &turn, error);
    if (code == SES_OK && turn.len >= output->turn_owner + output->turn_addition &&
        memcmp(turn.data + turn.len - output->turn_addition,
               computed.data + computed.len - output->turn_addition, output->turn_addition) == 0) {
        output->turn = turn;
        turn = computed;
        print_turn(output);
        code = output->text.failed ? ses__error_nomem(error) : SES_OK;
    }
    ses__buffer_free(&turn);
    return code;
}

/* Reads the stored event that has the id of `event`, if there is one. Its JSON belongs to the caller. */
static int read_stored(const ses_tracked *tracked, struct span event, const ses_append_options *given,
                       char **json, ses_error *error)
{
    ses_session *session = tracked->session;
    const ses_key key = {ses_session_app(session), ses_session_user(session), ses_session_id(session)};
    SES_OPTIONS(ses_call_options, limits);
    ses_append_options options;
    struct event_draft draft;
    char id[SES_ID_MAX + 1] = "";
    int code = ses__take_options(&options, sizeof options, given, "append options", error);

    limits.timeout_ms = options.timeout_ms;
    limits.cancel = options.cancel;
    ses__event_draft_init(&draft, tracked->allocator);
    if (code == SES_OK)
        code = ses__event_read(&draft, event, error);
    if (code == SES_OK && draft.has_id) {
        memcpy(id, draft.row.id.ptr, draft.row.id.len);
        code = ses_event_get_by_key(ses__session_store(session), &key, id, &limits, NULL, json, NULL, error);
    }
    ses__event_draft_free(&draft);
    return code;
}

/* After EXISTS: the texts before this one may differ from those of the call that stored the event, so the
 * value to save becomes that of the stored event. */
static int recall_turn(const ses_tracked *tracked, struct span event, const ses_append_options *options,
                       struct output *output, ses_error *error)
{
    struct event_draft stored;
    char *json = NULL;
    int code = read_stored(tracked, event, options, &json, error);

    ses__event_draft_init(&stored, tracked->allocator);
    if (code == SES_OK && json)
        code = ses__event_read(&stored, ses__span_of(json), error);
    if (code == SES_OK)
        code = take_stored_turn(output, &stored, error);
    ses__event_draft_free(&stored);
    ses_free(json);
    return code < 0 ? code : SES_OK;
}

static int append_output(ses_tracked *tracked, struct span event, const struct output *output,
                         const ses_append_options *options, ses_appended *appended, ses_error *error)
{
    const struct member last = output_member(output);

    return ses__tracked_append("ses_output_append", tracked, event.ptr, event.len,
                               output->saves ? &last : NULL, options, appended, error);
}

int ses_output_append(ses_tracked *tracked, const char *event, size_t event_len, const char *agent,
                      const char *key, const ses_append_options *options, ses_appended *appended,
                      ses_error *error)
{
    struct output output = {.saves = false};
    ses_appended own;
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
    appended = appended ? appended : &own;
    result = read_output(ses__session_store(tracked->session), text, tracked, agent, &output, error);
    if (result == SES_OK)
        result = append_output(tracked, text, &output, options, appended, error);
    if (result == SES_EXISTS && output.turn.len > 0) {
        result = recall_turn(tracked, text, options, &output, error);
        if (result == SES_OK)
            result = append_output(tracked, text, &output, options, appended, error);
    }
    /* The retry of an event that is part of the turn already adds nothing to it. */
    if (output.turn.len > 0 &&
        (result == SES_OK || (result == SES_DUPLICATE && appended->seq > tracked->turn_seq))) {
        const struct buffer before = tracked->turn;
        tracked->turn = output.turn;
        tracked->turn_seq = appended->seq;
        output.turn = before;
    }
    output_free(&output);
    return result;
}
