/* The man page, from the tables. */
#ifndef HELP_MAN_H
#define HELP_MAN_H

#include "command.h"

int man_print(const struct manual *manual);

#endif
