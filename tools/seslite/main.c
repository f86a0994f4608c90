#include "command.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "commands_table.h"
#include "complete/complete.h"
#include "files/key.h"
#include "help/help.h"
#include "help/topics.h"
#include "output/out.h"
#include "output/progress.h"
#include "parse.h"
#include "store/choose.h"

static int print_version(void)
{
    out_print("seslite %s (schema %d)\n", ses_version(), SES_SCHEMA_VERSION);
    return EXIT_OK;
}

static int run_command(struct run *run, int argc, char **argv)
{
    if (argc < 2)
        return help_too_little(run);
    if (argc > 2 && strcmp(argv[1], "complete") == 0 && strcmp(argv[2], "--") == 0)
        return complete(run, argc - 3, argv + 3);
    int status = parse(run, argc, argv);
    if (status != EXIT_OK)
        return status;
    if (given(run, OPTION_VERSION))
        return print_version();
    if (given(run, OPTION_HELP))
        return wants_json(run) ? help_print_json(run, run->command) : help_print(run->manual, run->command);
    run->key = (ses_key){run->values[OPTION_APP], run->values[OPTION_USER], run->values[OPTION_SESSION]};
    if (run->command->instead)
        status = refuse_server(run);
    if (status == EXIT_OK && given(run, OPTION_KEY_FD))
        status = read_key(run, OPTION_KEY_FD, run->file_key);
    return status == EXIT_OK ? run->command->run(run) : status;
}

int main(int argc, char **argv)
{
    const struct manual manual = {command_table, command_count, topic_table, topic_count};
    struct run run = {.manual = &manual};

    (void)signal(SIGPIPE, SIG_DFL); /* a closed pipe ends the program without a message */
    (void)signal(SIGXFSZ, SIG_IGN); /* too large a file is an error, so that the unfinished file is removed */
    int status = run_command(&run, argc, argv);
    progress_end();
    int flushed = out_flush();
    ses_close(run.store);
    key_wipe(run.file_key, sizeof run.file_key);
    for (size_t i = 0; i < 3; i++)
        free(run.chosen[i]);
    return status == EXIT_OK ? flushed : status;
}
