/* A connection outside the pool, for a long read, so that the pool does not lack one meanwhile. */
#ifndef SESLITE_STORAGE_SQLITE_PRIVATE_CONNECTION_H
#define SESLITE_STORAGE_SQLITE_PRIVATE_CONNECTION_H

#include "storage/sqlite/connection/transaction.h"

/* Only one connection sees a store in memory, so there this is a connection to a copy. */
struct private_connection {
    struct sqlite *storage;
    struct sqlite_config config; /* of the copy */
    struct sqlite_file file;
    struct connection *db; /* ses_store_interrupt reaches it */
};

/* To be closed only after success. */
SESLITE_PRIVATE int ses__private_connection_open(struct storage *storage, struct private_connection *private,
                                                 ses_error *error);
SESLITE_PRIVATE void ses__private_connection_close(struct private_connection *private);
/* The settings of a connection to another file, with the timeout of the store. Path and file are borrowed. */
SESLITE_PRIVATE struct sqlite_config ses__config_for_file(const struct storage *storage, const char *path,
                                                          const struct sqlite_file *file);

#endif
