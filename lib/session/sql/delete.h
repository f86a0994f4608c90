/* The options of calls that delete. */
#ifndef SESLITE_SESSION_SQL_DELETE_H
#define SESLITE_SESSION_SQL_DELETE_H

#include "session/store.h"

/* Checks the options, and fills the erasure from them. `own->erased` is the receipt, for ses__receipt_end. */
SESLITE_PRIVATE int ses__delete_options_take(ses_store *store, const ses_delete_options *given,
                                             ses_delete_options *own, struct erasure *erasure,
                                             ses_error *error);

#endif
