/* A follower: how far it has come, and the page that it has read. */
#ifndef SESLITE_SESSION_FOLLOWER_H
#define SESLITE_SESSION_FOLLOWER_H

#include "session/follower_known.h"
#include "session/followers.h"

struct ses_follower {
    ses_store *store;
    struct arena names; /* of the key */
    ses_key key;
    struct listener listener;
    struct known_list known; /* as of what was given */
    /* The page: what was read, and how much of it was given. */
    struct follow_op op;
    struct arena arena;
    struct event_list events;
    char after[SES_ID_MAX + 1]; /* of a user's sessions: where the next page begins */
    size_t item;
    size_t event;         /* of the page ... */
    size_t event_of_item; /* ... and of the item */
    bool at_end;          /* when the page was read, there was no more than it holds */
    bool is_lost;         /* the place that was gone on from led nowhere, which was not told yet */
    bool is_deleted;
    const char *session; /* of what was given last */
    char *place;         /* that was returned last; if it is lost, the one that was given */
};

/* Reads the next page, or the first. */
SESLITE_PRIVATE int ses__follower_read(ses_follower *follower, ses_error *error);

#endif
