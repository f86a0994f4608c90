/* The addresses of a host, found before a deadline. */
#ifndef SESLITE_STORAGE_POSTGRES_RESOLVE_H
#define SESLITE_STORAGE_POSTGRES_RESOLVE_H

#include "storage/postgres/connection.h"

enum { MOST_ADDRESSES = 8, ADDRESSES_SIZE = MOST_ADDRESSES * 64 };

/* Has it to be looked up? Not a path, and not an address. */
SESLITE_PRIVATE bool ses__pg_is_host_name(const char *host);

/* Its addresses, with commas between them, before the connection's deadline. CANTOPEN: `addresses` says why there are none.
 * BUSY, INTERRUPTED, NOMEM. */
SESLITE_PRIVATE int ses__pg_resolve(const struct pg *pg, const char *host, char addresses[ADDRESSES_SIZE]);

#endif
