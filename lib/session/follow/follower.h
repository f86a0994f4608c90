/* A follower: its progress, and the page that it has read. */
#ifndef SESLITE_SESSION_FOLLOW_FOLLOWER_H
#define SESLITE_SESSION_FOLLOW_FOLLOWER_H

#include "session/followers.h"

/* A follower's progress in each session, by name, or for an app and the store by number, without names. */
struct known_list {
    struct follow_known *items;
    size_t count;
    size_t capacity;
};

struct ses_follower {
    ses_store *store;
    int64_t timeout_ms; /* of a read, as is the next */
    ses_cancel *cancel;
    struct arena names; /* holds the key */
    ses_key key;
    struct listener listener;
    struct known_list known; /* up to the last event that was given */
    ses_key current;         /* of the last result */
    /* The page: the items read, and how much of them was given. */
    struct follow_op op;
    struct arena arena;
    struct event_list events;
    char after[SES_ID_MAX + 1]; /* for a user's sessions: where the next page begins */
    size_t item;
    size_t event;         /* the next event in the page ... */
    size_t event_of_item; /* ... and in its item */
    bool at_end;          /* the page held everything when it was read */
    bool is_whole;        /* lacks only events that the listener is notified of */
    int64_t whole_us;     /* when all of the user's sessions were last read, or seen to be unchanged */
    /* The next three are of an app or the store. */
    bool is_stale;                      /* sessions that are not recent may have changed */
    bool is_unsettled;                  /* notifications were not all followed */
    int64_t due_us;                     /* all may be looked at again from then on */
    struct notifications notifications; /* since the last look */
    bool is_lost; /* the given place is not valid any more, and this was not reported yet */
    bool is_deleted;
    char *place; /* the last one returned; if it is lost, the given one */
};

/* ---- follower_place.c */

/* Returns the place of the session, and adds it if it is missing. NULL: out of memory. The place lives until
 * the next change. */
SESLITE_PRIVATE struct follow_place *ses__known_place(struct known_list *list, const ses_allocator *allocator,
                                                      const char *name, int64_t id);
/* Removes the place of the session, if there is one. */
SESLITE_PRIVATE void ses__known_remove(struct known_list *list, const ses_allocator *allocator,
                                       const char *name, int64_t id);
SESLITE_PRIVATE void ses__known_free(struct known_list *list, const ses_allocator *allocator);
/* Returns the state that a follower at the end waits to see change. */
SESLITE_PRIVATE struct watched ses__known_state(const struct known_list *list, const ses_key *key);

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
