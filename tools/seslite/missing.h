/* For somebody who names an app or a user that does not exist. */
#ifndef MISSING_H
#define MISSING_H

#include "command.h"

/* Is there this user of the app, or this app if `app` is NULL? */
bool name_is_there(struct run *run, const char *app, const char *name);
/* Says which users the app has, or which apps there are if `app` is NULL: the first of them. */
void note_names(struct run *run, const char *app);
/* If --app or --user names one that does not exist, says so and which there are, and returns true. */
bool say_missing(struct run *run);

#endif
