/* Connections that are given up while the server still works for them. */
#ifndef SESLITE_STORAGE_POSTGRES_LEAVE_H
#define SESLITE_STORAGE_POSTGRES_LEAVE_H

#include "storage/postgres/connection/connection.h"

struct pg_leaving;

/* Closes the connection. If the server may still work for it, cancels that in the background. Returns NULL if there is
 * nothing to wait for. */
SESLITE_PRIVATE struct pg_leaving *ses__pg_leave(struct pg *pg);
/* True when the server has ended its process, cannot be reached, or has had enough time. */
SESLITE_PRIVATE bool ses__pg_has_left(const struct pg_leaving *leaving);
/* True when the process may exit: the server has been asked to cancel, or cannot be. */
SESLITE_PRIVATE bool ses__pg_may_close(const struct pg_leaving *leaving);
/* Frees one that has left. If a cancel hangs, the server still gets to know that the client has gone. */
SESLITE_PRIVATE void ses__pg_leaving_give_up(struct pg_leaving *leaving);
SESLITE_PRIVATE void ses__pg_leaving_free(struct pg_leaving *leaving);

/* The link to the next in the list of one pool. */
SESLITE_PRIVATE struct pg_leaving **ses__pg_leaving_next(struct pg_leaving *leaving);

#endif
