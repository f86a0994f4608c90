/* The files of a backup: where it goes, the temporary file in which it is made, and its coming into place. */
#ifndef SESLITE_STORAGE_SQLITE_BACKUP_BACKUP_FILE_H
#define SESLITE_STORAGE_SQLITE_BACKUP_BACKUP_FILE_H

#include "storage/sqlite/parts.h"

struct backup_file {
    const ses_allocator *allocator;
    char *folder; /* absolute, without links */
    char *target; /* in it */
    char *temporary;
    int folder_descriptor;
    int descriptor; /* of the temporary file */
};

/* Finds the folder. To be closed in any case. */
SESLITE_PRIVATE int ses__backup_file_open(struct backup_file *file, const struct sqlite_config *config,
                                          const char *path, ses_error *error);
/* Removes the temporary files that killed backups have left in the folder, and makes a new one. */
SESLITE_PRIVATE int ses__backup_file_make(struct backup_file *file, int64_t busy_timeout_us,
                                          const struct limits *limits, ses_error *error);
/* Makes another temporary file, which the caller removes and whose path it frees. The first must be there. */
SESLITE_PRIVATE int ses__backup_file_make_empty(const struct backup_file *file, char **path,
                                                ses_error *error);
/* Flushes the temporary file to the disk; nobody may have it open. */
SESLITE_PRIVATE int ses__backup_file_flush(struct backup_file *file, ses_error *error);
/* The temporary file becomes the target, in place of the one that is there if `replaces`. EXISTS. */
SESLITE_PRIVATE int ses__backup_file_place(struct backup_file *file, bool replaces, ses_error *error);
/* Removes the temporary file, if it is still there. */
SESLITE_PRIVATE void ses__backup_file_close(struct backup_file *file);

/* Removes the companion files of the target, durably. */
SESLITE_PRIVATE int ses__backup_file_remove_companions(struct backup_file *file, ses_error *error);

/* ---- backup_target.c: a store that a backup replaces, locked until another file is in its place */

struct backup_target {
    struct sqlite_config config;
    struct sqlite_file file;
    struct connection *db;    /* NULL if the file does not exist */
    const unsigned char *key; /* of the copy that replaces it; NULL: none */
};

/* Makes sure that the file, if it exists, is a store that nobody has open, keeps others from opening it, and
 * removes its companion files. Its key may be that of the copy or that of the store, or it may have none.
 * NOTASTORE, KEY, BUSY. To be closed in any case. */
SESLITE_PRIVATE int ses__backup_target_lock(struct backup_target *target, struct backup_file *file,
                                            const struct storage *storage, const struct limits *limits,
                                            ses_error *error);
/* BUSY: another file has come to its place. */
SESLITE_PRIVATE int ses__backup_target_check(const struct backup_target *target, ses_error *error);
SESLITE_PRIVATE void ses__backup_target_unlock(struct backup_target *target);

#endif
