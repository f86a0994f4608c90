/* The settings of a store on a server. */
#ifndef SESLITE_STORAGE_POSTGRES_CONFIG_H
#define SESLITE_STORAGE_POSTGRES_CONFIG_H

#include "storage/door.h"

struct engine;

/* The allocator must live as long as the storage. */
struct postgres_config {
    const char *connection; /* as libpq takes it */
    const char *name;       /* the same for messages, without secrets; made by the storage */
    const char *replica;    /* a connection string, or NULL */
    bool read_only;
    bool must_exist;
    bool has_clock;  /* leases go by the caller's clock, not by the server's */
    bool unprepared; /* do not prepare statements: a pooler may give each transaction another connection */
    unsigned max_connections;
    int64_t timeout_us;
    const ses_allocator *allocator;
    const struct engine *engine; /* the storage's own */
};

/* "postgresql://host:port/database" of a connection string, to be freed with ses_free. INVALID. */
SESLITE_PRIVATE int ses__postgres_name(const char *connection, char **name, ses_error *error);

/* Copies the connection strings. */
SESLITE_PRIVATE int ses__postgres_open(const struct postgres_config *config, struct storage **storage,
                                       ses_error *error);

#endif
