/* Places of followers, written as text that says which session or user it belongs to. */
#ifndef SESLITE_SESSION_FOLLOW_FOLLOWER_PLACE_H
#define SESLITE_SESSION_FOLLOW_FOLLOWER_PLACE_H

#include "storage/door.h"

/* Writes a place, to be freed with the allocator. NULL: out of memory. The names in `known` are not used. */
SESLITE_PRIVATE char *ses__place_write(const ses_allocator *allocator, const ses_key *key,
                                       const struct follow_known *known, size_t count);
/* Reads a place. INVALID: it is not a place of that session, or (for a key without a session) of that user.
 * `*places` are sorted by session and must be freed in any case; for one session there is one. */
SESLITE_PRIVATE int ses__place_read(const ses_allocator *allocator, const ses_key *key, const char *text,
                                    struct follow_place **places, size_t *count, ses_error *error);
/* Finds the place in the same session among places that are sorted so. NULL: there is none. */
SESLITE_PRIVATE const struct follow_place *ses__place_find(const struct follow_place *places, size_t count,
                                                           const struct follow_place *place);

#endif
