/* How far a follower has come in each session, by name. */
#ifndef SESLITE_SESSION_FOLLOWER_KNOWN_H
#define SESLITE_SESSION_FOLLOWER_KNOWN_H

#include "storage/door.h"

struct known_list {
    struct follow_known *items;
    size_t count;
    size_t capacity;
};

/* The place of the session, which is added if it is not there; NULL: out of memory. It lives until the next change. */
SESLITE_PRIVATE struct follow_place *ses__known_place(struct known_list *list, const ses_allocator *allocator,
                                                      const char *name);
/* Does nothing if it is not there. */
SESLITE_PRIVATE void ses__known_remove(struct known_list *list, const ses_allocator *allocator,
                                       const char *name);
SESLITE_PRIVATE void ses__known_free(struct known_list *list, const ses_allocator *allocator);
/* What a follower that has come to the end waits for. */
SESLITE_PRIVATE struct watched ses__known_state(const struct known_list *list, const ses_key *key);

#endif
