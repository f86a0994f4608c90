/* The report of an export: how much was written, and what the format cannot hold. */
#include "export/export.h"

#include <string.h>

#include "json/reader.h"
#include "output/json.h"
#include "output/out.h"

int export_fail(struct export *export, const ses_key *key)
{
    struct run *run = export->run;

    if (!given(run, OPTION_SKIP) || run->error.code != SES_CORRUPT)
        return fail(run);
    export->damaged++;
    say("left out: %s/%s/%s: %s", key->app, key->user, key->session, run->error.message);
    return EXIT_OK;
}

void export_note_session(struct export *export, const ses_session *session)
{
    export_note(export, EXPORT_NOTE_INITIAL_STATE, 1);
    export_note(export, EXPORT_NOTE_PARENT, ses_session_parent(session, NULL) != NULL);
    export_note(export, EXPORT_NOTE_PRUNED, ses_session_base_seq(session) > 0);
    export_note(export, EXPORT_NOTE_NUMBERS,
                ses_session_last_seq(session) != ses_session_stored(session) + ses_session_base_seq(session));
}

void export_note_annotations(struct export *export, const ses_session *session)
{
    export_note(export, EXPORT_NOTE_TITLE, ses_session_title(session) != NULL);
    export_note(export, EXPORT_NOTE_LABELS, (int64_t)ses_session_label_count(session));
    export_note(export, EXPORT_NOTE_EXPIRY, ses_session_expires_us(session) != INT64_MAX);
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
void export_note_event(struct export *export, const ses_event *event)
{
    ses_content *content = NULL;

    if (ses_content_open(export->run->store, event->json, event->json_len, &content, NULL) < 0)
        return;
    export_note(export, EXPORT_NOTE_REMOVALS, count_removals(content));
    ses_content_close(content);
}

static const struct {
    const char *name;
    const char *words;
} notes[] = {
#define NOTE_(id, words) {#id, words},
    EXPORT_NOTES(NOTE_)
#undef NOTE_
};

static void name_note(const char *name, struct text *kind)
{
    for (; *name; name++) {
        const char c = *name;
        const char lower = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
        text_add(kind, &lower, 1);
    }
}

static int report_json(struct export *export)
{
    struct json json;

    json_begin(&json, export->run, '{');
    json_text(&json, "format", export->format);
    json_text(&json, "file", export->path);
    json_number(&json, "sessions", export->sessions);
    json_number(&json, "events", export->events);
    if (given(export->run, OPTION_ARTIFACTS)) {
        json_text(&json, "folder", export->run->values[OPTION_ARTIFACTS]);
        json_number(&json, "artifacts", export->artifacts);
    }
    json_open(&json, "notes", '[');
    for (size_t i = 0; i < EXPORT_NOTE_COUNT; i++) {
        struct text kind = {NULL, 0, 0};
        if (export->notes[i] == 0)
            continue;
        name_note(notes[i].name, &kind);
        json_open(&json, NULL, '{');
        json_text(&json, "kind", kind.data);
        json_number(&json, "count", export->notes[i]);
        json_text(&json, "words", notes[i].words);
        json_close(&json, '}');
        text_free(&kind);
    }
    json_close(&json, ']');
    return json_print_object(&json);
}

int export_report(struct export *export)
{
    if (wants_json(export->run))
        return report_json(export);
    if (export->path)
        note("%s and %s written to %s", counted(export->sessions, "session"),
             counted(export->events, "event"), export->path);
    if (given(export->run, OPTION_ARTIFACTS))
        note("%s of artifacts written to %s", counted(export->artifacts, "version"),
             export->run->values[OPTION_ARTIFACTS]);
    for (size_t i = 0; i < EXPORT_NOTE_COUNT; i++)
        if (export->notes[i] > 0)
            note("%10lld  %s", (long long)export->notes[i], notes[i].words);
    return EXIT_OK;
}
