/* The engine's internals: a pool of connections, opened when needed, and kept. */
#ifndef SESLITE_STORAGE_POSTGRES_PARTS_H
#define SESLITE_STORAGE_POSTGRES_PARTS_H

#include <pthread.h>

#include "storage/postgres/connection/connection.h"
#include "storage/sql/engine.h"

struct check;

struct postgres {
    struct storage base;
    struct postgres_config config;
    char *connection;         /* the config's */
    char *name;               /* the config's */
    struct postgres *replica; /* for some reads; NULL: none */
    atomic_bool looked_at;    /* for a replica: it has a store that can be read */
    /* The number of the host that was connected to last: after a failover only one call has to find the new one. */
    atomic_size_t host;
    pthread_mutex_t lock; /* guards everything below it */
    pthread_cond_t given_back;
    struct pg *idle;
    struct pg *all;
    struct pg_leaving *leaving; /* given up, but their server processes may still run */
    unsigned open;              /* connections, including those being opened or leaving */
    int64_t pause_us;           /* before the next attempt to connect; 0 if the last one succeeded */
    int64_t open_after_us;      /* no connection is opened before this time */
    ses_error refusal;          /* the reason why the last attempt failed */
    unsigned in_use;
    ses_stats counts;
};

/* ---- pool.c */

/* Takes a connection for a call with this deadline. Returns BUSY if all are in use until then. */
SESLITE_PRIVATE int ses__pool_take(struct postgres *storage, const struct limits *limits, int64_t deadline_us,
                                   bool interruptible, struct pg **pg, ses_error *error);
/* Closes the connection if it is lost. */
SESLITE_PRIVATE void ses__pool_give_back(struct postgres *storage, struct pg *pg);
SESLITE_PRIVATE void ses__pool_close(struct postgres *storage);

/* ---- run.c */

SESLITE_PRIVATE int ses__postgres_run(struct storage *storage, const struct manner *manner, storage_job *job,
                                      void *context, ses_error *error);
SESLITE_PRIVATE int ses__postgres_run_delete(struct storage *storage, struct erasure *erasure,
                                             storage_job *job, void *context, ses_error *error);

/* ---- append.c, check.c, create.c, watch.c: the engine's operations */

SESLITE_PRIVATE int ses__postgres_append(struct storage *storage, struct append_op *op, ses_error *error);
SESLITE_PRIVATE int ses__postgres_create(struct storage *storage, struct create_op *op, ses_error *error);

SESLITE_PRIVATE int ses__postgres_check(struct storage *storage, struct check *check);
SESLITE_PRIVATE int ses__postgres_watch(struct storage *storage, struct watch_op *op, ses_error *error);

/* ---- schema.c */

/* Creates the schema, upgrades it, or refuses it: NOTFOUND, NOTASTORE, TOONEW, READONLY. */
SESLITE_PRIVATE int ses__postgres_migrate(struct postgres *storage, ses_error *error);
SESLITE_PRIVATE int ses__postgres_latest(void);

#endif
