/* The help, from the tables. */
#ifndef HELP_H
#define HELP_H

#include "command.h"

/* Prints the help of a command, or of all if it is NULL. Gives EXIT_OK. */
int help_print(const struct manual *manual, const struct command *command);
/* The same as JSON: a command, or all if it is NULL. Gives the exit code. */
int help_print_json(struct run *run, const struct command *only);
/* For who gives no command at all: how to use it, on stderr. Gives EXIT_USAGE. */
int help_too_little(const struct run *run);

#endif
