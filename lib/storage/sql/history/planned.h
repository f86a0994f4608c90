/*
 * Operations that read a whole log before they write. They plan in a read transaction, while others write,
 * and write only if the session has not changed since. Otherwise they plan again, and the last time inside
 * the write transaction, so that they always end.
 */
#ifndef SESLITE_STORAGE_SQL_HISTORY_PLANNED_H
#define SESLITE_STORAGE_SQL_HISTORY_PLANNED_H

#include "storage/door.h"

struct db;

struct planned {
    const struct session_ref *session;
    /* Plans for the session, which is `row`, from the start. A code other than SES_OK is the result of the whole. */
    int (*plan)(struct db *db, void *context, const struct session_row *row, ses_error *error);
    /* Brings the plan up to date; `*fits` is false where that takes another look at the log. NULL: it only fits a
     * session that has not changed. */
    int (*update)(struct db *db, void *context, const struct session_row *row, bool *fits, ses_error *error);
    /* Does what was planned. */
    int (*write)(struct db *db, void *context, const struct session_row *row, ses_error *error);
    void *context;
    size_t bytes;            /* about how much it writes */
    struct erasure *erasure; /* NULL: it does not delete */
};

SESLITE_PRIVATE int ses__run_planned(struct storage *storage, const struct planned *planned,
                                     ses_error *error);

#endif
