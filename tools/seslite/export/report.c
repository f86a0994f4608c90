/* The report of an export: how much was written, and what the format cannot hold. */
#include "export/export.h"

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

static const struct {
    const char *name;
    const char *words;
} notes[] = {
#define NOTE_(id, words) {#id, words},
    WRITE_NOTES(NOTE_)
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
    for (size_t i = 0; i < WRITE_NOTE_COUNT; i++) {
        struct text kind = {NULL, 0, 0};
        if (export->writing.notes[i] == 0)
            continue;
        name_note(notes[i].name, &kind);
        json_open(&json, NULL, '{');
        json_text(&json, "kind", kind.data);
        json_number(&json, "count", export->writing.notes[i]);
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
    for (size_t i = 0; i < WRITE_NOTE_COUNT; i++)
        if (export->writing.notes[i] > 0)
            note("%10lld  %s", (long long)export->writing.notes[i], notes[i].words);
    return EXIT_OK;
}
