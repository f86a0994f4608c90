/* A store that a backup replaces: locked, until another file is in its place. */
#ifndef SESLITE_STORAGE_SQLITE_BACKUP_BACKUP_TARGET_H
#define SESLITE_STORAGE_SQLITE_BACKUP_BACKUP_TARGET_H

#include "storage/sqlite/private_connection.h"
#include "storage/sqlite/backup/backup_file.h"

struct backup_target {
    struct sqlite_config config;
    struct sqlite_file file;
    struct connection *db; /* NULL if the file does not exist */
};

/* Makes sure that the file, if it exists, is a store that nobody has open, keeps others from opening it,
 * and removes its companion files. NOTASTORE, BUSY. To be closed in any case. */
SESLITE_PRIVATE int ses__backup_target_lock(struct backup_target *target, struct backup_file *file,
                                            const struct storage *storage, ses_error *error);
/* BUSY: another file has come to its place. */
SESLITE_PRIVATE int ses__backup_target_check(const struct backup_target *target, ses_error *error);
SESLITE_PRIVATE void ses__backup_target_unlock(struct backup_target *target);

#endif
