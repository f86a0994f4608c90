/* The announcements of jobs: which queries to send ahead. */
#ifndef SESLITE_STORAGE_POSTGRES_ANNOUNCE_H
#define SESLITE_STORAGE_POSTGRES_ANNOUNCE_H

#include "storage/sql/engine.h"

/* A job that only reads, whose transaction is sent ahead. If it does not see enough, it sends its queries itself. */
struct announcement {
    storage_job *job;
    void (*announce)(struct db *db, const void *context);
};

/* NULL if nothing is announced for the job. */
SESLITE_PRIVATE const struct announcement *ses__announcement_of(storage_job *job);

#endif
