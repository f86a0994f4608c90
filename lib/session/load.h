/* Loading sessions: what a call and the import of a file share. */
#ifndef SESLITE_SESSION_LOAD_H
#define SESLITE_SESSION_LOAD_H

#include "session/store.h"

/* ses_load, within a call that has begun. */
SESLITE_PRIVATE int ses__load_session(ses_store *store, const ses_key *key, const ses_loaded *loaded,
                                      const ses_load_options *options, ses_load_result *result,
                                      ses_error *error);

#endif
