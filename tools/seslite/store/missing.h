/* Messages for the name of an app or user that does not exist. */
#ifndef STORE_MISSING_H
#define STORE_MISSING_H

#include "command.h"

/* True if the app has this user, or if this app exists when `app` is NULL. */
bool name_is_there(struct run *run, const char *app, const char *name);
/* Lists the first users of the app, or the first apps if `app` is NULL. */
void note_names(struct run *run, const char *app);
/* If --app or --user names one that does not exist, prints that and the existing ones, and returns true. */
bool say_missing(struct run *run);

#endif
