/* Which store, app, user and session is meant: what was given, or the only one that there is. */
#ifndef CHOOSE_H
#define CHOOSE_H

#include "command.h"

/* Open the store: for reading only, or for writing too. It must exist. EXIT_OK, or why not was said. */
int open_to_read(struct run *run);
int open_to_write(struct run *run);
/* The same, but the store is made if it does not exist; or, when nothing is to be written, one in memory stands for it. */
int open_to_import(struct run *run, bool dry);
/* The file or the address as it was given; NULL after it was said that none was. */
const char *place_given(const struct run *run);
/* Is the store on a server? */
bool is_on_server(const struct run *run);
/* For a command that is only for files: EXIT_OK, or it was said what to do instead. */
int refuse_server(struct run *run);
/* Is it the store itself, or a file that SQLite has beside it, by whatever name? */
bool is_of_store(const struct run *run, const char *path);

/* They set run->key. EXIT_OK, or it was said what there is to choose from, or what may be meant. */
int choose_session(struct run *run);
int choose_user(struct run *run); /* the app and the user */
int choose_app(struct run *run);

/* Calls `visit` for each name, in order, until it gives something else than EXIT_OK; of the users of `app`, or of the apps if
 * that is NULL. */
typedef int visit_name(void *context, const char *name);
int each_name(struct run *run, const char *app, visit_name *visit, void *context);

/* Opens the store to read, and chooses the session. */
int open_session_to_read(struct run *run);
int open_session_to_write(struct run *run);

#endif
