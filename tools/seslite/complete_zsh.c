#include "complete.h"

#include "out.h"

/* Prints a text for single quotes in the shell, and for the brackets of _arguments. */
static void put_quoted(const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            out_puts("'\\''");
        else if (*text == '[' || *text == ']' || *text == ':' || *text == '\\')
            out_print("\\%c", *text);
        else
            out_text(text, 1);
    }
}

static const char before[] = "#compdef seslite\n"
                             "# zsh completion for seslite, made by: seslite help --zsh\n"
                             "_seslite_ask()\n"
                             "{\n"
                             "    local -a store names\n"
                             "    local option value\n"
                             "    for option in -f --file -a --app -u --user; do\n"
                             "        value=${(Q)opt_args[$option]}\n"
                             "        [[ -z $value ]] || store+=($option $value)\n"
                             "    done\n"
                             "    [[ -n $seslite_store ]] && store=($seslite_store $store)\n"
                             "    names=(${(f)\"$(_call_program names seslite ${(q)store} list --names $1 "
                             "--limit 1000 2>/dev/null)\"})\n"
                             "    compadd -- ${names:#-*}\n"
                             "}\n"
                             "_seslite()\n"
                             "{\n"
                             "    local -a commands seslite_store\n"
                             "    local state line curcontext=$curcontext\n"
                             "    typeset -A opt_args\n"
                             "    commands=(\n";

/* Prints the action that completes a value, for _arguments. */
static void put_action(enum kind kind)
{
    const char *names = complete_names(kind);

    if (names)
        out_print("{_seslite_ask %s}", names);
    else if (kind == KIND_FILE)
        out_puts("_files");
    else if (kind == KIND_POINT)
        out_puts("(start now last-turn before\\:)");
    else if (kind_word(kind, 0))
        out_print("(%s %s %s)", kind_word(kind, 0), kind_word(kind, 1), kind_word(kind, 2));
    else if (kind == KIND_COMMAND)
        out_puts("{_describe command commands}");
    else
        out_puts(" ");
}

static void put_spec(const char *dashes, const char *name, const struct option *option)
{
    out_print(" \\\n            '%s%s[", dashes, name);
    put_quoted(option->help);
    out_puts("]");
    if (option->kind != KIND_NONE) {
        out_puts(":");
        put_quoted(option->value);
        out_puts(":");
        put_action(option->kind);
    }
    out_puts("'");
}

static void put_option(size_t id)
{
    const struct option *option = &option_table[id];
    const char letter[2] = {option->letter, '\0'};

    put_spec("--", option->name, option);
    if (option->letter)
        put_spec("-", letter, option);
}

/* True if this command uses the letter for an option of its own. */
static bool has_letter(const struct command *command, char letter)
{
    for (size_t id = GLOBAL_OPTIONS; letter && id < OPTION_COUNT; id++)
        if ((command->options >> id & 1) && option_table[id].letter == letter)
            return true;
    return false;
}

static void put_command(const struct command *command)
{
    const struct argument *argument = &command->argument;

    out_print("        %s)\n            _arguments -s", command->name);
    for (size_t id = 0; id < OPTION_COUNT; id++) {
        if (id < GLOBAL_OPTIONS && has_letter(command, option_table[id].letter))
            put_spec("--", option_table[id].name, &option_table[id]);
        else if (id < GLOBAL_OPTIONS || (command->options >> id & 1))
            put_option(id);
    }
    if (argument->name) {
        out_print(" \\\n            '%s:", argument->many ? "*" : argument->required ? "1" : "1:");
        put_quoted(argument->name);
        out_puts(":");
        put_action(argument->kind);
        out_puts("'");
    }
    out_puts("\n            ;;\n");
}

int complete_zsh(const struct manual *manual)
{
    out_puts(before);
    for (size_t i = 0; i < manual->command_count; i++) {
        out_print("        '%s:", manual->commands[i].name);
        put_quoted(manual->commands[i].summary);
        out_puts("'\n");
    }
    out_puts("    )\n    _arguments -C -s");
    for (size_t id = 0; id < GLOBAL_OPTIONS; id++)
        put_option(id);
    out_puts(" \\\n            '1:command:{_describe command commands}' '*::argument:->arguments'\n"
             "    if [[ $state == arguments ]]; then\n"
             "        local name value\n"
             "        for name in -f --file -a --app -u --user; do\n"
             "            value=${(Q)opt_args[$name]}\n"
             "            [[ -z $value ]] || seslite_store+=($name $value)\n"
             "        done\n"
             "        case $words[1] in\n");
    for (size_t i = 0; i < manual->command_count; i++)
        put_command(&manual->commands[i]);
    out_puts("        esac\n    fi\n}\n_seslite \"$@\"\n");
    return EXIT_OK;
}
