/* What jobs ask, so that it can be sent ahead. */
#ifndef SESLITE_STORAGE_POSTGRES_ANNOUNCE_H
#define SESLITE_STORAGE_POSTGRES_ANNOUNCE_H

#include "storage/sql/run.h"

/* A way to send a whole transaction, with its commit, before the job runs; which then finds what came of it. */
struct whole {
    bool (*fits)(const void *context); /* NULL: always */
    void (*announce)(struct db *db, const void *context);
    bool stores; /* what it announces; else it only looks whether there is anything to be stored */
};

/* What is sent ahead for a job. A transaction that fails by what it guards, or by a row that is there already, has changed
 * nothing, nor has one that only looked, and did not see enough; then the next way is tried, and at last the job asks by
 * itself. */
struct announcement {
    storage_job *job;
    struct whole whole[2];
    /* For a job that is run again although it may have been committed: before, so that it looks for all that it stores; and
     * after, since what is there already is its own. NULL: it is not run again. */
    void (*doubt)(void *context);
    void (*claim)(void *context);
};

/* NULL: nothing. */
SESLITE_PRIVATE const struct announcement *ses__announcement_of(storage_job *job);

#endif
