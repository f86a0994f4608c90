/* Chooses the store, app, user and session: the given one, or the only one that matches. */
#ifndef STORE_CHOOSE_H
#define STORE_CHOOSE_H

#include "command.h"

/* As ses_open and its like. A store of an older version is upgraded first, and that is printed, if it may be
 * written to and --no-upgrade is not given. Otherwise its error says how to upgrade it. */
int open_place(const struct run *run, const char *path, const ses_open_options *options, ses_store **store,
               ses_error *error);
/* Open the store read-only, or also for writing. It must exist. Return EXIT_OK, or print the error. */
int open_to_read(struct run *run);
int open_to_write(struct run *run);
/* Opens it read-only; for a search for words, which brings their index up to date, also for writing if it may
 * be written and needs no upgrade. */
int open_to_search(struct run *run);
/* Adds the key of --key-fd, and what --linked allows. */
void give_access(const struct run *run, ses_open_options *options);
/* Reads the key that --key-fd, or another option, names. Returns EXIT_OK, or prints what is wrong. */
int read_key(struct run *run, enum option_id option, unsigned char key[SES_KEY_BYTES]);
/* Opens the store for writing and creates it if it does not exist. If `dry`, never creates it: a store in
 * memory is opened in its place. */
int open_or_create(struct run *run, bool dry);
/* Creates the store in whose place one in memory is open, if one is. Returns a code of the library. */
int create_in_place(struct run *run);
/* The file or address as given. If none was given, prints that and returns NULL. */
const char *place_given(const struct run *run);
/* True if the store is on a server. */
bool is_on_server(const struct run *run);
/* For a command that is only for files. Returns EXIT_OK, or prints what to do instead on a server. */
int refuse_server(struct run *run);
/* True if the path leads to the store itself or to one of SQLite's files next to it, even one that does not
 * exist at this moment. */
bool is_of_store(const struct run *run, const char *path);

/* Set run->key. Return EXIT_OK, or print the choices or the nearest name. */
int choose_session(struct run *run);
int choose_user(struct run *run); /* the app and the user */
int choose_app(struct run *run);

/* Calls `visit` for the name of each user of `app`, or of each app if `app` is NULL, in order, until it
 * returns something other than EXIT_OK. */
typedef int visit_name(void *context, const char *name);
int each_name(struct run *run, const char *app, visit_name *visit, void *context);

/* Open the store and choose the session. */
int open_session_to_read(struct run *run);
int open_session_to_write(struct run *run);

#endif
