/* seslite sql: hands over to the sqlite3 program. */
#include "commands.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "choose.h"
#include "out.h"
#include "text.h"

enum { WORDS_MAX = 8 };

/* So that neither a file nor a statement is taken for an option. */
static char *not_an_option(const char *word, const char *before)
{
    struct text text = {NULL, 0, 0};

    text_print(&text, "%s%s", *word == '-' ? before : "", word);
    return text.data;
}

/* The file must be a store, so that what is read is what was meant. It is closed again: the other program opens it. */
static int look_at_store(struct run *run)
{
    int status = open_to_read(run);

    ses_close(run->store);
    run->store = NULL;
    return status;
}

int run_sql(struct run *run)
{
    const char *words[WORDS_MAX] = {"sqlite3"};
    size_t count = 1;
    const char *sql =
        run->argument_count > 0 && strcmp(run->arguments[0], "-") != 0 ? run->arguments[0] : NULL;

    if (given(run, OPTION_JSONL))
        return say_usage(run, "the sqlite3 program prints no JSON lines: use --json");
    int status = look_at_store(run);
    if (status != EXIT_OK)
        return status;
    if (!given(run, OPTION_WRITE))
        words[count++] = "-readonly";
    if (wants_json(run))
        words[count++] = "-json";
    else if (out_is_terminal())
        words[count++] = "-box";
    words[count++] = not_an_option(place_given(run), "./");
    if (sql)
        words[count++] = not_an_option(sql, " ");
    if (out_flush() != EXIT_OK)
        return EXIT_FAILED;
    (void)execvp(words[0], (char *const *)(uintptr_t)words);
    say("the sqlite3 program cannot be run: %s", strerror(errno));
    return EXIT_FAILED;
}
