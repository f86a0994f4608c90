/* The announcement of a page of a list. */
#ifndef SESLITE_STORAGE_POSTGRES_ANNOUNCE_PARTS_H
#define SESLITE_STORAGE_POSTGRES_ANNOUNCE_PARTS_H

#include "storage/door.h"
#include "storage/sql/query.h"

/* A session whose numbers are placeholders for those that the source finds. */
extern SESLITE_PRIVATE const struct session_row ses__announced_row;

/* ---- announce.c */

SESLITE_PRIVATE void ses__announce_list_page(struct db *db, const void *context);

#endif
