#include "output/deleting.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "output/json.h"

static bool is_yes(const char *answer)
{
    return strcmp(answer, "y\n") == 0 || strcmp(answer, "Y\n") == 0 || strcmp(answer, "yes\n") == 0;
}

int confirm(struct run *run, const char *format, ...)
{
    char question[2048];
    char answer[64];
    struct text clean = {NULL, 0, 0};
    va_list arguments;

    if (given(run, OPTION_YES))
        return EXIT_OK;
    if (isatty(STDIN_FILENO) != 1 || isatty(STDERR_FILENO) != 1)
        return say_usage(run, "%s asks before it deletes, and there is no terminal to ask on: add --yes",
                         run->command->name);
    va_start(arguments, format);
    (void)vsnprintf(question, sizeof question, format, arguments);
    va_end(arguments);
    text_add_clean(&clean, question, strlen(question), LINES_ONE);
    fprintf(stderr, "%s? [y/N] ", clean.data);
    text_free(&clean);
    (void)fflush(stderr);
    if (fgets(answer, sizeof answer, stdin) && is_yes(answer))
        return EXIT_OK;
    note("Nothing was done.");
    return EXIT_FAILED;
}

void erased_add(ses_erased *sum, const ses_erased *erased)
{
    sum->sessions += erased->sessions;
    sum->events += erased->events;
    sum->state_keys += erased->state_keys;
    sum->artifacts += erased->artifacts;
    sum->index_events += erased->index_events;
    sum->forks_left = erased->forks_left;
    sum->state_left += erased->state_left;
    sum->artifacts_left += erased->artifacts_left;
    sum->compactions_left += erased->compactions_left;
    sum->derived_left += erased->derived_left;
    sum->names += erased->names;
    sum->names_left += erased->names_left;
}

/* Adds a count, or null if it was not looked for. */
static void left_json(struct json *json, const char *name, int64_t count)
{
    if (count < 0)
        json_raw(json, name, "null", 4);
    else
        json_number(json, name, count);
}

void erased_json(struct json *json, const ses_erased *erased)
{
    json_open(json, "erased", '{');
    json_number(json, "sessions", erased->sessions);
    json_number(json, "events", erased->events);
    json_number(json, "stateKeys", erased->state_keys);
    json_number(json, "artifacts", erased->artifacts);
    json_number(json, "indexEvents", erased->index_events);
    json_number(json, "names", erased->names);
    json_close(json, '}');
    json_open(json, "left", '{');
    left_json(json, "forks", erased->forks_left);
    json_number(json, "stateValues", erased->state_left);
    json_number(json, "artifacts", erased->artifacts_left);
    json_number(json, "compactions", erased->compactions_left);
    json_number(json, "derived", erased->derived_left);
    json_number(json, "names", erased->names_left);
    json_text(json, "backups", "not covered");
    json_close(json, '}');
}

void note_left(const ses_erased *erased)
{
    if (erased->derived_left > 0)
        note("A damaged index or tally may still hold words of %s: recover the file, or restore a backup.",
             counted(erased->derived_left, "event"));
    if (erased->forks_left > 0)
        note("%s still %s copies of events.", counted(erased->forks_left, "session"),
             erased->forks_left == 1 ? "has" : "have");
    if (erased->state_left > 0)
        note("%s in state %s: add --state to replace values, too.", counted(erased->state_left, "value"),
             erased->state_left == 1 ? "stays" : "stay");
    if (erased->artifacts_left > 0)
        note("%s that the events name %s.", counted(erased->artifacts_left, "artifact"),
             erased->artifacts_left == 1 ? "stays" : "stay");
    if (erased->names_left > 0)
        note(
            "%s %s: names of state keys, titles, labels or ids. seslite find shows them; --names removes all but "
            "ids.",
            counted(erased->names_left, "name"), erased->names_left == 1 ? "stays" : "stay");
    if (erased->compactions_left > 0)
        note("%s may repeat the events: look at seslite show.",
             counted(erased->compactions_left, "compaction"));
}

static int report(struct run *run, const char *word, int64_t count, bool at_most, const ses_erased *erased)
{
    bool dry = given(run, OPTION_DRY_RUN);
    struct json json;

    if (wants_json(run)) {
        json_begin(&json, run, '{');
        json_number(&json, at_most ? "atMost" : "deleted", count);
        json_bool(&json, "dryRun", dry);
        if (erased)
            erased_json(&json, erased);
        return json_print_object(&json);
    }
    note("%s%s %s deleted.", at_most ? "At most " : "", counted(count, word),
         dry          ? "would be"
         : count == 1 ? "was"
                      : "were");
    if (erased)
        note_left(erased);
    return EXIT_OK;
}

int report_deleted(struct run *run, const char *word, int64_t count)
{
    return report(run, word, count, false, NULL);
}

int report_erased(struct run *run, const char *word, int64_t count, const ses_erased *erased)
{
    return report(run, word, count, false, erased);
}

int report_at_most(struct run *run, const char *word, int64_t count)
{
    return report(run, word, count, true, NULL);
}

void report_log_kept(void)
{
    note("(A reader kept the write-ahead log from being emptied: run seslite maintain later.)");
}
