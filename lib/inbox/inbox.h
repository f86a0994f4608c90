/* A page of inputs, and the sessions whose inputs a call is about. */
#ifndef SESLITE_INBOX_INBOX_H
#define SESLITE_INBOX_INBOX_H

#include "base/memory.h"
#include "seslite_inbox.h"
#include "session/store.h"
#include "storage/sql/rows/session.h"

struct ses_inputs {
    ses_store *store;
    struct arena arena; /* of the texts */
    ses_input *items;
    size_t count;
    size_t capacity;
};

/* Checks the sessions that a call is about; `key` becomes their key, without names for a whole store. */
SESLITE_PRIVATE int ses__inbox_check(const ses_key *whose, ses_key *key, ses_error *error);
SESLITE_PRIVATE int ses__inputs_new(ses_store *store, ses_inputs **inputs, ses_error *error);
/* Fills the owner of the range. NOTFOUND, without a message, if it does not exist. */
SESLITE_PRIVATE int ses__inbox_find(struct db *db, const ses_key *key, struct inbox_range *range,
                                    ses_error *error);
/* Reads the rows into the page, in place of what it has, and ends the query. */
SESLITE_PRIVATE int ses__inputs_fill(ses_inputs *inputs, struct query *rows);

#endif
