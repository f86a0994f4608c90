/* Which sessions of an app or a user a caller asks for. */
#ifndef SESLITE_SESSION_READ_FILTER_H
#define SESLITE_SESSION_READ_FILTER_H

#include "storage/door.h"

/* `given` NULL: all sessions. `app`, `user` NULL: those of all apps, of all users. The texts stay the
 * caller's. INVALID, MISUSE. */
SESLITE_PRIVATE int ses__filter_take(const ses_filter *given, const char *app, const char *user,
                                     struct list_filter *filter, ses_error *error);
/* Adds it to the hash of all that a token must agree with. */
SESLITE_PRIVATE uint32_t ses__filter_hash(uint32_t hash, const struct list_filter *filter);
/* The same for a text. One that is not set adds nothing; one that is set begins with a letter for its
 * kind. */
SESLITE_PRIVATE uint32_t ses__filter_add_text(uint32_t hash, char kind, const char *text);

#endif
