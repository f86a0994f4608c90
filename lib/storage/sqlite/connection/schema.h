/* The schema of a file: its version, its check, and its migration with the scripts of sql/. */
#ifndef SESLITE_STORAGE_SQLITE_CONNECTION_SCHEMA_H
#define SESLITE_STORAGE_SQLITE_CONNECTION_SCHEMA_H

#include "storage/sqlite/connection/connection.h"

/* The version this library works with: that of its last script. */
SESLITE_PRIVATE int ses__schema_latest(void);
/* Looks at a file that is not empty without leaving a trace: NOTASTORE, TOONEW, or 0 when it may be
 * opened. */
SESLITE_PRIVATE int ses__schema_peek(const struct sqlite_config *config, ses_error *error);
/* Through an open connection: the version, 0 for an empty file. NOTASTORE, TOONEW. */
SESLITE_PRIVATE int ses__schema_version(struct connection *db, int *version, ses_error *error);
/* Runs the scripts that are missing, each in one transaction. Others may be doing the same. */
SESLITE_PRIVATE int ses__schema_migrate(struct connection *db, ses_error *error);
/* Writes the number that marks the file as a store again. This changes nothing but makes a commit. */
SESLITE_PRIVATE int ses__schema_write_mark(struct connection *db);
/* At the latest version. CORRUPT names an object of the scripts that is missing or was changed. */
SESLITE_PRIVATE int ses__schema_check(struct connection *db, ses_error *error);

#endif
