#include "complete.h"

#include "out.h"

const char *complete_names(enum kind kind)
{
    return kind == KIND_APP ? "apps" : kind == KIND_USER ? "users" : kind == KIND_SESSION ? "sessions" : NULL;
}

/* Names in a store can be any text, so they are quoted for the shell and never expanded. A name that looks
 * like an option is left out. */
static const char before[] =
    "# bash completion for seslite, made by: seslite help --bash\n"
    "_seslite_words()\n"
    "{\n"
    "    local word\n"
    "    while IFS= read -r word; do\n"
    "        [[ $word == \"$cur\"* ]] && COMPREPLY+=(\"$word\")\n"
    "    done\n"
    "}\n"
    "_seslite_ask()\n"
    "{\n"
    "    local word store=()\n"
    "    for word in file app user; do\n"
    "        local var=\"seslite_$word\"\n"
    "        [[ $1 == \"${word}s\" || -z ${!var} ]] || store+=(\"--$word=${!var}\")\n"
    "    done\n"
    "    while IFS= read -r word; do\n"
    "        [[ $word != -* && $word == \"$plain\"* ]] && COMPREPLY+=(\"$(printf %q \"$word\")\")\n"
    "    done < <(\"${COMP_WORDS[0]}\" \"${store[@]}\" list --names \"$1\" --limit 1000 2>/dev/null)\n"
    "}\n"
    "# A word as the shell would read it, without expanding anything but a leading ~/.\n"
    "_seslite_plain()\n"
    "{\n"
    "    local word=$1\n"
    "    [[ $word == '~/'* ]] && word=$HOME/${word:2}\n"
    "    [[ $word == \\'*\\' || $word == \\\"*\\\" ]] && word=${word:1:${#word}-2}\n"
    "    REPLY=${word//\\\\/}\n"
    "}\n"
    "_seslite_value()\n"
    "{\n"
    "    case $1 in\n";

static const char middle[] =
    "    *) return 1 ;;\n"
    "    esac\n"
    "    return 0\n"
    "}\n"
    "_seslite()\n"
    "{\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
    "    local command= options= argument= seslite_file= seslite_app= seslite_user= REPLY plain i\n"
    "    COMPREPLY=()\n"
    "    _seslite_plain \"$cur\"\n"
    "    plain=${REPLY#[\\'\\\"]}\n"
    "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
    "        _seslite_plain \"${COMP_WORDS[i + 1]}\"\n"
    "        case \"$command ${COMP_WORDS[i]}\" in\n";

static const char globals[] = "        *' -f' | *' --file') seslite_file=$REPLY; ((++i)) ;;\n"
                              "        *' -a' | *' --app') seslite_app=$REPLY; ((++i)) ;;\n"
                              "        *' -u' | *' --user') seslite_user=$REPLY; ((++i)) ;;\n"
                              "        *' -s' | *' --session') ((++i)) ;;\n"
                              "        *' -'*) ;;\n"
                              "        ' '*) command=${COMP_WORDS[i]} ;;\n"
                              "        esac\n"
                              "    done\n"
                              "    case $command in\n";

static const char after[] = "    _seslite_value \"$command $previous\"\n"
                            "    case $? in\n"
                            "    0) return ;;\n"
                            "    1) _seslite_value \"$previous\" && return ;;\n"
                            "    esac\n"
                            "    if [[ $cur == -* ]]; then\n"
                            "        _seslite_words <<<\"${options// /$'\\n'}\"\n"
                            "    elif [[ -z $command ]]; then\n"
                            "        _seslite_words <<<\"${commands// /$'\\n'}\"\n"
                            "    elif [[ -n $argument ]]; then\n"
                            "        _seslite_value \"$argument\"\n"
                            "    fi\n"
                            "}\n"
                            "complete -F _seslite seslite\n";

/* A line of the `case` that completes a value. */
static void put_value_of(enum kind kind)
{
    const char *names = complete_names(kind);

    if (names)
        out_print(") _seslite_ask %s ;;\n", names);
    else if (kind == KIND_FILE)
        out_puts(") while IFS= read -r REPLY; do COMPREPLY+=(\"$REPLY\"); done < <(compgen -f -- \"$cur\")\n"
                 "        compopt -o filenames 2>/dev/null ;;\n");
    else if (kind == KIND_POINT)
        out_puts(") _seslite_words <<<$'start\\nnow\\nlast-turn\\nbefore:' ;;\n");
    else if (kind == KIND_COMMAND)
        out_puts(") _seslite_words <<<\"${commands// /$'\\n'}\" ;;\n");
    else if (kind_word(kind, 0))
        out_print(") _seslite_words <<<$'%s\\n%s\\n%s' ;;\n", kind_word(kind, 0), kind_word(kind, 1),
                  kind_word(kind, 2));
    else
        out_puts(") ;;\n"); /* any text: no proposals */
}

static void put_option_value(const char *command, size_t id)
{
    const struct option *option = &option_table[id];
    const char *quote = command ? "'" : "";
    const char *blank = command ? " " : "";
    const char *name = command ? command : "";

    if (option->kind == KIND_NONE)
        return;
    out_print("    %s%s%s--%s%s", quote, name, blank, option->name, quote);
    if (option->letter)
        out_print(" | %s%s%s-%c%s", quote, name, blank, option->letter, quote);
    put_value_of(option->kind);
}

/* A flag with the letter of an option that has a value before the command, as tail -f. */
static bool is_other_flag(size_t flag)
{
    for (size_t id = 0;
         option_table[flag].kind == KIND_NONE && option_table[flag].letter && id < GLOBAL_OPTIONS; id++)
        if (id != flag && option_table[id].letter == option_table[flag].letter)
            return true;
    return false;
}

static void put_values(const struct manual *manual)
{
    for (size_t i = 0; i < manual->command_count; i++) {
        const struct command *command = &manual->commands[i];
        for (size_t id = 0; id < OPTION_COUNT; id++) {
            if (!(command->options >> id & 1))
                continue;
            put_option_value(command->name, id);
            if (is_other_flag(id))
                out_print("    '%s -%c') return 2 ;;\n", command->name, option_table[id].letter);
        }
    }
    for (size_t id = 0; id < GLOBAL_OPTIONS; id++)
        put_option_value(NULL, id);
    out_puts("    session) _seslite_ask sessions ;;\n    command");
    put_value_of(KIND_COMMAND);
}

static void put_names(uint64_t options)
{
    for (size_t id = 0; id < OPTION_COUNT; id++)
        if (id < GLOBAL_OPTIONS || (options >> id & 1))
            out_print("%s--%s", id == 0 ? "" : " ", option_table[id].name);
}

static void put_commands(const struct manual *manual)
{
    for (size_t i = 0; i < manual->command_count; i++) {
        const struct command *command = &manual->commands[i];
        out_print("    %s) options='", command->name);
        put_names(command->options);
        out_print("' argument=%s ;;\n", command->argument.kind == KIND_SESSION && command->argument.name
                                            ? "session"
                                        : command->argument.kind == KIND_COMMAND ? "command"
                                                                                 : "");
    }
    out_puts("    *) options='");
    put_names(0);
    out_puts("' ;;\n");
}

static void put_other_flags(const struct manual *manual)
{
    for (size_t i = 0; i < manual->command_count; i++)
        for (size_t id = GLOBAL_OPTIONS; id < OPTION_COUNT; id++)
            if ((manual->commands[i].options >> id & 1) && is_other_flag(id))
                out_print("        '%s -%c') ;;\n", manual->commands[i].name, option_table[id].letter);
}

int complete_bash(const struct manual *manual)
{
    out_puts(before);
    put_values(manual);
    out_puts(middle);
    put_other_flags(manual);
    out_puts(globals);
    put_commands(manual);
    out_puts("    esac\n    local commands='");
    for (size_t i = 0; i < manual->command_count; i++)
        out_print("%s%s", i == 0 ? "" : " ", manual->commands[i].name);
    out_puts("'\n");
    out_puts(after);
    return EXIT_OK;
}
