/* State keys: their scopes, their rules, and the value that removes a key. */
#ifndef SESLITE_MODEL_STATE_SCOPE_H
#define SESLITE_MODEL_STATE_SCOPE_H

#include "base/common.h"

enum scope { SCOPE_APP, SCOPE_USER, SCOPE_SESSION, SCOPE_TEMP, SCOPE_COUNT };

/* Returns the scope of a state key, by its prefix. `*key` (may be NULL) is the name without the prefix. */
SESLITE_PRIVATE enum scope ses__scope_of(struct span name, struct span *key);
/* True if several sessions share it: app or user. */
SESLITE_PRIVATE bool ses__scope_is_shared(enum scope scope);
/* The scope of the shared state of a user, or, if `user` is NULL, of an app. */
static inline enum scope ses__scope_shared_by(const char *user)
{
    return user ? SCOPE_USER : SCOPE_APP;
}
/* Returns "app:", "user:", "" or "temp:". */
SESLITE_PRIVATE struct span ses__scope_prefix(enum scope scope);
/* INVALID unless the name is valid UTF-8, has at most 512 bytes after its prefix, and no NUL. */
SESLITE_PRIVATE int ses__scope_check_name(struct span name, ses_error *error);

/* The value that removes a key: google.adk.sessions.state, and its siblings in Go and Java. */
#define TOMBSTONE "__ADK_SENTINEL_REMOVED__"
/* The same as JSON. */
#define TOMBSTONE_VALUE ((struct span){"\"" TOMBSTONE "\"", sizeof TOMBSTONE + 1})
/* A string of the same characters that removes nothing. */
#define TOMBSTONE_AS_TEXT ((struct span){"\"\\u005f_ADK_SENTINEL_REMOVED__\"", sizeof TOMBSTONE + 6})
/* True if the JSON text is the tombstone, which removes its key. */
SESLITE_PRIVATE bool ses__scope_is_tombstone(struct span value);

#endif
