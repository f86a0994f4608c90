/* Completions for shells, from the tables. They run seslite itself to list the names of apps, users and
 * sessions. */
#ifndef COMPLETE_H
#define COMPLETE_H

#include "command.h"

int complete_bash(const struct manual *manual);
int complete_zsh(const struct manual *manual);
int complete_fish(const struct manual *manual);

/* The argument of `seslite list --names` that lists values of this kind: apps, users or sessions; otherwise
 * NULL. */
const char *complete_names(enum kind kind);

#endif
