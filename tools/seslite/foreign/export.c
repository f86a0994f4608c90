/* seslite export */
#include "foreign/export.h"

#include <string.h>

#include "choose.h"
#include "commands.h"
#include "json.h"
#include "out.h"

static const struct {
    const char *name;
    int (*run)(struct export *export);
} formats[] = {{"jsonl", export_lines}, {"session", export_sessions}, {"sqlite", export_sqlite}};

/* -------------------------------------------------------------------------------------------------- report */

void export_note_session(struct export *export, const ses_session *session)
{
    export_note(export, EXPORT_NOTE_INITIAL_STATE, 1);
    export_note(export, EXPORT_NOTE_TITLE, ses_session_title(session) != NULL);
    export_note(export, EXPORT_NOTE_LABELS, (int64_t)ses_session_label_count(session));
    export_note(export, EXPORT_NOTE_EXPIRY, ses_session_expires_us(session) != INT64_MAX);
    export_note(export, EXPORT_NOTE_PARENT, ses_session_parent(session, NULL) != NULL);
    export_note(export, EXPORT_NOTE_PRUNED, ses_session_base_seq(session) > 0);
    export_note(export, EXPORT_NOTE_NUMBERS,
                ses_session_last_seq(session) != ses_session_stored(session) + ses_session_base_seq(session));
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
    for (size_t i = 0; i < EXPORT_NOTE_COUNT; i++)
        if (export->notes[i] > 0)
            note("%10lld  %s", (long long)export->notes[i], notes[i].words);
    return EXIT_OK;
}

/* ------------------------------------------------------------------------------------------------- command */

/* run->key becomes what is selected: all, an app, a user, or a session. */
static int choose_scope(struct run *run)
{
    run->key = (ses_key){run->values[OPTION_APP], run->values[OPTION_USER], run->values[OPTION_SESSION]};
    if (run->key.session)
        return choose_session(run);
    if (!run->key.user)
        return EXIT_OK;
    int status = choose_user(run);
    run->key.session = NULL;
    return status;
}

int run_export(struct run *run)
{
    const char *wanted = given(run, OPTION_FORMAT) ? run->values[OPTION_FORMAT] : formats[0].name;
    const char *path = run->values[OPTION_OUTPUT];
    struct export export = {.run = run, .path = path && strcmp(path, "-") != 0 ? path : NULL};
    size_t i = 0;

    while (i < sizeof formats / sizeof formats[0] && strcmp(formats[i].name, wanted) != 0)
        i++;
    if (i == sizeof formats / sizeof formats[0])
        return say_usage(run, "--to takes jsonl, session or sqlite, not \"%s\"", wanted);
    export.format = formats[i].name;
    if (wants_json(run) && !export.path)
        return say_usage(run,
                         "with --json the report is printed: the export needs a file, given with --output");
    int status = open_to_read(run);
    if (status == EXIT_OK)
        status = choose_scope(run);
    if (status == EXIT_OK)
        status = formats[i].run(&export);
    return status == EXIT_OK ? export_report(&export) : status;
}
