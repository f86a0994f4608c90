/* Completions for shells, from the tables. Names of apps, users and sessions are asked of seslite itself. */
#ifndef COMPLETE_H
#define COMPLETE_H

#include "command.h"

int complete_bash(const struct manual *manual);
int complete_zsh(const struct manual *manual);
int complete_fish(const struct manual *manual);

/* What `seslite list --names` is to be asked for values of this kind: apps, users, sessions. NULL: nothing. */
const char *complete_names(enum kind kind);

#endif
