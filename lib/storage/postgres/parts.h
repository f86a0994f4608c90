/* The engine's internals. */
#ifndef SESLITE_STORAGE_POSTGRES_PARTS_H
#define SESLITE_STORAGE_POSTGRES_PARTS_H

#include "storage/postgres/connection/connection.h"
#include "storage/server/server.h"

struct postgres {
    struct server server;
    struct postgres_config config;
    char *connection;         /* the config's */
    char *name;               /* of the server's config */
    struct postgres *replica; /* for some reads; NULL: none */
    atomic_bool looked_at;    /* for a replica: it has a store that can be read */
    /* The number of the host that was connected to last: after a failover only one call has to find the new
     * one. */
    atomic_size_t host;
    struct pg_leaving *leaving; /* under the server's lock */
};

/* ---- append.c, watch.c: the engine's operations */

SESLITE_PRIVATE int ses__postgres_append(struct storage *storage, struct append_op *op, ses_error *error);
SESLITE_PRIVATE int ses__postgres_watch(struct storage *storage, struct watch_op *op, ses_error *error);

/* ---- schema.c */

/* The driver's function of this name. */
SESLITE_PRIVATE void ses__postgres_bring_up_to_date(struct remote *remote,
                                                    const struct server_config *config);

#endif
