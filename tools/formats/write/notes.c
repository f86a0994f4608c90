/* The facts that only JSON lines can hold. */
#include "formats/write.h"
#include "json/reader.h"
#include "seslite_agent.h"

void write_note_session(struct writing *writing, const ses_session *session)
{
    write_note(writing, WRITE_NOTE_INITIAL_STATE, 1);
    write_note(writing, WRITE_NOTE_PARENT, ses_session_parent(session, NULL) != NULL);
    write_note(writing, WRITE_NOTE_PRUNED, ses_session_base_seq(session) > 0);
    write_note(writing, WRITE_NOTE_NUMBERS,
               ses_session_last_seq(session) != ses_session_stored(session) + ses_session_base_seq(session));
}

void write_note_annotations(struct writing *writing, const ses_session *session)
{
    write_note(writing, WRITE_NOTE_TITLE, ses_session_title(session) != NULL);
    write_note(writing, WRITE_NOTE_LABELS, (int64_t)ses_session_label_count(session));
    write_note(writing, WRITE_NOTE_EXPIRY, ses_session_expires_us(session) != INT64_MAX);
}

static int64_t count_removals(const ses_content *content)
{
    static const char removed[] = "\"__ADK_SENTINEL_REMOVED__\"";
    const ses_text delta = ses_content_state_delta(content);
    struct json_reader reader;
    struct json_string key;
    struct span value;
    int64_t count = 0;

    if (!delta.text)
        return 0;
    ses__json_start(&reader, delta.text, delta.len);
    (void)ses__json_enter(&reader);
    while (ses__json_member(&reader, &key) && ses__json_skip(&reader, &value))
        count += value.len == sizeof removed - 1 && memcmp(value.ptr, removed, value.len) == 0;
    return count;
}

/* An event whose content cannot be read is still exported. */
void write_note_event(struct writing *writing, const ses_event *event)
{
    ses_content *content = NULL;

    if (ses_content_open(writing->store, event->json, event->json_len, &content, NULL) < 0)
        return;
    write_note(writing, WRITE_NOTE_REMOVALS, count_removals(content));
    ses_content_close(content);
}
