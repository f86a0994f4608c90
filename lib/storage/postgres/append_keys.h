/* The keys of an append. */
#ifndef SESLITE_STORAGE_POSTGRES_APPEND_KEYS_H
#define SESLITE_STORAGE_POSTGRES_APPEND_KEYS_H

#include "storage/sql/query.h"

/* Sets and removes the keys of the events: each once, as the last event leaves it. The first event has the number after
 * `before` further ones. */
SESLITE_PRIVATE int ses__append_keys(struct db *db, const struct session_row *row, const struct append_op *op,
                                     int64_t before, ses_error *error);

#endif
