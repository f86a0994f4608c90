/* Loads sessions, for ses_load and for the import of a file. */
#ifndef SESLITE_SESSION_TRANSFER_LOAD_H
#define SESLITE_SESSION_TRANSFER_LOAD_H

#include "session/store.h"

/* Works like ses_load, within a call that has begun. */
SESLITE_PRIVATE int ses__load_session(ses_store *store, const ses_key *key, const ses_loaded *loaded,
                                      const ses_load_options *options, ses_load_result *result,
                                      ses_error *error);

#endif
