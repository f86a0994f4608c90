/* Brings what is derived from events up to date. */
#ifndef SESLITE_SESSION_SQL_CATCH_UP_H
#define SESLITE_SESSION_SQL_CATCH_UP_H

#include "session/store.h"
#include "storage/sql/derived/derived.h"

/* Works in transactions of about a MiB of events. */
struct catch_up {
    ses_store *store;
    struct limits limits;
    const char *what; /* the feature */
    derive_events *advance;
    int64_t app_id; /* as in struct behind */
    int64_t user_id;
    int64_t session_id;
    int (*progress)(void *context, int64_t done, int64_t total); /* NULL: none */
    void *progress_context;
    int64_t total;
    /* out */
    int64_t events; /* that were added */
};
/* Each session is brought up to its last event at the time, and none twice, so it ends whatever others append meanwhile. */
SESLITE_PRIVATE int ses__catch_up(struct catch_up *own, ses_error *error);

#endif
