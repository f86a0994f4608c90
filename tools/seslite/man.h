/* The man page, from the tables. */
#ifndef MAN_H
#define MAN_H

#include "command.h"

int man_print(const struct manual *manual);

#endif
