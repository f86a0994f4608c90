/* Resolves host names before a deadline. */
#ifndef SESLITE_STORAGE_POSTGRES_RESOLVE_H
#define SESLITE_STORAGE_POSTGRES_RESOLVE_H

#include "storage/postgres/connection/connection.h"

enum { MAX_ADDRESSES = 8, ADDRESSES_SIZE = MAX_ADDRESSES * 64 };

/* True if the host must be resolved: it is neither a path nor an address. */
SESLITE_PRIVATE bool ses__pg_is_host_name(const char *host);

/* Finds the addresses of a host before the connection's deadline, and separates them with commas. After CANTOPEN
 * `addresses` has the reason. Also returns BUSY, INTERRUPTED and NOMEM. */
SESLITE_PRIVATE int ses__pg_resolve(const struct pg *pg, const char *host, char addresses[ADDRESSES_SIZE]);

#endif
