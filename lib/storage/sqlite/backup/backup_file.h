/* The files of a backup: where it goes, the temporary file in which it is made, and its coming into place. */
#ifndef SESLITE_STORAGE_SQLITE_BACKUP_BACKUP_FILE_H
#define SESLITE_STORAGE_SQLITE_BACKUP_BACKUP_FILE_H

#include "storage/sqlite/private_connection.h"

struct backup_file {
    const ses_allocator *allocator;
    char *folder; /* absolute, without links */
    char *target; /* in it */
    char *temporary;
    int folder_descriptor;
    int descriptor; /* of the temporary file */
};

/* Finds the folder, removes what backups that were killed have left in it, and makes the temporary file. To be
 * closed in any case. */
SESLITE_PRIVATE int ses__backup_file_open(struct backup_file *file, const struct sqlite_config *config,
                                          const char *path, ses_error *error);
SESLITE_PRIVATE int ses__backup_file_make(struct backup_file *file, int64_t busy_timeout_us,
                                          ses_error *error);
/* Writes what the temporary file has to the disk; nobody may have it open. */
SESLITE_PRIVATE int ses__backup_file_flush(struct backup_file *file, ses_error *error);
/* The temporary file becomes the target, in place of the one that is there if `replaces`. EXISTS. */
SESLITE_PRIVATE int ses__backup_file_place(struct backup_file *file, bool replaces, ses_error *error);
/* Removes the temporary file, if it is still there. */
SESLITE_PRIVATE void ses__backup_file_close(struct backup_file *file);

/* The companion files of a store: the write-ahead log, its index, the rollback journal. */
enum { COMPANIONS = 3 };
SESLITE_PRIVATE extern const char *const ses__companions[COMPANIONS];
/* Removes those of the target, durably. */
SESLITE_PRIVATE int ses__backup_file_remove_companions(struct backup_file *file, ses_error *error);

#endif
