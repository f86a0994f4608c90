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

static int report(struct run *run, const char *word, int64_t count, bool at_most)
{
    bool dry = given(run, OPTION_DRY_RUN);
    struct json json;

    if (wants_json(run)) {
        json_begin(&json, run, '{');
        json_number(&json, at_most ? "atMost" : "deleted", count);
        json_bool(&json, "dryRun", dry);
        return json_print_object(&json);
    }
    note("%s%s %s deleted.", at_most ? "At most " : "", counted(count, word),
         dry          ? "would be"
         : count == 1 ? "was"
                      : "were");
    return EXIT_OK;
}

int report_deleted(struct run *run, const char *word, int64_t count)
{
    return report(run, word, count, false);
}

int report_at_most(struct run *run, const char *word, int64_t count)
{
    return report(run, word, count, true);
}

void report_log_kept(void)
{
    note("(A reader kept the write-ahead log from being emptied: run seslite maintain later.)");
}
