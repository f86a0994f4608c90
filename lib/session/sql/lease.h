/* Leases, for calls that take one within a transaction of their own. */
#ifndef SESLITE_SESSION_SQL_LEASE_H
#define SESLITE_SESSION_SQL_LEASE_H

#include "storage/sql/rows/session.h"

/* Checks the name of an owner. */
SESLITE_PRIVATE int ses__lease_check_owner(const char *owner, ses_error *error);
/* Checks the member of options, and gives it its default. */
SESLITE_PRIVATE int ses__lease_duration(int64_t *duration_us, ses_error *error);
/* Takes the lease, whose row was found in this transaction, unless another owner has it, or goes first. If it
 * is taken, nothing else may be written. */
SESLITE_PRIVATE int ses__lease_try(struct db *db, struct lease_row *row, const char *owner,
                                   int64_t duration_us, int64_t now_us, bool *taken, ses_lease *lease,
                                   ses_error *error);

#endif
