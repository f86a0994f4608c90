/* The schema scripts of sql/sqlite, as tools/embed.awk puts them into the library. */
#ifndef SESLITE_STORAGE_SQLITE_CONNECTION_SCRIPTS_H
#define SESLITE_STORAGE_SQLITE_CONNECTION_SCRIPTS_H

#include "base/common.h"

/* Brings a file from version `version - 1` to `version`. */
struct schema_script {
    int version;
    const char *name; /* of the file in sql/ */
    const char *sql;
};

SESLITE_PRIVATE size_t ses__schema_script_count(void);
SESLITE_PRIVATE const struct schema_script *ses__schema_script(size_t index); /* in ascending order */

#endif
