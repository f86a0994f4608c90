/* The options of a store in a file, or in memory. */
#ifndef SESLITE_SESSION_SQLITE_CONFIG_H
#define SESLITE_SESSION_SQLITE_CONFIG_H

#include "session/store.h"
#include "storage/sqlite/connection/config.h"

/* MISUSE: an option that only files have is none of its values. */
SESLITE_PRIVATE int ses__sqlite_configure(const struct storage_config *common,
                                          const ses_open_options *options, struct sqlite_config *config,
                                          ses_error *error);

#endif
