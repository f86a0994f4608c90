/*
 * Which files this process has open, to tell a forked child that opens one again.
 *
 * SQLite keeps its records of POSIX locks for the whole process, by inode. A child inherits the records, but
 * not the locks: a connection it opens to a file that its parent had open at the fork believes to hold locks
 * that it has not, and the parent may delete the write-ahead file under it. SQLite cannot tell
 * (https://www.sqlite.org/howtocorrupt.html, section 2.6), so the library must. This is its only state that
 * belongs to the process and not to a store.
 */
#ifndef SESLITE_STORAGE_SQLITE_CONNECTION_REGISTRY_H
#define SESLITE_STORAGE_SQLITE_CONNECTION_REGISTRY_H

#include "base/common.h"

struct registry_entry;

/* True when the parent of this process, or its parent, had the file open at the fork. */
SESLITE_PRIVATE bool ses__registry_is_inherited(const char *path);
/* Records that this process has the file open. `entry` is NULL if the file does not exist. NOMEM. */
SESLITE_PRIVATE int ses__registry_add(const char *path, struct registry_entry **entry, ses_error *error);
SESLITE_PRIVATE void ses__registry_remove(struct registry_entry *entry); /* NULL is allowed */

#endif
