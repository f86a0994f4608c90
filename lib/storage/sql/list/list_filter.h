/* Which sessions of a filtered list are on a page. */
#ifndef SESLITE_STORAGE_SQL_LIST_LIST_FILTER_H
#define SESLITE_STORAGE_SQL_LIST_LIST_FILTER_H

#include "storage/sql/rows/list.h"
#include "storage/sql/rows/session.h"

/* The first `list->limit` sessions of the list that the filter leaves, in its order. `chosen` is to be freed in any case. */
SESLITE_PRIVATE int ses__list_filter(struct db *db, const struct list_query *list, struct found *chosen,
                                     ses_error *error);

#endif
