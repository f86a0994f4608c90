/* Brings what is derived from events up to date. */
#ifndef SESLITE_SESSION_SQL_CATCH_UP_H
#define SESLITE_SESSION_SQL_CATCH_UP_H

#include "session/store.h"
#include "storage/sql/derived/derived.h"

/* Works in transactions of about a MiB of events. */
struct catch_up {
    ses_store *store;
    struct limits limits;
    const struct derived_feature *feature;
    int64_t app_id; /* as in struct behind */
    int64_t user_id;
    int64_t session_id;
    int (*progress)(void *context, int64_t done, int64_t total); /* NULL: none */
    void *progress_context;
    int64_t total;
    /* out */
    int64_t events;  /* that were added */
    bool is_damaged; /* after CORRUPT: the feature itself may be */
};
/* Brings each session up to its last event at the time, and none twice, so that it ends even if others append
 * in the meantime. It also ends when another connection drops the feature. */
SESLITE_PRIVATE int ses__catch_up(struct catch_up *own, ses_error *error);

enum keeping { KEEP_REBUILD = 1, KEEP_DROP = 2 };
/* Makes the feature and brings it up to date; with flags (KEEP_*) makes it anew, or drops it. It works
 * whatever is damaged in the feature. Sets `total`, too. */
SESLITE_PRIVATE int ses__feature_keep(struct catch_up *own, unsigned flags, ses_error *error);

#endif
