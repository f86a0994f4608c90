/* The hosts of a connection string. */
#ifndef SESLITE_STORAGE_POSTGRES_HOSTS_H
#define SESLITE_STORAGE_POSTGRES_HOSTS_H

#include <libpq-fe.h>

#include "storage/door.h"

struct pg;

struct pg_hosts {
    PQconninfoOption *given;
    PQconninfoOption *defaults;
    size_t count;
    bool prefers_standby;
    int64_t max_us; /* the time limit for one host; INT64_MAX if the string sets none */
};

/* Returns NOMEM or INVALID on failure. Must be freed in any case. */
SESLITE_PRIVATE int ses__pg_hosts_init(struct pg_hosts *hosts, const char *connection, ses_error *error);
SESLITE_PRIVATE void ses__pg_hosts_free(struct pg_hosts *hosts);

/* The highest number of attempts. */
SESLITE_PRIVATE size_t ses__pg_hosts_tries(const struct pg_hosts *hosts);
enum { MAX_ADDRESSES = 8, ADDRESSES_SIZE = MAX_ADDRESSES * 63 };
/* Begins to connect to a host, at the addresses of its name if it has one; `first` is the host that is tried
 * first. Returns the same as ses__pg_resolve. */
SESLITE_PRIVATE int ses__pg_hosts_start(const struct pg_hosts *hosts, size_t first, size_t tried,
                                        struct pg *pg, char addresses[ADDRESSES_SIZE]);

/* ---- resolve.c */

/* True if the host must be resolved: it is neither a path nor an address. */
SESLITE_PRIVATE bool ses__pg_is_host_name(const char *host);
/* Finds the addresses of a host before the connection's deadline, and separates them with commas. After
 * CANTOPEN `addresses` has the reason. Also returns BUSY, INTERRUPTED and NOMEM. */
SESLITE_PRIVATE int ses__pg_resolve(const struct pg *pg, const char *host, char addresses[ADDRESSES_SIZE]);

#endif
