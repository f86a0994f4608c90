/* The engine's internals. */
#ifndef SESLITE_STORAGE_MYSQL_PARTS_H
#define SESLITE_STORAGE_MYSQL_PARTS_H

#include "storage/mysql/connection/connection.h"
#include "storage/server/server.h"

struct mysql {
    struct server server;
    struct mysql_config config;
    char *uri;  /* the config's */
    char *name; /* of the server's config */
};

/* ---- append.c, watch.c: the engine's operations */

SESLITE_PRIVATE int ses__mysql_append(struct storage *storage, struct append_op *op, ses_error *error);
SESLITE_PRIVATE int ses__mysql_watch(struct storage *storage, struct watch_op *op, ses_error *error);

/* ---- schema.c */

/* The driver's function of this name. */
SESLITE_PRIVATE void ses__mysql_bring_up_to_date(struct remote *remote, const struct server_config *config);

#endif
