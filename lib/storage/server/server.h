/* The part that engines on a server share: a pool of connections, opened when needed and kept, and the
 * running of jobs. */
#ifndef SESLITE_STORAGE_SERVER_SERVER_H
#define SESLITE_STORAGE_SERVER_SERVER_H

#include <pthread.h>

#include "storage/server/remote.h"

/* An engine's storage begins with this one. */
struct server {
    struct storage base;
    struct server_config config;
    pthread_mutex_t lock; /* guards everything below it */
    pthread_cond_t given_back;
    struct remote *idle;
    struct remote *all;
    unsigned open;         /* connections, including those being opened or leaving */
    unsigned leaving;      /* of these: given up, but the server may still work for them */
    int64_t pause_us;      /* before the next attempt to connect; 0 if the last one succeeded */
    int64_t open_after_us; /* no connection is opened before this time */
    ses_error refusal;     /* the reason why the last attempt failed */
    unsigned in_use;
    ses_stats counts;
};

/* Nothing is connected yet. Returns false if there is no lock to be had. */
SESLITE_PRIVATE bool ses__server_init(struct server *server, const struct server_config *config);
/* Closes all connections. */
SESLITE_PRIVATE void ses__server_close(struct storage *storage);
/* After it was closed. The caller frees its own part, and the struct. */
SESLITE_PRIVATE void ses__server_free(struct server *server);
SESLITE_PRIVATE void ses__server_interrupt(struct storage *storage);
/* Adds its counts. */
SESLITE_PRIVATE void ses__server_count(struct server *server, ses_stats *counts);

/* Takes a connection for a call with this deadline. Returns BUSY if all are in use until then. */
SESLITE_PRIVATE int ses__server_take(struct server *server, const struct limits *limits, int64_t deadline_us,
                                     bool interruptible, struct remote **remote, ses_error *error);
/* Closes the connection if it is lost. */
SESLITE_PRIVATE void ses__server_give_back(struct server *server, struct remote *remote);

/* ---- run.c */

SESLITE_PRIVATE int ses__server_run(struct storage *storage, const struct manner *manner, storage_job *job,
                                    void *context, ses_error *error);

/* Refuses a schema version that cannot be opened (0: there is no store yet): NOTASTORE, TOONEW, NOTFOUND,
 * READONLY. */
SESLITE_PRIVATE int ses__server_check_version(const struct server_config *config, int version,
                                              ses_error *error);
/* Creates the schema, upgrades it, or refuses it, on a connection of the pool. */
SESLITE_PRIVATE int ses__server_migrate(struct server *server, ses_error *error);

/* The engine's operations of these names, where a server has little to do. */
SESLITE_PRIVATE void ses__server_describe(const struct storage *storage, ses_info *info);
SESLITE_PRIVATE int ses__server_run_delete(struct storage *storage, struct erasure *erasure, storage_job *job,
                                           void *context, ses_error *error);
SESLITE_PRIVATE int ses__server_maintain(struct storage *storage, struct maintain_op *op, ses_error *error);
SESLITE_PRIVATE int ses__server_space(struct storage *storage, struct space_op *op, ses_error *error);

#endif
