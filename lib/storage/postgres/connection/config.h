/* The settings of a store on a server. */
#ifndef SESLITE_STORAGE_POSTGRES_CONFIG_H
#define SESLITE_STORAGE_POSTGRES_CONFIG_H

#include "storage/server/remote.h"

struct postgres_config {
    const char *connection; /* as libpq takes it */
    const char *replica;    /* a connection string, or NULL */
    bool unprepared; /* do not prepare statements: a pooler may give each transaction another connection */
};

/* "postgresql://host:port/database" of a connection string, to be freed with ses_free. INVALID. */
SESLITE_PRIVATE int ses__postgres_name(const char *connection, char **name, ses_error *error);

/* Copies the connection strings, and sets the name, the engine and the driver of the common part. */
SESLITE_PRIVATE int ses__postgres_open(const struct server_config *common,
                                       const struct postgres_config *config, struct storage **storage,
                                       ses_error *error);

#endif
