#include "help/man.h"

#include <ctype.h>
#include <string.h>

#include "output/out.h"

/* Prints a text so that roff shows it verbatim. */
static void put(const char *text, size_t len)
{
    bool begins = true;

    for (size_t i = 0; i < len; i++) {
        if (begins && (text[i] == '.' || text[i] == '\''))
            out_puts("\\&");
        if (text[i] == '\\')
            out_puts("\\e");
        else if (text[i] == '-')
            out_puts("\\-");
        else if (text[i] == '\'')
            out_puts("\\(aq");
        else if (text[i] == '^')
            out_puts("\\(ha");
        else if (text[i] == '~')
            out_puts("\\(ti");
        else
            out_text(text + i, 1);
        begins = text[i] == '\n';
    }
}

static void put_text(const char *text)
{
    put(text, strlen(text));
}

static void put_upper(const char *text)
{
    for (; *text; text++) {
        char letter = (char)toupper((unsigned char)*text);
        put(&letter, 1);
    }
}

static void put_section(const char *title)
{
    out_puts(".SH \"");
    put_upper(title);
    out_puts("\"\n");
}

/* Prints lines as paragraphs, and those that begin with a blank as they are. */
static void put_paragraphs(const char *text)
{
    bool as_is = false;

    while (*text) {
        size_t len = strcspn(text, "\n");
        bool now = *text == ' ';
        if (now != as_is)
            out_puts(now ? ".PP\n.RS 2\n.nf\n" : ".fi\n.RE\n");
        if (!now)
            out_puts(".PP\n");
        put(text + now, len - now);
        out_puts("\n");
        as_is = now;
        text += len;
        text += *text == '\n';
    }
    if (as_is)
        out_puts(".fi\n.RE\n");
}

static void put_option(size_t id)
{
    const struct option *option = &option_table[id];

    out_puts(".TP\n");
    if (option->letter)
        out_print("\\fB\\-%c\\fR, ", option->letter);
    out_puts("\\fB\\-\\-");
    put_text(option->name);
    out_puts("\\fR");
    if (option->value) {
        out_puts(" \\fI");
        put_text(option->value);
        out_puts("\\fR");
    }
    out_puts("\n");
    put_text(option->help);
    out_puts(".\n");
}

static void put_command(const struct command *command)
{
    const struct argument *argument = &command->argument;

    out_puts(".SS \"seslite ");
    put_text(command->name);
    out_puts(command->options ? " [options]" : "");
    if (argument->name) {
        out_puts(argument->required ? " " : " [");
        put_text(argument->name);
        out_print("%s%s", argument->required ? "" : "]", argument->limit == ARGUMENTS_MAX ? "..." : "");
    }
    out_puts("\"\n");
    put_paragraphs(command->summary);
    if (command->words)
        put_paragraphs(command->words);
    if (command->instead) {
        out_puts(".PP\nOnly for files: ");
        put_text(command->instead);
        out_puts(".\n");
    }
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (command_takes(command, i))
            put_option(i);
    if (command->example) {
        out_puts(".PP\nExample:\n");
        put_paragraphs(command->example);
    }
}

static void put_head(void)
{
    out_print(".TH SESLITE 1 \"\" \"seslite %s\" \"User Commands\"\n", ses_version());
    put_section("name");
    out_puts("seslite \\- sessions of AI agents in a store, from the command line\n");
    put_section("synopsis");
    out_puts(".B seslite\n[\\fB\\-f\\fR \\fIFILE\\fR] [\\fB\\-\\-app\\fR \\fIAPP\\fR] [\\fB\\-\\-user\\fR "
             "\\fIUSER\\fR]\n"
             "[\\fB\\-\\-session\\fR \\fIID\\fR] \\fICOMMAND\\fR ...\n");
    put_section("description");
    out_puts(
        "seslite keeps the sessions of AI agents in an SQLite file, or in a database of PostgreSQL or MySQL: "
        "conversations as logs of events, and state.\n"
        "This command shows and changes such a store.\n");
}

static void put_foot(void)
{
    put_section("exit status");
#define PUT_EXIT_(id, number, text)    \
    out_puts(".TP\n.B " #number "\n"); \
    put_text(text);                    \
    out_puts(".\n");
    EXITS(PUT_EXIT_)
#undef PUT_EXIT_
    put_section("environment");
    out_puts(".TP\n.B SESLITE_DB\nThe store, if \\fB\\-f\\fR is not given: a file, or an address such as "
             "postgresql://user@host/database.\n"
             ".TP\n.B NO_COLOR\nIf set and not empty, disables colours.\n");
    put_section("see also");
    out_puts(".BR sqlite3 (1), psql (1)\n");
}

int man_print(const struct manual *manual)
{
    put_head();
    put_section("options of every command");
    for (size_t i = 0; i < GLOBAL_OPTIONS; i++)
        put_option(i);
    put_section("commands");
    for (size_t i = 0; i < manual->command_count; i++)
        put_command(&manual->commands[i]);
    for (size_t i = 0; i < manual->topic_count; i++) {
        put_section(manual->topics[i].title);
        put_paragraphs(manual->topics[i].words);
    }
    put_foot();
    return EXIT_OK;
}
