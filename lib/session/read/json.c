/* JSON for servers to send: a session as the ADK writes it, and texts as JSON strings. */
#include "base/error.h"
#include "base/utf8.h"
#include "json/reader.h"
#include "json/writer.h"
#include "model/event/timestamp.h"
#include "session/session.h"

static int add_session(struct buffer *json, const ses_session *session, ses_error *error)
{
    const struct event_list *events = &session->snapshot.events;
    char time[TIMESTAMP_ROOM];
    ses_error wrong;

    ses__json_add_named(json, "{\"id\":", ses__span_of(session->key.session));
    ses__json_add_named(json, ",\"appName\":", ses__span_of(session->key.app));
    ses__json_add_named(json, ",\"userId\":", ses__span_of(session->key.user));
    ses__buffer_add_word(json, ",\"state\":{");
    int code = ses__state_add_members(&session->snapshot.state, SCOPE_TEMP, json, error);
    ses__buffer_add_word(json, "},\"events\":[");
    for (size_t i = 0; i < events->count && code == SES_OK; i++) {
        const ses_event *event = events->items[i];
        if (ses__json_check_stored(event->json, event->json_len, &wrong) != SES_OK)
            code = ses__error_set(
                error, SES_CORRUPT,
                "the stored event %lld is not JSON (%s); another program wrote it: correct or delete it with the sqlite3 program",
                (long long)event->seq, wrong.message);
        ses__buffer_add(json, ",", i > 0 ? 1 : 0);
        ses__buffer_add(json, event->json, event->json_len);
    }
    ses__buffer_add_word(json, "],\"lastUpdateTime\":");
    size_t len = ses__timestamp_to_number(session->snapshot.row.updated_us, time); /* exact ... */
    while (len > 0 && time[len - 1] == '0') /* ... without trailing zeros */
        len--;
    if (len > 0 && time[len - 1] == '.')
        len--;
    ses__buffer_add(json, time, len);
    ses__buffer_add_word(json, "}");
    return code;
}

int ses_session_json(const ses_session *session, char **json, size_t *len, ses_error *error)
{
    struct buffer buffer;
    int code = ses__check_output(json, "json", error);
    if (code == SES_OK)
        code = ses__session_check(session, error);
    if (code != SES_OK)
        return code;
    ses__buffer_init_text(&buffer, &session->store->allocator);
    return ses__buffer_give(&buffer, add_session(&buffer, session, error), json, len, error);
}

int ses_text_quote(ses_store *store, const char *text, size_t len, char **json, size_t *json_len,
                   ses_error *error)
{
    struct buffer buffer;
    struct span span;
    int code = ses__check_output(json, "json", error);
    if (code == SES_OK)
        code = ses__check_argument(store, "store", error);
    if (code == SES_OK)
        code = ses__check_span(text, len, "text", &span, error);
    if (code != SES_OK)
        return code;
    if (!ses__utf8_valid(span.ptr, span.len))
        return ses__error_set(error, SES_INVALID, "the text is not valid UTF-8");
    ses__buffer_init_text(&buffer, &store->allocator);
    ses__json_add_string(&buffer, span.ptr, span.len);
    return ses__buffer_give(&buffer, SES_OK, json, json_len, error);
}
