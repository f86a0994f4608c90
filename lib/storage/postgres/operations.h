/* The operations that PostgreSQL has of its own. */
#ifndef SESLITE_STORAGE_POSTGRES_OPERATIONS_H
#define SESLITE_STORAGE_POSTGRES_OPERATIONS_H

#include "storage/door.h"

/* ---- watch.c */
SESLITE_PRIVATE int ses__postgres_watch(struct storage *storage, struct watch_op *op, ses_error *error);

/* ---- upkeep.c */
SESLITE_PRIVATE int ses__postgres_space(struct storage *storage, struct space_op *op, ses_error *error);

/* ---- check.c */
SESLITE_PRIVATE int ses__postgres_check(struct storage *storage, struct check_op *op, ses_error *error);

#endif
