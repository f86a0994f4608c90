/* The engine's internals: a pool of connections, opened when needed, and kept. */
#ifndef SESLITE_STORAGE_MYSQL_PARTS_H
#define SESLITE_STORAGE_MYSQL_PARTS_H

#include <pthread.h>

#include "storage/mysql/connection/connection.h"
#include "storage/sql/engine.h"

struct check;

struct mysql {
    struct storage base;
    struct mysql_config config;
    char *uri;            /* the config's */
    char *name;           /* the config's */
    pthread_mutex_t lock; /* guards everything below it */
    pthread_cond_t given_back;
    struct my *idle;
    struct my *all;
    unsigned open;         /* connections, including those being opened */
    int64_t pause_us;      /* before the next attempt to connect; 0 if the last one succeeded */
    int64_t open_after_us; /* no connection is opened before this time */
    ses_error refusal;     /* the reason why the last attempt failed */
    unsigned in_use;
    ses_stats counts;
};

/* ---- pool.c */

/* Takes a connection for a call with this deadline. Returns BUSY if all are in use until then. */
SESLITE_PRIVATE int ses__mysql_take(struct mysql *storage, const struct limits *limits, int64_t deadline_us,
                                    bool interruptible, struct my **my, ses_error *error);
/* Closes the connection if it is lost. */
SESLITE_PRIVATE void ses__mysql_give_back(struct mysql *storage, struct my *my);
SESLITE_PRIVATE void ses__mysql_close_all(struct mysql *storage);

/* ---- run.c */

SESLITE_PRIVATE int ses__mysql_run(struct storage *storage, const struct manner *manner, storage_job *job,
                                   void *context, ses_error *error);
SESLITE_PRIVATE int ses__mysql_run_delete(struct storage *storage, struct erasure *erasure, storage_job *job,
                                          void *context, ses_error *error);

/* ---- append.c, check.c, create.c, watch.c: the engine's operations */

SESLITE_PRIVATE int ses__mysql_append(struct storage *storage, struct append_op *op, ses_error *error);
SESLITE_PRIVATE int ses__mysql_create(struct storage *storage, struct create_op *op, ses_error *error);
SESLITE_PRIVATE int ses__mysql_check(struct storage *storage, struct check *check);
SESLITE_PRIVATE int ses__mysql_watch(struct storage *storage, struct watch_op *op, ses_error *error);

/* ---- schema.c */

/* Creates the schema, upgrades it, or refuses it: NOTFOUND, NOTASTORE, TOONEW, READONLY. */
SESLITE_PRIVATE int ses__mysql_migrate(struct mysql *storage, ses_error *error);
SESLITE_PRIVATE int ses__mysql_latest(void);

#endif
