/* seslite sql: runs the sqlite3 program. */
#include "commands.h"

#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "output/out.h"
#include "store/choose.h"
#include "text/text.h"

extern char **environ;

enum { WORDS_MAX = 8 };

/* Keeps a file or a statement from being taken for an option. */
static char *not_an_option(const char *word, const char *before)
{
    struct text text = {NULL, 0, 0};

    text_print(&text, "%s%s", *word == '-' ? before : "", word);
    return text.data;
}

/* Checks that the file is a store. It is closed again, since the other program opens it. */
static int look_at_store(struct run *run)
{
    int status = open_to_read(run);

    ses_close(run->store);
    run->store = NULL;
    return status;
}

/* With a statement on its command line, sqlite3 exits with SQLite's result code (sqlite.org/rescode.html). */
static int exit_of(int sqlite)
{
    enum { SQLITE_BUSY = 5, SQLITE_LOCKED = 6, SQLITE_CORRUPT = 11, SQLITE_NOTADB = 26 };

    switch (sqlite) {
    case 0:
        return EXIT_OK;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return EXIT_BUSY;
    case SQLITE_CORRUPT:
        return EXIT_DAMAGED;
    case SQLITE_NOTADB:
        return EXIT_NOTASTORE;
    default:
        return EXIT_FAILED;
    }
}

/* While that program runs, it receives Ctrl-C. */
static int run_program(const char *const *words)
{
    int status = 0;
    pid_t child;
    int wrong = posix_spawnp(&child, words[0], NULL, NULL, (char *const *)(uintptr_t)words, environ);

    if (wrong != 0) {
        say("cannot run the sqlite3 program: %s", strerror(wrong));
        return EXIT_FAILED;
    }
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGQUIT, SIG_IGN);
    while (waitpid(child, &status, 0) != child)
        ;
    if (WIFSIGNALED(status)) {
        (void)signal(WTERMSIG(status), SIG_DFL);
        (void)raise(WTERMSIG(status));
    }
    return WIFEXITED(status) ? exit_of(WEXITSTATUS(status)) : EXIT_FAILED;
}

int run_sql(struct run *run)
{
    const char *words[WORDS_MAX] = {"sqlite3"};
    size_t count = 1;
    char *file;
    char *statement = NULL;
    const char *sql =
        run->argument_count > 0 && strcmp(run->arguments[0], "-") != 0 ? run->arguments[0] : NULL;

    if (given(run, OPTION_JSONL))
        return say_usage(run, "the sqlite3 program cannot print JSON lines: use --json");
    if (given(run, OPTION_KEY_FD))
        return say_usage(
            run,
            "the sqlite3 program cannot read a store with a key: back it up with --plain, or open it with "
            "the program of SQLite3 Multiple Ciphers");
    int status = look_at_store(run);
    if (status != EXIT_OK)
        return status;
    if (!given(run, OPTION_WRITE))
        words[count++] = "-readonly";
    if (wants_json(run))
        words[count++] = "-json";
    else if (out_is_terminal())
        words[count++] = "-box";
    words[count++] = file = not_an_option(place_given(run), "./");
    if (sql)
        words[count++] = statement = not_an_option(sql, " ");
    status = out_flush() == EXIT_OK ? run_program(words) : EXIT_FAILED;
    free(statement);
    free(file);
    return status;
}
