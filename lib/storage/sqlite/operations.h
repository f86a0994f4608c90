/* The operations of the door, on SQLite. */
#ifndef SESLITE_STORAGE_SQLITE_OPERATIONS_H
#define SESLITE_STORAGE_SQLITE_OPERATIONS_H

#include "storage/door.h"

struct db;

/* ---- read.c */
SESLITE_PRIVATE int ses__sqlite_get(struct storage *storage, struct get_op *op, ses_error *error);
SESLITE_PRIVATE int ses__sqlite_refresh(struct storage *storage, struct refresh_op *op, ses_error *error);
SESLITE_PRIVATE int ses__sqlite_value(struct storage *storage, struct value_op *op, ses_error *error);
/* Inside a transaction: fills a snapshot of the session of that key, whose row is known. */
SESLITE_PRIVATE int ses__load_snapshot(struct db *db, struct snapshot *snapshot, const ses_key *key,
                                       const struct session_row *row, const struct range *range,
                                       ses_error *error);
/* Inside a transaction: the events that the advance's snapshot lacks of a session that is at `row`; the advance restarts
 * if events were cut meanwhile, or pruned that it lacks. And the scopes that other sessions share, or all that are stored
 * if it restarts. */
SESLITE_PRIVATE int ses__read_missed(struct db *db, struct advance *advance, const struct session_row *row,
                                     ses_error *error);
SESLITE_PRIVATE int ses__read_scopes(struct db *db, struct advance *advance, ses_error *error);

/* ---- page.c */
SESLITE_PRIVATE int ses__sqlite_page(struct storage *storage, struct page_op *op, ses_error *error);

/* ---- create_delete.c */
SESLITE_PRIVATE int ses__sqlite_create(struct storage *storage, struct create_op *op, ses_error *error);
/* EXISTS. */
SESLITE_PRIVATE int ses__refuse_existing(const ses_key *key, ses_error *error);
SESLITE_PRIVATE int ses__sqlite_delete(struct storage *storage, struct delete_op *op, ses_error *error);
SESLITE_PRIVATE int ses__sqlite_delete_user(struct storage *storage, struct delete_user_op *op,
                                            ses_error *error);
SESLITE_PRIVATE int ses__sqlite_delete_app(struct storage *storage, struct delete_app_op *op,
                                           ses_error *error);

/* ---- append.c */
SESLITE_PRIVATE int ses__sqlite_append(struct storage *storage, struct append_op *op, ses_error *error);
/* Inside a transaction, when all was checked and `row` and `before` are the session's: stores the drafts, and makes the
 * advance ready. */
SESLITE_PRIVATE int ses__append_store(struct db *db, struct append_op *op, ses_error *error);

/* ---- as_of.c */
SESLITE_PRIVATE int ses__sqlite_as_of(struct storage *storage, struct as_of_op *op, ses_error *error);

/* ---- rewind.c */
SESLITE_PRIVATE int ses__sqlite_rewind(struct storage *storage, struct rewind_op *op, ses_error *error);

/* ---- cut.c */
SESLITE_PRIVATE int ses__sqlite_cut(struct storage *storage, struct cut_op *op, ses_error *error);

/* ---- fork.c */
SESLITE_PRIVATE int ses__sqlite_fork(struct storage *storage, struct fork_op *op, ses_error *error);

/* ---- prune.c */
SESLITE_PRIVATE int ses__sqlite_prune(struct storage *storage, struct prune_op *op, ses_error *error);

/* ---- expire.c */
SESLITE_PRIVATE int ses__sqlite_set_expiry(struct storage *storage, struct expiry_op *op, ses_error *error);
SESLITE_PRIVATE int ses__sqlite_expire(struct storage *storage, struct expire_op *op, ses_error *error);

/* ---- maintain.c */
SESLITE_PRIVATE int ses__sqlite_maintain(struct storage *storage, struct maintain_op *op, ses_error *error);

/* ---- list.c */
SESLITE_PRIVATE int ses__sqlite_list(struct storage *storage, struct list_op *op, ses_error *error);

#endif
