/* A follower's progress in each session, by name. */
#ifndef SESLITE_SESSION_FOLLOW_FOLLOWER_KNOWN_H
#define SESLITE_SESSION_FOLLOW_FOLLOWER_KNOWN_H

#include "storage/door.h"

struct known_list {
    struct follow_known *items;
    size_t count;
    size_t capacity;
};

/* Returns the place of the session, and adds it if it is missing. NULL: out of memory. The place lives until
 * the next change. */
SESLITE_PRIVATE struct follow_place *ses__known_place(struct known_list *list, const ses_allocator *allocator,
                                                      const char *name);
/* Removes the place of the session, if there is one. */
SESLITE_PRIVATE void ses__known_remove(struct known_list *list, const ses_allocator *allocator,
                                       const char *name);
SESLITE_PRIVATE void ses__known_free(struct known_list *list, const ses_allocator *allocator);
/* Returns the state that a follower at the end waits to see change. */
SESLITE_PRIVATE struct watched ses__known_state(const struct known_list *list, const ses_key *key);

#endif
