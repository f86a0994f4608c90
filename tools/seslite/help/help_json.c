/* The help as JSON: each command as an object, for programs that offer them. */
#include "help/help.h"
#include "output/json.h"

static void add_options(struct json *json, const struct command *command)
{
    json_open(json, "options", '[');
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option *option = &option_table[i];
        const char letter[] = {option->letter, '\0'};
        if (i >= GLOBAL_OPTIONS && !command_takes(command, i))
            continue;
        json_open(json, NULL, '{');
        json_text(json, "name", option->name);
        if (option->letter)
            json_text(json, "letter", letter);
        if (option->value)
            json_text(json, "value", option->value);
        json_text(json, "help", option->help);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void add_command(struct json *json, const struct command *command)
{
    json_text(json, "name", command->name);
    json_text(json, "group", command->group);
    json_text(json, "summary", command->summary);
    json_text(json, "words", command->words);
    json_bool(json, "onlyForFiles", command->instead != NULL);
    if (command->argument.name) {
        json_text(json, "argument", command->argument.name);
        json_bool(json, "required", command->argument.required);
        json_bool(json, "many", command->argument.limit > 1);
    }
    add_options(json, command);
}

int help_print_json(struct run *run, const struct command *only)
{
    const struct manual *manual = run->manual;
    struct json_rows rows;
    int status = EXIT_OK;

    /* The library quotes the texts, and needs a store for that. */
    if (!run->store && ses_open(":memory:", NULL, &run->store, &run->error) < 0)
        return fail(run);
    json_rows_begin(&rows, run);
    for (size_t i = 0; status == EXIT_OK && i < manual->command_count; i++) {
        const struct command *command = &manual->commands[i];
        struct json json;
        if (only && command != only)
            continue;
        json_begin(&json, run, '{');
        add_command(&json, command);
        status = json_rows_add(&rows, &json);
    }
    json_rows_end(&rows);
    return status;
}
