/* The file system around a store: is the file there, may WAL be used on it, making it private, and has a
 * parent process it open. */
#ifndef SESLITE_STORAGE_SQLITE_CONNECTION_FILE_H
#define SESLITE_STORAGE_SQLITE_CONNECTION_FILE_H

#include <sys/types.h>

#include "base/common.h"

enum file_kind { FILE_ABSENT, FILE_EMPTY, FILE_STUB /* too short for SQLite */, FILE_FILLED };

/* A file is made under its name, a mark and letters, before it gets its name by a link. */
#define NEW_FILE_MARK "-new"
#define BACKUP_FILE_MARK ".seslite-backup-"
enum { FILE_MARK_LETTERS = 6 };

/* Translates an errno: FULL, READONLY or CANTOPEN. */
SESLITE_PRIVATE int ses__file_refuse(const char *path, const char *doing, int number, ses_error *error);
/* CANTOPEN for a directory, a device, or a path that cannot be looked up. */
SESLITE_PRIVATE int ses__file_look(const char *path, enum file_kind *kind, ses_error *error);
/* Three texts as one, to be freed with the allocator; NULL: out of memory. */
SESLITE_PRIVATE char *ses__file_join(const ses_allocator *allocator, const char *first, const char *second,
                                     const char *third);
/* A URI by which SQLite takes the file as one that never changes: no locks, no log. To be freed with the
 * allocator; NULL: out of memory. */
SESLITE_PRIVATE char *ses__file_immutable_uri(const ses_allocator *allocator, const char *path);
/* The files that SQLite makes beside a store: the rollback journal, the write-ahead log, its index. */
enum { COMPANIONS = 3 };
SESLITE_PRIVATE extern const char *const ses__companions[COMPANIONS];
/* Looks for a log and a journal that are not empty. NOMEM. */
SESLITE_PRIVATE int ses__file_find_journals(const ses_allocator *allocator, const char *path, bool *log,
                                            bool *journal, ses_error *error);
/* Follows symbolic links at `path` to the end, whether that exists or not: SQLite creates the file and its
 * journals there. To be freed with the allocator. NOMEM. */
SESLITE_PRIVATE int ses__file_follow_links(const ses_allocator *allocator, const char *path, char **followed,
                                           ses_error *error);
/* Makes an empty file that only its owner may read and write; fine if another process just made one. */
SESLITE_PRIVATE int ses__file_create_private(const ses_allocator *allocator, const char *path,
                                             ses_error *error);
/* The absolute path of a file that exists, without links: the same file whatever becomes of the working
 * directory and of links later. To be freed with the allocator. CANTOPEN, NOMEM. */
SESLITE_PRIVATE int ses__file_resolve(const ses_allocator *allocator, const char *path, char **resolved,
                                      ses_error *error);
/* SQLite opens its journals and waits: for ever, if one is a pipe without a writer. CANTOPEN names it. */
SESLITE_PRIVATE int ses__file_check_companions(const ses_allocator *allocator, const char *path,
                                               ses_error *error);

/* CANTOPEN: the file has other links, or is itself a mount point. It looks more than once, because the
 * library makes links for a moment, and removes those that it left when it was killed. */
SESLITE_PRIVATE int ses__file_check_names(const ses_allocator *allocator, const char *path, ses_error *error);

/* Which file it is, whatever its path. */
struct file_identity {
    dev_t device;
    ino_t inode;
};
/* False if the file does not exist. */
SESLITE_PRIVATE bool ses__file_identify(const char *path, struct file_identity *identity);
SESLITE_PRIVATE bool ses__file_is_same(struct file_identity left, struct file_identity right);

/* The bytes that are free where the file is; INT64_MAX if the system does not say. */
SESLITE_PRIVATE int64_t ses__file_room(const char *path);
/* True when nothing can be written there, by anyone. */
SESLITE_PRIVATE bool ses__file_system_is_read_only(const char *path);
/* True when the file is on a network or virtual file system, where WAL's shared memory does not work
 * (https://www.sqlite.org/wal.html, "Disadvantages"). */
SESLITE_PRIVATE bool ses__file_is_remote(const char *path);

/* ---- registry.c
 *
 * Which files this process has open, to tell a forked child that opens one again.
 *
 * SQLite keeps its records of POSIX locks for the whole process, by inode. A child inherits the records, but
 * not the locks: a connection it opens to a file that its parent had open at the fork believes to hold locks
 * that it has not, and the parent may delete the write-ahead file under it. SQLite cannot tell
 * (https://www.sqlite.org/howtocorrupt.html, section 2.6), so the library must. This is its only state that
 * belongs to the process and not to a store.
 */
struct registry_entry;

/* True when the parent of this process, or its parent, had the file open at the fork. */
SESLITE_PRIVATE bool ses__registry_is_inherited(const char *path);
/* Records that this process has the file open. `entry` is NULL if the file does not exist. NOMEM. */
SESLITE_PRIVATE int ses__registry_add(const char *path, struct registry_entry **entry, ses_error *error);
SESLITE_PRIVATE void ses__registry_remove(struct registry_entry *entry); /* NULL is allowed */

#endif
