#include "import/report.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "output/progress.h"
#include "store/choose.h"

/* The number that is listed with --json; the rest is only counted. */
enum { MOST_LISTED = 10000 };

static const struct {
    const char *id;
    const char *words;
} note_kinds[] = {
#define NOTE_KIND_(id, words) {#id, words},
    FOREIGN_NOTES(NOTE_KIND_)
#undef NOTE_KIND_
};

bool import_is_checked(const struct run *run)
{
    return !given(run, OPTION_SKIP) && !given(run, OPTION_DRY_RUN);
}

int import_begin_writing(struct run *run)
{
    return given(run, OPTION_DRY_RUN) ? SES_OK : create_in_place(run);
}

void report_begin(struct import_report *report, struct run *run, const char *file)
{
    *report = (struct import_report){.run = run, .file = file, .counts.size = sizeof report->counts};
    json_begin(&report->refusals, run, '[');
    json_begin(&report->renames, run, '[');
    json_begin(&report->kept_keys, run, '[');
}

/* A name in the file may be invalid UTF-8. */
static void add_name(struct json *json, const char *name, const char *text)
{
    struct text clean = {NULL, 0, 0};

    if (!text)
        return;
    if (text[ses_text_cut(text, SES_NUL, SIZE_MAX, NULL)] != '\0')
        text_add_clean(&clean, text, strlen(text), LINES_ONE);
    json_text(json, name, clean.data ? clean.data : text);
    text_free(&clean);
}

static void add_item(struct json *json, const struct import_item *item)
{
    json_open(json, NULL, '{');
    add_name(json, "appName", item->app);
    add_name(json, "userId", item->user);
    add_name(json, "id", item->session);
    add_name(json, "key", item->key);
    add_name(json, "artifact", item->artifact);
}

/* "app/user/session", "the key K of the state of app/user/session", "the shared key K of app/user". */
static void name_item(struct text *text, const struct import_item *item)
{
    if (item->artifact)
        text_print(text, "the artifact %.100s of ", item->artifact);
    else if (item->key && item->session)
        text_print(text, "the key %.100s of the state of ", item->key);
    else if (item->key)
        text_print(text, "the shared key %.100s of ", item->key);
    else if (!item->session)
        text_puts(text, "the shared state of ");
    text_puts(text, item->app ? item->app : "?");
    if (item->user)
        text_print(text, "/%s", item->user);
    if (item->session)
        text_print(text, "/%s", item->session);
}

void report_refused(struct import_report *report, const struct import_item *item, const ses_error *error)
{
    const ses_error own = *error; /* it may be run->error, which building JSON clears */
    const ses_error *why = &own;
    struct text name = {NULL, 0, 0};

    report->counts.refused++;
    if (report->first_code == 0)
        report->first_code = why->code;
    progress_hide();
    name_item(&name, item);
    say("%s: %s", name.data, why->message);
    text_free(&name);
    if (report->listed++ >= MOST_LISTED)
        return;
    add_item(&report->refusals, item);
    json_text(&report->refusals, "code", ses_code_name(why->code));
    add_name(&report->refusals, "message", why->message);
    json_close(&report->refusals, '}');
}

void report_renamed(struct import_report *report, const struct import_item *item, const ses_key *here)
{
    struct text name = {NULL, 0, 0};

    progress_hide();
    name_item(&name, item);
    note("%s is imported as %s/%s/%s", name.data, here->app, here->user, here->session);
    text_free(&name);
    if (report->listed++ >= MOST_LISTED)
        return;
    add_item(&report->renames, item);
    json_open(&report->renames, "here", '{');
    json_text(&report->renames, "appName", here->app);
    json_text(&report->renames, "userId", here->user);
    json_text(&report->renames, "id", here->session);
    json_close(&report->renames, '}');
    json_close(&report->renames, '}');
}

void report_key(struct import_report *report, const struct import_item *item, bool replaced)
{
    struct text name = {NULL, 0, 0};

    progress_hide();
    name_item(&name, item);
    note("%s has another %s here, and %s", name.data, item->artifact ? "content" : "value",
         replaced ? "now has that of the file"
                  : "keeps it; --replace-keys overwrites it with that of the file");
    text_free(&name);
    if (report->listed++ >= MOST_LISTED)
        return;
    add_item(&report->kept_keys, item);
    json_bool(&report->kept_keys, "replaced", replaced);
    json_close(&report->kept_keys, '}');
}

/* ----------------------------------------------------------------------------------------------- printing */

static void print_count(int64_t count, const char *word, const char *what)
{
    if (count > 0)
        out_print("  %s %s\n", counted(count, word), what);
}

static void print_clean(const char *before, const char *text, const char *after)
{
    struct text clean = {NULL, 0, 0};

    text_add_clean(&clean, text, strlen(text), LINES_ONE);
    out_print("%s%s%s", before, clean.data ? clean.data : "", after);
    text_free(&clean);
}

static void print_notes(const struct import_report *report)
{
    for (size_t i = 0; i < FOREIGN_NOTE_COUNT; i++) {
        const struct text *example = &report->notes.examples[i];
        if (report->notes.counts[i] == 0)
            continue;
        out_print("  %8" PRId64 "  %s", report->notes.counts[i], note_kinds[i].words);
        if (example->len > 0)
            print_clean(" (first: ", example->data, ")");
        out_puts("\n");
    }
    if (report->not_in_file)
        out_print("  %s\n", report->not_in_file);
}

static void print_artifacts(const struct import_report *report)
{
    print_count(report->artifacts, "version", "of artifacts saved");
    print_count(report->artifacts_equal, "version", "of artifacts already here");
    print_count(report->artifacts_renumbered, "version", "saved under another number than in the folder");
    print_count(report->counts.refused, "version", "of artifacts rejected");
    print_count(report->links, "link", "not followed");
}

static void print_report(const struct import_report *report)
{
    const ses_import_report *counts = &report->counts;

    print_clean("", report->file, ": ");
    out_print("%s%s\n", report->words,
              given(report->run, OPTION_DRY_RUN) ? " (dry run: nothing was written)" : "");
    if (report->is_folder) {
        print_artifacts(report);
        return;
    }
    print_count(counts->made, "session", "created");
    print_count(counts->equal, "session", "already here and unchanged");
    print_count(counts->updated, "session", "updated");
    print_count(counts->replaced, "session", "replaced");
    print_count(counts->renamed, "session", "renamed");
    if (counts->refused > 0)
        out_print("  %" PRId64 " rejected\n", counts->refused);
    out_print("  %s and %s written\n", counted(counts->events, "event"), counted(counts->keys, "shared key"));
    print_count(counts->keys_kept, "shared key", "kept: the file has another value");
    print_count(counts->artifacts, "version", "of artifacts saved");
    print_count(counts->artifacts_kept, "artifact", "kept: the file has another content");
    print_count(counts->unknown, "item",
                "left out: lines of a kind, or members, that this version does not know");
    print_notes(report);
}

static void add_notes(struct json *json, const struct import_report *report)
{
    json_open(json, "notes", '[');
    for (size_t i = 0; i < FOREIGN_NOTE_COUNT; i++) {
        char kind[32] = "";
        if (report->notes.counts[i] == 0)
            continue;
        for (size_t at = 0; note_kinds[i].id[at] && at < sizeof kind - 1; at++)
            kind[at] = (char)tolower((unsigned char)note_kinds[i].id[at]);
        json_open(json, NULL, '{');
        json_text(json, "kind", kind);
        json_number(json, "count", report->notes.counts[i]);
        json_text(json, "about", note_kinds[i].words);
        if (report->notes.examples[i].len > 0)
            add_name(json, "first", report->notes.examples[i].data);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void add_list(struct json *json, const char *name, struct json *list)
{
    json_close(list, ']');
    if (list->code < 0)
        json->code = list->code;
    json_raw(json, name, list->text.data, list->text.len);
}

static int add_report(struct import_report *report, struct json_rows *rows)
{
    const ses_import_report *counts = &report->counts;
    struct json json;

    json_begin(&json, report->run, '{');
    add_name(&json, "file", report->file);
    json_text(&json, "format", report->format);
    json_text(&json, "about", report->words);
    json_bool(&json, "dryRun", given(report->run, OPTION_DRY_RUN));
    json_number(&json, "made", counts->made);
    json_number(&json, "equal", counts->equal);
    json_number(&json, "updated", counts->updated);
    json_number(&json, "replaced", counts->replaced);
    json_number(&json, "renamed", counts->renamed);
    json_number(&json, "refused", counts->refused);
    json_number(&json, "events", counts->events);
    json_number(&json, "keys", counts->keys);
    json_number(&json, "keysKept", counts->keys_kept);
    json_number(&json, "artifacts", report->is_folder ? report->artifacts : counts->artifacts);
    json_number(&json, "artifactsKept", counts->artifacts_kept);
    json_number(&json, "unknown", counts->unknown);
    if (report->is_folder) {
        json_number(&json, "artifactsEqual", report->artifacts_equal);
        json_number(&json, "artifactsRenumbered", report->artifacts_renumbered);
        json_number(&json, "links", report->links);
    }
    add_list(&json, "refusals", &report->refusals);
    add_list(&json, "renames", &report->renames);
    add_list(&json, "otherKeys", &report->kept_keys);
    add_notes(&json, report);
    json_text(&json, "notInFile", report->not_in_file);
    return json_rows_add(rows, &json);
}

int report_end(struct import_report *report, struct json_rows *rows)
{
    int status = EXIT_OK;

    if (wants_json(report->run))
        status = add_report(report, rows);
    else
        print_report(report);
    text_free(&report->refusals.text);
    text_free(&report->renames.text);
    text_free(&report->kept_keys.text);
    for (size_t i = 0; i < FOREIGN_NOTE_COUNT; i++)
        text_free(&report->notes.examples[i]);
    return status;
}
