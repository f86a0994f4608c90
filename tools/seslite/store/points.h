/* Points of a log as written on the command line: see topics.c. */
#ifndef STORE_POINTS_H
#define STORE_POINTS_H

#include "command.h"

/* Reads the value of an option of kind POINT. The default is now. */
void point_given(const struct run *run, enum option_id option, ses_point *point);

#endif
