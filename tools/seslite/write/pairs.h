/* Options of the form KEY=JSON. */
#ifndef WRITE_PAIRS_H
#define WRITE_PAIRS_H

#include "command.h"
#include "text/text.h"

/* Adds all values of the option as one JSON object, or nothing if it was not given. The JSON keeps its bytes.
 * Returns EXIT_OK, or prints which value is wrong. Needs an open store. */
int pairs_given(struct run *run, enum option_id option, struct text *object);

#endif
