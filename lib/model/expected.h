/* Shared keys and the values that a caller has seen: an append that was computed from them asks that they still hold. */
#ifndef SESLITE_MODEL_EXPECTED_H
#define SESLITE_MODEL_EXPECTED_H

#include "base/common.h"
#include "model/delta.h"
#include "base/memory.h"
#include "storage/door.h"

struct expected {
    struct arena arena;
    struct delta seen; /* an operation that removes a key stands for "there is none" */
};

/* `text` is a JSON object and lives as long. JSON, INVALID, LIMIT, NOMEM. To be freed in any case. */
SESLITE_PRIVATE int ses__expected_read(struct expected *expected, const ses_allocator *allocator,
                                       struct span text, ses_error *error);
SESLITE_PRIVATE void ses__expected_free(struct expected *expected);
/* The first key of which something else is stored; `*changed` without text: all is as expected. */
SESLITE_PRIVATE int ses__expected_compare(const struct expected *expected, struct db *db,
                                          const struct session_row *row, struct span *changed,
                                          ses_error *error);

#endif
