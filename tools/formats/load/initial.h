/* The initial state of a session: its final state without the keys that its events wrote. */
#ifndef FORMATS_LOAD_INITIAL_H
#define FORMATS_LOAD_INITIAL_H

#include "formats/formats.h"
#include "formats/json/own_state.h"

struct initial {
    const struct session_import *import;
    struct own_state written; /* by the events; complete before the initial state is built */
    struct text json;
    struct text sound; /* the final state without the members that are not JSON */
};

/* Sets `json`. Notes where the events do not lead to the final state. Keys that cannot be stored are rejected
 * one by one. */
int initial_make(struct initial *initial, ses_error *error);
void initial_free(struct initial *initial);

/* Fails with LIMIT if an event or state is too long to be stored. */
int import_check_size(const struct session_import *import, struct span json, ses_error *error);
/* Fails with INVALID if a state key cannot be stored. */
int import_check_key(struct span key, ses_error *error);

#endif
