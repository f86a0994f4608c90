/* A connection that writes the content of a store with another key, or with none. */
#ifndef SESLITE_STORAGE_SQLITE_BACKUP_RECODING_H
#define SESLITE_STORAGE_SQLITE_BACKUP_RECODING_H

#include "storage/sqlite/backup/backup_file.h"

/* The store is attached to it as `source`. */
struct recoding {
    struct connection *db;
    struct sqlite_config config;
    struct sqlite_file file;
};

/* `key`: that VACUUM INTO writes with; NULL: none. To be closed in any case. */
SESLITE_PRIVATE int ses__recoding_open(struct recoding *recoding, const struct backup_file *file,
                                       const struct private_connection *source, const unsigned char *key,
                                       ses_error *error);
SESLITE_PRIVATE void ses__recoding_close(struct recoding *recoding);

#endif
