/* The table of commands: commands.c. */
#ifndef COMMANDS_TABLE_H
#define COMMANDS_TABLE_H

#include "command.h"

extern const struct command command_table[];
extern const size_t command_count;

#endif
