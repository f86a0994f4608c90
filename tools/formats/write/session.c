/* The ADK's session JSON. */
#include "formats/json/add_json.h"
#include "formats/json/internal_keys.h"
#include "formats/json/members.h"
#include "formats/write/event.h"

/* Adds the array of events without the keys that are internal to the ADK, and with the bytes of artifacts. */
static int add_events(struct writing *writing, const ses_session *session, struct span events,
                      struct text *text, ses_error *error)
{
    struct json_reader reader;
    struct span event;
    int code = SES_OK;

    text_puts(text, "[");
    reader_begin(&reader, events);
    for (bool first = true; code == SES_OK && ses__json_element(&reader) && ses__json_skip(&reader, &event);
         first = false) {
        char *inlined = NULL;
        code = write_inlined(writing, session, &event, &inlined, error);
        text_puts(text, first ? "" : ",");
        internal_keys_drop(text, event);
        ses_free(inlined);
    }
    text_puts(text, "]");
    return code;
}

static int add_session(struct writing *writing, const ses_session *session, struct span json,
                       struct text *text, ses_error *error)
{
    struct json_reader reader;
    struct json_string key;
    struct span value;
    int code = SES_OK;

    text_puts(text, "{");
    reader_begin(&reader, json);
    while (code == SES_OK && ses__json_member(&reader, &key) && ses__json_skip(&reader, &value)) {
        add_spelled_name(text, key.raw);
        if (ses__json_string_is(key, "events"))
            code = add_events(writing, session, value, text, error);
        else
            add_span(text, value);
    }
    text_puts(text, "}");
    return code;
}

int write_session_json(struct writing *writing, const ses_session *session, struct text *json,
                       ses_error *error)
{
    char *whole = NULL;
    size_t len = 0;
    int code = ses_session_json(session, &whole, &len, error);

    if (code < 0)
        return code;
    write_note_annotations(writing, session);
    code = add_session(writing, session, (struct span){whole, len}, json, error);
    ses_free(whole);
    (void)write_mended(writing, json);
    return code;
}
