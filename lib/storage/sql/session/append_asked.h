/* What an append asks for ahead, on an engine that is far away. */
#ifndef SESLITE_STORAGE_SQL_SESSION_APPEND_ASKED_H
#define SESLITE_STORAGE_SQL_SESSION_APPEND_ASKED_H

#include "storage/sql/rows/event.h"
#include "storage/sql/rows/session.h"
#include "storage/sql/rows/state.h"

/* The event of a draft's id. */
struct stored_event_asked {
    bool taken;             /* the answer is `seq` */
    struct event_rows rows; /* empty if it was not asked for, or was taken */
    int64_t seq;
};

/* What an append needs besides the session's row, all of which is asked for at once where that saves waiting. */
struct append_asked {
    struct query lease;
    struct query *expected;             /* for each key that was seen */
    struct stored_event_asked *stored;  /* for each draft */
    struct event_rows missed;           /* what the handle lacks */
    struct query scopes[SCOPE_SESSION]; /* those that other sessions share, if nothing is to be stored */
};

/* An id that was made for this call can only be there if the call has been run before. */
static inline bool ses__append_can_be_stored(const struct append_op *op, const struct event_draft *draft)
{
    return draft->has_id || op->may_be_stored;
}

/* ---- append.c */
/* When the session is found: checks what the caller has seen, and stores. */
SESLITE_PRIVATE int ses__append_check_and_store(struct append_op *op, struct db *db, ses_error *error);

#endif
