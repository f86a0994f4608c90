/* The engine's own view of itself: a pool of connections, opened when they are needed, and kept. */
#ifndef SESLITE_STORAGE_POSTGRES_PARTS_H
#define SESLITE_STORAGE_POSTGRES_PARTS_H

#include <pthread.h>

#include "storage/postgres/connection.h"
#include "storage/postgres/hints.h"
#include "storage/sql/run.h"

struct postgres {
    struct sql_storage base;
    struct postgres_config config;
    char *connection;         /* the config's */
    struct postgres *replica; /* that some reads go to; NULL: none */
    char *replica_name;       /* of its config */
    atomic_bool looked_at;    /* a replica's own: it has a store that can be read */
    atomic_size_t host;   /* that was connected to last: after a failover the others need not find it again */
    pthread_mutex_t lock; /* guards everything below it */
    pthread_cond_t given_back;
    struct pg *idle;
    struct pg *all;
    struct pg_leaving *leaving; /* connections that were given up, and whose processes may still be there */
    unsigned open;              /* or being opened, or leaving */
    int64_t pause_us;           /* after a connection that could not be opened; 0: the last one could */
    int64_t open_after_us;      /* none is opened before */
    ses_error refusal;          /* why that could not */
    unsigned in_use;
    ses_stats counts;
    struct hints hints; /* has a lock of its own */
};

/* ---- pool.c */

/* A connection for a call that ends at the deadline. BUSY: all are in use for that long. */
SESLITE_PRIVATE int ses__pool_take(struct postgres *storage, int64_t deadline_us, bool interruptible,
                                   struct pg **pg, ses_error *error);
/* One that is lost is closed. */
SESLITE_PRIVATE void ses__pool_give_back(struct postgres *storage, struct pg *pg);
SESLITE_PRIVATE void ses__pool_close(struct postgres *storage);

/* ---- run.c */

extern SESLITE_PRIVATE const struct sql_runner ses__postgres_runner;

/* ---- schema.c */

/* Makes the schema, or brings it up to date, or refuses it: NOTFOUND, NOTASTORE, TOONEW, READONLY. */
SESLITE_PRIVATE int ses__postgres_migrate(struct postgres *storage, ses_error *error);
SESLITE_PRIVATE int ses__postgres_latest(void);

#endif
