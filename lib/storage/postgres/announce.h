/* The announcements of jobs: which queries to send ahead. */
#ifndef SESLITE_STORAGE_POSTGRES_ANNOUNCE_H
#define SESLITE_STORAGE_POSTGRES_ANNOUNCE_H

#include "storage/sql/engine.h"

/* A way to send a whole transaction, with its commit, before the job runs and reads the answers. */
struct whole {
    bool (*fits)(const void *context); /* NULL: always */
    void (*announce)(struct db *db, const void *context);
    bool stores; /* false: it only looks whether there is anything to store */
};

/* The ways to send a job's transaction ahead, in the order in which they are tried. A transaction changes nothing if its
 * guard fails, if a row already exists, or if it only looked and did not see enough. Then the next way is tried; after
 * the last one, the job sends its queries itself. */
struct announcement {
    storage_job *job;
    struct whole whole[2];
    /* For a job that is run again although it may have been committed. `doubt` is called before, so that the job looks
     * for everything it stores; `claim` after, since any of it that exists was stored by this job. NULL if the job must
     * not run again. */
    void (*doubt)(void *context);
    void (*claim)(void *context);
};

/* NULL if nothing is announced for the job. */
SESLITE_PRIVATE const struct announcement *ses__announcement_of(storage_job *job);

#endif
