/* Finds the state that a session began with, if only the state that it ended with is known. */
#ifndef SESLITE_MODEL_STATE_INITIAL_H
#define SESLITE_MODEL_STATE_INITIAL_H

#include "base/memory.h"
#include "model/state/delta.h"

/* Adds the initial state to the buffer, as an object: the final state's own keys that no event has touched.
 * Both lists are settled. INVALID: the events do not lead to the final state. NOMEM. */
SESLITE_PRIVATE int ses__initial_find(const struct changes *final, const struct changes *touched,
                                      struct buffer *initial, ses_error *error);

#endif
