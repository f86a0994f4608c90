/* Operations with an implementation of their own for PostgreSQL. */
#ifndef SESLITE_STORAGE_POSTGRES_OPERATIONS_H
#define SESLITE_STORAGE_POSTGRES_OPERATIONS_H

#include "storage/door.h"

/* ---- watch.c */
SESLITE_PRIVATE int ses__postgres_watch(struct storage *storage, struct watch_op *op, ses_error *error);

/* ---- upkeep.c */
SESLITE_PRIVATE int ses__postgres_space(struct storage *storage, struct space_op *op, ses_error *error);

/* ---- replica.c: what is read from a replica, if there is one */
SESLITE_PRIVATE int ses__postgres_page(struct storage *storage, struct page_op *op, ses_error *error);
SESLITE_PRIVATE int ses__postgres_list(struct storage *storage, struct list_op *op, ses_error *error);
SESLITE_PRIVATE int ses__postgres_list_count(struct storage *storage, struct count_op *op, ses_error *error);
SESLITE_PRIVATE int ses__postgres_list_names(struct storage *storage, struct names_op *op, ses_error *error);
SESLITE_PRIVATE int ses__postgres_visit(struct storage *storage, struct visit_op *op, ses_error *error);

/* ---- check.c */
SESLITE_PRIVATE int ses__postgres_check(struct storage *storage, struct check_op *op, ses_error *error);

#endif
