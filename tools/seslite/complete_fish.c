#include "complete.h"

#include "out.h"

/* Prints a text for single quotes in fish. */
static void put_quoted(const char *text)
{
    out_puts("'");
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            out_puts("\\");
        out_text(text, 1);
    }
    out_puts("'");
}

static const char before[] =
    "# fish completion for seslite, made by: seslite help --fish\n"
    "function __seslite_ask\n"
    "    set -l words (commandline -opc)\n"
    "    set -l store\n"
    "    for i in (seq 2 (count $words))\n"
    "        switch $words[$i]\n"
    "            case -f --file -a --app -u --user\n"
    "                set -l next (math $i + 1)\n"
    "                test $next -le (count $words); and set -a store $words[$i] $words[$next]\n"
    "            case '--file=*' '--app=*' '--user=*'\n"
    "                set -a store $words[$i]\n"
    "        end\n"
    "    end\n"
    "    seslite $store list --names $argv[1] --limit 1000 2>/dev/null | string match -v -- '-*'\n"
    "end\n"
    "complete -c seslite -f\n";

static void put_values(enum kind kind, const struct manual *manual)
{
    const char *names = complete_names(kind);

    if (names)
        out_print(" -a '(__seslite_ask %s)'", names);
    else if (kind == KIND_FILE)
        out_puts(" -F");
    else if (kind == KIND_POINT)
        out_puts(" -a 'start now last-turn before:'");
    else if (kind_word(kind, 0))
        out_print(" -a '%s %s %s'", kind_word(kind, 0), kind_word(kind, 1), kind_word(kind, 2));
    for (size_t i = 0; kind == KIND_COMMAND && i < manual->command_count; i++)
        out_print("%s%s%s", i == 0 ? " -a '" : " ", manual->commands[i].name,
                  i + 1 == manual->command_count ? "'" : "");
}

static void put_option(const char *condition, size_t id, const struct manual *manual)
{
    const struct option *option = &option_table[id];

    out_print("complete -c seslite%s -l %s", condition, option->name);
    if (option->letter)
        out_print(" -s %c", option->letter);
    if (option->kind != KIND_NONE)
        out_puts(option->kind == KIND_FILE ? " -r" : " -x");
    put_values(option->kind, manual);
    out_puts(" -d ");
    put_quoted(option->help);
    out_puts("\n");
}

static void put_command(const struct command *command, const struct manual *manual)
{
    struct text condition = {NULL, 0, 0};

    out_print("complete -c seslite -n __fish_use_subcommand -a %s -d ", command->name);
    put_quoted(command->summary);
    out_puts("\n");
    text_print(&condition, " -n '__fish_seen_subcommand_from %s'", command->name);
    for (size_t id = GLOBAL_OPTIONS; id < OPTION_COUNT; id++)
        if (command->options >> id & 1)
            put_option(condition.data, id, manual);
    if (command->argument.name &&
        (complete_names(command->argument.kind) || command->argument.kind == KIND_COMMAND)) {
        out_print("complete -c seslite%s", condition.data);
        put_values(command->argument.kind, manual);
        out_puts("\n");
    }
    text_free(&condition);
}

/* Excludes the letter for commands that use it for an option of their own, as in tail -f. */
static void put_global(size_t id, const struct manual *manual)
{
    struct text condition = {NULL, 0, 0};

    for (size_t i = 0; i < manual->command_count; i++)
        for (size_t own = GLOBAL_OPTIONS; own < OPTION_COUNT; own++)
            if ((manual->commands[i].options >> own & 1) && option_table[id].letter &&
                option_table[own].letter == option_table[id].letter)
                text_print(&condition, " -n 'not __fish_seen_subcommand_from %s'", manual->commands[i].name);
    put_option(condition.data ? condition.data : "", id, manual);
    text_free(&condition);
}

int complete_fish(const struct manual *manual)
{
    out_puts(before);
    for (size_t id = 0; id < GLOBAL_OPTIONS; id++)
        put_global(id, manual);
    for (size_t i = 0; i < manual->command_count; i++)
        put_command(&manual->commands[i], manual);
    return EXIT_OK;
}
