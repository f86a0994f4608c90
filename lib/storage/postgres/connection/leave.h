/* Connections that are given up while the server still works for them. */
#ifndef SESLITE_STORAGE_POSTGRES_LEAVE_H
#define SESLITE_STORAGE_POSTGRES_LEAVE_H

#include "storage/postgres/connection/connection.h"

struct pg_leaving;

/* Closes the connection. If the server may still work for it, cancels that in the background. Returns NULL if there is
 * nothing to wait for. */
SESLITE_PRIVATE struct pg_leaving *ses__pg_leave(struct pg *pg);
SESLITE_PRIVATE void ses__pg_leaving_add(struct pg_leaving **list, struct pg_leaving *leaving);
/* Removes those that have left: the server has ended the process, cannot be reached, or has had enough time. Returns how
 * many these are. */
SESLITE_PRIVATE unsigned ses__pg_leaving_forget(struct pg_leaving **list);
/* Empties the list when the process may exit: the server has been asked to cancel, or cannot be. A process that exits at
 * once would leave its work to the server. */
SESLITE_PRIVATE void ses__pg_leaving_close(struct pg_leaving **list);

#endif
