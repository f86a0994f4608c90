/* The state that a session began with: that which it ended with, without what its events have written. */
#ifndef IMPORT_INITIAL_H
#define IMPORT_INITIAL_H

#include "foreign/own_state.h"
#include "import/session.h"

struct initial {
    const struct session_import *import;
    struct own_state written; /* by the events: complete before the state is made */
    struct text json;
    struct text sound; /* the final state without what is not JSON */
};

/* Sets `json`. Notes where the events do not lead to the final state. Keys that cannot be stored are refused one by one. */
int initial_make(struct initial *initial, ses_error *error);
void initial_free(struct initial *initial);

/* LIMIT: an event or a state is longer than a store takes. */
int import_check_size(const struct session_import *import, struct span json, ses_error *error);
/* INVALID: a state key cannot be stored. */
int import_check_key(struct span key, ses_error *error);

#endif
