/* The names already used for sessions of a file, so that no two sessions get the same name. */
#ifndef IMPORT_TAKEN_H
#define IMPORT_TAKEN_H

#include <stdbool.h>

#include "seslite.h"
#include "text/index.h"

/* Fails with EXISTS if another session has the name and `renames` is false. */
int taken_claim(struct index *taken, const ses_key *key, bool renames, ses_error *error);

#endif
