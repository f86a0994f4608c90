/* Places of followers, written as text that says which session or user it belongs to. */
#ifndef SESLITE_SESSION_FOLLOWER_PLACE_H
#define SESLITE_SESSION_FOLLOWER_PLACE_H

#include "storage/door.h"

/* To be freed with the allocator; NULL: out of memory. Names of what is known do not count. */
SESLITE_PRIVATE char *ses__place_write(const ses_allocator *allocator, const ses_key *key,
                                       const struct follow_known *known, size_t count);
/* INVALID when it is not a place of that session, or (a key without a session) of that user. `*places`, which are sorted
 * by session, are to be freed in any case; those of one session are one. */
SESLITE_PRIVATE int ses__place_read(const ses_allocator *allocator, const ses_key *key, const char *text,
                                    struct follow_place **places, size_t *count, ses_error *error);

#endif
