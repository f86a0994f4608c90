/* How a server is reached. */
#ifndef SESLITE_STORAGE_POSTGRES_CONFIG_H
#define SESLITE_STORAGE_POSTGRES_CONFIG_H

#include "storage/door.h"

struct hints;

/* The name and the allocator must live as long as the storage. */
struct postgres_config {
    const char *connection; /* as libpq takes it */
    const char *name;       /* the same for messages, without secrets */
    const char *replica;    /* a connection string; NULL: none */
    bool read_only;
    bool must_exist;
    bool has_clock;  /* the caller has given one: leases go by it, not by the server's */
    bool unprepared; /* statements are not prepared: a pooler may give each transaction another connection */
    unsigned max_connections;
    int64_t timeout_us;
    const ses_allocator *allocator;
    struct hints *hints; /* the storage's own */
};

/* "postgresql://host:port/database" of a connection string, to be freed with ses_free. INVALID. */
SESLITE_PRIVATE int ses__postgres_name(const char *connection, char **name, ses_error *error);

/* The connection strings are copied. */
SESLITE_PRIVATE int ses__postgres_open(const struct postgres_config *config, struct storage **storage,
                                       ses_error *error);

#endif
