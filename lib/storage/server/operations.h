/* Operations that are the same on each server. */
#ifndef SESLITE_STORAGE_SERVER_OPERATIONS_H
#define SESLITE_STORAGE_SERVER_OPERATIONS_H

#include "storage/sql/session/jobs.h"

struct check;

/* ---- append.c */

/* Appends as a job: asks for all that it needs at once. The context is the operation. */
SESLITE_PRIVATE int ses__append_ahead_job(struct db *db, void *context, ses_error *error);
/* As ses__append_stored, for an append that was sent as a whole. The events are there: after a short lack of
 * memory it tries again, and then the outcome is UNKNOWN. */
SESLITE_PRIVATE int ses__append_take_stored(struct append_op *op, const struct db *db, ses_error *error);
/* After an UNKNOWN: looks the events up by their ids, and stores those that are not there, as long as there
 * is time. */
SESLITE_PRIVATE int ses__append_again(struct storage *storage, int64_t deadline_us, struct append_op *op,
                                      ses_error *error);

/* ---- create.c, check.c: the engine's operations of these names */

/* In one round trip. */
SESLITE_PRIVATE int ses__server_create(struct storage *storage, struct create_op *op, ses_error *error);
SESLITE_PRIVATE int ses__server_check(struct storage *storage, struct check *check);

#endif
