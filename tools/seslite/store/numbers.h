/* Numbers of events, as --events gives them: 12,15-17. */
#ifndef STORE_NUMBERS_H
#define STORE_NUMBERS_H

#include "command.h"

/* Reads --events into `*numbers`, to be freed whatever is returned. Returns EXIT_OK, or prints what is
 * wrong. */
int numbers_given(const struct run *run, int64_t **numbers, size_t *count);

#endif
