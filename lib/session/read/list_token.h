/* Page tokens of lists: a place in the order, written as text that says which list it belongs to. */
#ifndef SESLITE_SESSION_READ_LIST_TOKEN_H
#define SESLITE_SESSION_READ_LIST_TOKEN_H

#include "base/memory.h"
#include "storage/door.h"

/* The list that a token belongs to. */
struct list_identity {
    const char *app;
    const char *user; /* NULL: all users */
    int order;
    const struct list_filter *filter;
};

/* NULL: out of memory. */
SESLITE_PRIVATE char *ses__list_token_write(const struct list_identity *identity,
                                            const struct list_place *place, struct arena *arena);
/* INVALID: it is not a token of this list. The place's name is in the arena. */
SESLITE_PRIVATE int ses__list_token_read(const struct list_identity *identity, const char *token,
                                         struct arena *arena, struct list_place *place, ses_error *error);

#endif
