/* The options of a store in a file, or in memory. */
#ifndef SESLITE_SESSION_SQLITE_CONFIG_H
#define SESLITE_SESSION_SQLITE_CONFIG_H

#include "session/store.h"
#include "storage/sqlite/connection/config.h"

/* MISUSE: an option of files has an invalid value. */
SESLITE_PRIVATE int ses__sqlite_configure(const struct storage_config *common,
                                          const ses_open_options *options, struct sqlite_config *config,
                                          ses_error *error);
/* INVALID: it is not a key of SES_KEY_BYTES. No key is NULL and 0 bytes. */
SESLITE_PRIVATE int ses__check_file_key(const void *key, size_t len, ses_error *error);

#endif
