#include "parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "output/out.h"
#include "text/nearest.h"
#include "text/times.h"

/* The rest of the command line, and what its beginning says of the next word. */
struct words {
    int count;
    char **at;
    struct unfinished next;
};

/* ------------------------------------------------------------------------------------------------ options */

bool parse_knows(const struct run *run, size_t option)
{
    return option < GLOBAL_OPTIONS || (run->command && command_takes(run->command, option));
}

/* A command's own option takes precedence over a global one with the same letter or name. Both return
 * OPTION_COUNT if no option has it. */
static size_t find_letter(const struct run *run, char letter)
{
    for (size_t i = OPTION_COUNT; i-- > 0;)
        if (option_table[i].letter == letter && parse_knows(run, i))
            return i;
    return OPTION_COUNT;
}

static size_t find_name(const struct run *run, const char *name, size_t len)
{
    for (size_t i = OPTION_COUNT; i-- > 0;)
        if (strlen(option_table[i].name) == len && memcmp(option_table[i].name, name, len) == 0 &&
            parse_knows(run, i))
            return i;
    return OPTION_COUNT;
}

static int unknown_option(const struct run *run, const char *word)
{
    struct nearest nearest;
    int status;

    nearest_begin(&nearest, word + strspn(word, "-"));
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (parse_knows(run, i))
            nearest_try(&nearest, option_table[i].name);
    if (nearest.best)
        status = say_usage(run, "unknown option %s. Did you mean --%s?", word, nearest.best);
    else
        status = say_usage(run, "unknown option %s", word);
    nearest_free(&nearest);
    return status;
}

static bool is_number(const char *text)
{
    char *end = NULL;

    errno = 0;
    if (text[0] < '0' || text[0] > '9')
        return false;
    (void)strtoll(text, &end, 10);
    return *end == '\0' && errno == 0;
}

static bool is_word(enum kind kind, const char *value)
{
    for (size_t i = 0; kind_word(kind, i); i++)
        if (strcmp(kind_word(kind, i), value) == 0)
            return true;
    return false;
}

/* A description of the expected value, or NULL if the value is valid. */
static const char *wrong_with(enum kind kind, const char *value)
{
    int64_t number = 0;

    if (kind == KIND_NUMBER && !is_number(value))
        return "a whole number";
    if (kind == KIND_TIME && !time_read(value, &number))
        return "a time, such as 2024-01-15, 2024-01-15T12:30:00Z or 2h (two hours ago)";
    if (kind == KIND_SPAN && !span_read(value, &number))
        return "a span of time, such as 90s, 15m, 2h, 7d or 3w";
    if (kind == KIND_ORDER && !is_word(kind, value))
        return "written, newest, oldest or created";
    if (kind == KIND_NAMES && !is_word(kind, value))
        return "apps, users or sessions";
    if (kind == KIND_KINDS && !is_word(kind, value))
        return "conversation, child or memory";
    if (kind == KIND_PAIR && (*value == '=' || !strchr(value, '=')))
        return "KEY=JSON, such as count=1 or 'user:lang=\"en\"'";
    return *value == '\0' && kind != KIND_TEXT ? "a value that is not empty" : NULL;
}

static bool may_be_repeated(enum kind kind)
{
    return kind == KIND_KEY || kind == KIND_LABEL || kind == KIND_PAIR;
}

static int add_repeated(struct run *run, size_t option, const char *value)
{
    if (run->repeated_count == ARGUMENTS_MAX)
        return say_usage(run, "--%s: there are more than %d values of repeated options",
                         option_table[option].name, (int)ARGUMENTS_MAX);
    run->repeated_option[run->repeated_count] = option;
    run->repeated[run->repeated_count++] = value;
    run->values[option] = value;
    return EXIT_OK;
}

static int set_value(struct run *run, size_t option, const char *value)
{
    const char *wrong = wrong_with(option_table[option].kind, value);

    if (wrong && option_table[option].kind != KIND_NONE)
        return say_usage(run, "--%s takes %s, not \"%s\"", option_table[option].name, wrong, value);
    if (may_be_repeated(option_table[option].kind))
        return add_repeated(run, option, value);
    if (run->values[option] && option_table[option].kind != KIND_NONE &&
        strcmp(run->values[option], value) != 0)
        return say_usage(run, "--%s was given twice", option_table[option].name);
    run->values[option] = value;
    return EXIT_OK;
}

/* The value of an option: what follows "=" or the letter, or else the next word. */
static int take_value(struct run *run, size_t option, const char *rest, struct words *words)
{
    if (!rest && words->count == 0) {
        words->next.option = option;
        return say_usage(run, "--%s needs a value: %s", option_table[option].name,
                         option_table[option].value);
    }
    if (!rest) {
        rest = *words->at++;
        words->count--;
    }
    return set_value(run, option, rest);
}

static int take_long(struct run *run, const char *word, struct words *words)
{
    const char *equals = strchr(word, '=');
    size_t option = find_name(run, word + 2, equals ? (size_t)(equals - word) - 2 : strlen(word + 2));

    if (option == OPTION_COUNT)
        return unknown_option(run, word);
    if (option_table[option].kind != KIND_NONE)
        return take_value(run, option, equals ? equals + 1 : NULL, words);
    return equals ? say_usage(run, "--%s takes no value", option_table[option].name)
                  : set_value(run, option, "");
}

/* Reads letters: flags may be combined, and the last one may have a value. */
static int take_letters(struct run *run, const char *word, struct words *words)
{
    for (const char *letter = word + 1; *letter; letter++) {
        size_t option = find_letter(run, *letter);
        if (option == OPTION_COUNT)
            return unknown_option(run, word);
        if (option_table[option].kind != KIND_NONE)
            return take_value(run, option, letter[1] ? letter + 1 : NULL, words);
        int status = set_value(run, option, "");
        if (status != EXIT_OK)
            return status;
    }
    return EXIT_OK;
}

/* ---------------------------------------------------------------------------------------------- arguments */

static int unknown_command(const struct run *run, const char *word, const char *nearest)
{
    const char *first = run->family ? run->family : "";
    const char *blank = run->family ? " " : "";

    return nearest ? say_usage(run, "unknown command \"%s%s%s\". Did you mean \"%s%s%s\"?", first, blank,
                               word, first, blank, nearest)
                   : say_usage(run, "unknown command \"%s%s%s\"", first, blank, word);
}

/* Finds a command of one word, or the first word of several commands and then the second. */
static int find_command(struct run *run, const char *word)
{
    const struct manual *manual = run->manual;
    const char *family = NULL;
    struct text first = {NULL, 0, 0};
    struct nearest nearest;
    int status = EXIT_OK;

    nearest_begin(&nearest, word);
    for (size_t i = 0; i < manual->command_count; i++) {
        const char *name = command_name_after(&manual->commands[i], run->family);
        if (!name)
            continue;
        if (strcmp(name, word) == 0)
            run->command = &manual->commands[i];
        text_clear(&first);
        text_add(&first, name, strcspn(name, " "));
        if (strcmp(first.data, word) == 0)
            family = word;
        nearest_try(&nearest, first.data);
    }
    if (!run->command && !family)
        status = unknown_command(run, word, nearest.best);
    if (!run->command && family)
        run->family = family;
    nearest_free(&nearest);
    text_free(&first);
    return status;
}

static int take_argument(struct run *run, const char *word)
{
    if (!run->command)
        return find_command(run, word);
    const struct argument *argument = &run->command->argument;
    if (!argument->name)
        return say_usage(run, "%s takes no argument: \"%s\"", run->command->name, word);
    if (run->argument_count == ARGUMENTS_MAX)
        return say_usage(run, "more than %d arguments", (int)ARGUMENTS_MAX);
    if (run->argument_count == argument->limit)
        return say_usage(run, "%s takes only %s%s: unexpected \"%s\"", run->command->name,
                         argument->limit == 1 ? "one " : "", argument->name, word);
    run->arguments[run->argument_count++] = word;
    return argument->kind == KIND_SESSION ? set_value(run, OPTION_SESSION, word) : EXIT_OK;
}

static int check(const struct run *run)
{
    const struct argument *argument = &run->command->argument;

    if (given(run, OPTION_JSON) && given(run, OPTION_JSONL))
        return say_usage(run, "--json and --jsonl cannot be combined");
    if (argument->name && argument->required && run->argument_count == 0)
        return say_usage(run, "%s needs %s", run->command->name, argument->name);
    return EXIT_OK;
}

static int say_incomplete(const struct run *run)
{
    const struct manual *manual = run->manual;
    struct text names = {NULL, 0, 0};

    if (!run->family)
        return say_usage(run, "a command is missing");
    for (size_t i = 0; i < manual->command_count; i++) {
        const char *name = command_name_after(&manual->commands[i], run->family);
        if (name)
            text_print(&names, "%s%s", names.len > 0 ? ", " : "", name);
    }
    const int status = say_usage(run, "%s needs one of these words: %s", run->family, names.data);
    text_free(&names);
    return status;
}

static int take_words(struct run *run, struct words *words)
{
    int status = EXIT_OK;

    while (status == EXIT_OK && words->count > 0) {
        const char *word = *words->at++;
        words->count--;
        if (!words->next.options_end && strcmp(word, "--") == 0)
            words->next.options_end = true;
        else if (!words->next.options_end && strncmp(word, "--", 2) == 0)
            status = take_long(run, word, words);
        else if (!words->next.options_end && word[0] == '-' && word[1] != '\0')
            status = take_letters(run, word, words);
        else
            status = take_argument(run, word);
    }
    return status;
}

int parse(struct run *run, int argc, char **argv)
{
    struct words words = {argc - 1, argv + 1, {OPTION_COUNT, false}};
    int status = take_words(run, &words);

    if (status != EXIT_OK || given(run, OPTION_HELP) || given(run, OPTION_VERSION))
        return status;
    return run->command ? check(run) : say_incomplete(run);
}

bool parse_unfinished(struct run *run, int count, char **at, struct unfinished *next)
{
    struct words words = {count, at, {OPTION_COUNT, false}};
    int status = take_words(run, &words);

    *next = words.next;
    return status == EXIT_OK || next->option != OPTION_COUNT;
}
