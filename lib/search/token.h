/* The token of a page of hits: where it ended. */
#ifndef SESLITE_SEARCH_TOKEN_H
#define SESLITE_SEARCH_TOKEN_H

#include "base/memory.h"

struct search_place {
    const char *user;
    const char *session; /* NULL: there is none */
    int64_t seq;
    const char *list; /* the token of the list that has this session; "": it is the first */
};

/* Returns NULL if out of memory. */
SESLITE_PRIVATE char *ses__search_token_make(struct arena *arena, const struct search_place *place);
/* INVALID: the text is no token. The place is in the arena. */
SESLITE_PRIVATE int ses__search_token_read(struct arena *arena, const char *token, struct search_place *place,
                                           ses_error *error);

#endif
