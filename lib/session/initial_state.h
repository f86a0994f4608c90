/* The state that a session is created with. */
#ifndef SESLITE_SESSION_INITIAL_STATE_H
#define SESLITE_SESSION_INITIAL_STATE_H

#include "model/state/delta.h"
#include "session/store.h"

/* An initial state, read and ready to be stored. */
struct initial_state {
    struct changes changes;
    struct edits edits;
    struct span stored; /* without temp: keys; no text when it is empty */
};

/* To be freed. */
SESLITE_PRIVATE void ses__initial_state_init(struct initial_state *initial, const ses_store *store);
SESLITE_PRIVATE void ses__initial_state_free(struct initial_state *initial);
/* The text must live as long. JSON, INVALID, LIMIT, NOMEM. */
SESLITE_PRIVATE int ses__initial_state_read(struct initial_state *initial, struct span text,
                                            ses_error *error);

#endif
