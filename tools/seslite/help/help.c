/* seslite help */
#include "help/help.h"

#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "embedded.h"
#include "help/man.h"
#include "output/out.h"
#include "text/nearest.h"

enum { WIDEST = 100, NARROWEST = 40, NAMES_WIDTH = 19 /* of the column of commands and topics */ };

/* --------------------------------------------------------------------------------------------- paragraphs */

static size_t help_width(void)
{
    size_t width = out_width();
    return width == SIZE_MAX || width > WIDEST ? WIDEST : width < NARROWEST ? NARROWEST : width;
}

static void put_blanks(size_t count)
{
    out_print("%*s", (int)count, "");
}

/* Prints words from the current column on, which is also the indent of the lines that follow. */
static void put_words(const char *words, size_t len, size_t indent)
{
    size_t column = indent;
    const char *end = words + len;

    while (words < end) {
        size_t word = strcspn(words, " ");
        if (word > (size_t)(end - words))
            word = (size_t)(end - words);
        if (column > indent && column + 1 + word > help_width()) {
            out_puts("\n");
            put_blanks(indent);
            column = indent;
        } else if (column > indent) {
            out_puts(" ");
            column++;
        }
        out_text(words, word);
        column += word;
        words += word;
        words += strspn(words, " ");
    }
    out_puts("\n");
}

/* Prints each line of the text as a paragraph; a line that begins with a blank is printed as it is. */
static void put_text(const char *text)
{
    while (*text) {
        size_t len = strcspn(text, "\n");
        put_blanks(2);
        if (*text == ' ')
            out_print("%.*s\n", (int)len, text);
        else
            put_words(text, len, 2);
        text += len;
        text += *text == '\n';
    }
}

static void put_title(const char *title)
{
    out_puts("\n");
    out_coloured(COLOUR_BOLD, title, strlen(title));
    out_puts(":\n");
}

/* A name and its description, in two columns. */
static void put_entry(const char *name, size_t column, const char *words)
{
    put_blanks(2);
    out_coloured(COLOUR_CYAN, name, strlen(name));
    if (strlen(name) + 4 > column) {
        out_puts("\n");
        put_blanks(column);
    } else {
        put_blanks(column - strlen(name) - 2);
    }
    put_words(words, strlen(words), column);
}

static void put_option(size_t id)
{
    const struct option *option = &option_table[id];
    char name[64];

    (void)snprintf(name, sizeof name, "%c%c%s--%s%s%s", option->letter ? '-' : ' ',
                   option->letter ? option->letter : ' ', option->letter ? ", " : "  ", option->name,
                   option->value ? " " : "", option->value ? option->value : "");
    put_entry(name, 30, option->help);
}

/* -------------------------------------------------------------------------------------------- one command */

static void put_usage(const struct command *command)
{
    const struct argument *argument = &command->argument;

    out_print("seslite [-f FILE] %s%s", command->name, command->options ? " [OPTIONS]" : "");
    if (argument->name)
        out_print(argument->required ? " %s%s" : " [%s]%s", argument->name,
                  argument->limit == ARGUMENTS_MAX ? "..." : "");
    out_puts("\n");
}

static int print_command(const struct command *command)
{
    put_usage(command);
    out_puts("\n");
    put_text(command->summary);
    if (command->words) {
        out_puts("\n");
        put_text(command->words);
    }
    if (command->instead)
        put_entry("Only for files:", 20, command->instead);
    if (command->options)
        put_title("Options");
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (command_takes(command, i))
            put_option(i);
    put_title("Options of every command");
    for (size_t i = 0; i < GLOBAL_OPTIONS; i++)
        put_option(i);
    if (command->example) {
        put_title("Example");
        put_text(command->example);
    }
    return EXIT_OK;
}

/* ---------------------------------------------------------------------------------------------------- all */

static void put_commands(const struct manual *manual)
{
    for (size_t i = 0; i < manual->command_count; i++) {
        const struct command *command = &manual->commands[i];
        if (i == 0 || strcmp(command->group, manual->commands[i - 1].group) != 0)
            put_title(command->group);
        put_entry(command->name, NAMES_WIDTH, command->summary);
    }
}

static void put_exits(void)
{
    put_title("Exit codes");
#define PUT_EXIT_(id, number, text) put_entry(#number, 6, text);
    EXITS(PUT_EXIT_)
#undef PUT_EXIT_
}

static int print_all(const struct manual *manual)
{
    out_puts("seslite [-f FILE] [--app APP] [--user USER] [--session ID] COMMAND ...\n\n");
    put_text("Shows, writes and changes the sessions of AI agents in a seslite store.");
    put_commands(manual);
    put_title("Options of every command");
    for (size_t i = 0; i < GLOBAL_OPTIONS; i++)
        put_option(i);
    put_exits();
    put_title("More: seslite help followed by one of these words");
    for (size_t i = 0; i < manual->topic_count; i++)
        put_entry(manual->topics[i].name, NAMES_WIDTH, manual->topics[i].title);
    put_entry("COMMAND", NAMES_WIDTH, "details and options of that command");
    return EXIT_OK;
}

int help_print(const struct manual *manual, const struct command *command)
{
    return command ? print_command(command) : print_all(manual);
}

int help_too_little(const struct run *run)
{
    note("seslite [-f FILE] COMMAND ...");
    return say_usage(run, "a command is missing");
}

static int print_topic(const struct topic *topic)
{
    out_coloured(COLOUR_BOLD, topic->title, strlen(topic->title));
    out_puts("\n\n");
    put_text(topic->words);
    return EXIT_OK;
}

/* Prints the commands that begin with the word. Returns false if there are none. */
static bool print_family(const struct manual *manual, const char *word)
{
    bool any = false;

    for (size_t i = 0; i < manual->command_count; i++) {
        const struct command *command = &manual->commands[i];
        if (!command_name_after(command, word))
            continue;
        put_entry(command->name, NAMES_WIDTH, command->summary);
        any = true;
    }
    return any;
}

static int refuse_word(const struct run *run, const char *word)
{
    const struct manual *manual = run->manual;
    struct nearest nearest;
    int status;

    nearest_begin(&nearest, word);
    for (size_t i = 0; i < manual->command_count; i++)
        nearest_try(&nearest, manual->commands[i].name);
    for (size_t i = 0; i < manual->topic_count; i++)
        nearest_try(&nearest, manual->topics[i].name);
    if (nearest.best)
        status = say_usage(run, "no help for \"%s\". Did you mean \"%s\"?", word, nearest.best);
    else
        status = say_usage(run, "no help for \"%s\"", word);
    nearest_free(&nearest);
    return status;
}

static int print_about(struct run *run, const char *word)
{
    const struct manual *manual = run->manual;

    for (size_t i = 0; i < manual->command_count; i++)
        if (strcmp(manual->commands[i].name, word) == 0)
            return wants_json(run) ? help_print_json(run, &manual->commands[i])
                                   : print_command(&manual->commands[i]);
    for (size_t i = 0; i < manual->topic_count; i++)
        if (strcmp(manual->topics[i].name, word) == 0)
            return print_topic(&manual->topics[i]);
    return print_family(manual, word) ? EXIT_OK : refuse_word(run, word);
}

/* A command has one word or two. */
static int print_about_given(struct run *run)
{
    struct text words = {NULL, 0, 0};

    for (size_t i = 0; i < run->argument_count; i++)
        text_print(&words, "%s%s", i > 0 ? " " : "", run->arguments[i]);
    const int status = print_about(run, words.data);
    text_free(&words);
    return status;
}

static int print_file(const char *text)
{
    out_puts(text);
    return EXIT_OK;
}

int run_help(struct run *run)
{
    if (given(run, OPTION_MAN))
        return man_print(run->manual);
    if (given(run, OPTION_BASH))
        return print_file(completion_bash);
    if (given(run, OPTION_ZSH))
        return print_file(completion_zsh);
    if (given(run, OPTION_FISH))
        return print_file(completion_fish);
    if (run->argument_count > 0)
        return print_about_given(run);
    return wants_json(run) ? help_print_json(run, NULL) : print_all(run->manual);
}
