/* Shared keys and the values that a caller has seen. An append that was computed from them requires that they
 * have not changed. */
#ifndef SESLITE_MODEL_STATE_EXPECTED_H
#define SESLITE_MODEL_STATE_EXPECTED_H

#include "base/common.h"
#include "model/state/delta.h"
#include "base/memory.h"

struct expected {
    struct arena arena;
    struct delta seen; /* an operation that removes a key means that the key does not exist */
};

/* To be freed. */
SESLITE_PRIVATE void ses__expected_init(struct expected *expected, const ses_allocator *allocator);
/* Adds the members of a JSON object, which must live as long. JSON, INVALID, LIMIT, NOMEM. */
SESLITE_PRIVATE int ses__expected_read(struct expected *expected, struct span text, ses_error *error);
SESLITE_PRIVATE void ses__expected_free(struct expected *expected);

#endif
