/* The help, from the tables. */
#ifndef HELP_HELP_H
#define HELP_HELP_H

#include "command.h"

/* Prints the help for a command, or the overview if it is NULL. Returns EXIT_OK. */
int help_print(const struct manual *manual, const struct command *command);
/* Prints the help for a command, or for all commands if it is NULL, as JSON. Returns the exit code. */
int help_print_json(struct run *run, const struct command *only);
/* Prints the usage on stderr if no command was given. Returns EXIT_USAGE. */
int help_too_little(const struct run *run);

#endif
