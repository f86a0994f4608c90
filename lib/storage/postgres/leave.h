/* Connections that are given up while the server still works on what they asked. */
#ifndef SESLITE_STORAGE_POSTGRES_LEAVE_H
#define SESLITE_STORAGE_POSTGRES_LEAVE_H

#include "storage/postgres/connection.h"

struct pg_leaving;

/* Closes the connection. If the server may be at work for it, has that cancelled, in the background. NULL: nothing has to be
 * waited for. */
SESLITE_PRIVATE struct pg_leaving *ses__pg_leave(struct pg *pg);
/* True when the server has ended its process, or cannot be reached to say so. */
SESLITE_PRIVATE bool ses__pg_has_left(const struct pg_leaving *leaving);
SESLITE_PRIVATE void ses__pg_leaving_free(struct pg_leaving *leaving);

/* The next in a list of those that one pool waits for. */
SESLITE_PRIVATE struct pg_leaving **ses__pg_leaving_next(struct pg_leaving *leaving);

#endif
