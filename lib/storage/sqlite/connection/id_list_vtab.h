/*
 * Owners of state as a table of SQL, so that one statement reads the state of many: temp.seslite_owners(?1) has a row
 * for each owner of the list that was bound, in the list's order, with its id. (`temp.` keeps a table of that name in
 * the file out of the way.)
 */
#ifndef SESLITE_STORAGE_SQLITE_CONNECTION_ID_LIST_VTAB_H
#define SESLITE_STORAGE_SQLITE_CONNECTION_ID_LIST_VTAB_H

#include <sqlite3.h>

#include "storage/sql/query.h"

/* Both return SQLite's codes. The list must live as long as it is bound. */
SESLITE_PRIVATE int ses__id_list_register(sqlite3 *handle);
SESLITE_PRIVATE int ses__id_list_bind(sqlite3_stmt *statement, int parameter,
                                      const struct owner_list *owners);

#endif
