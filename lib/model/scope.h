/* State keys: their scopes, their rules, and the value that removes one. */
#ifndef SESLITE_MODEL_SCOPE_H
#define SESLITE_MODEL_SCOPE_H

#include "base/common.h"

enum scope { SCOPE_APP, SCOPE_USER, SCOPE_SESSION, SCOPE_TEMP, SCOPE_COUNT };

/* The scope of a state key, by its prefix; `*key` (may be NULL) is what follows the prefix. */
SESLITE_PRIVATE enum scope ses__scope_of(struct span name, struct span *key);
/* Does it belong to several sessions: app or user? */
SESLITE_PRIVATE bool ses__scope_is_shared(enum scope scope);
/* "app:", "user:", "", "temp:". */
SESLITE_PRIVATE struct span ses__scope_prefix(enum scope scope);
/* INVALID when the name breaks a rule: valid UTF-8, at most 512 bytes after its prefix, no NUL. */
SESLITE_PRIVATE int ses__scope_check_name(struct span name, ses_error *error);

/* The value that removes a key: google.adk.sessions.state, and its siblings in Go and Java. */
#define TOMBSTONE "__ADK_SENTINEL_REMOVED__"
/* Is the JSON text the tombstone, which removes the key it is the value of? */
SESLITE_PRIVATE bool ses__scope_is_tombstone(struct span value);

#endif
