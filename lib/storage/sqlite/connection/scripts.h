/* The schema of sql/sqlite and the scripts that make it, as tools/embed_scripts.awk puts them into the
 * library. */
#ifndef SESLITE_STORAGE_SQLITE_CONNECTION_SCRIPTS_H
#define SESLITE_STORAGE_SQLITE_CONNECTION_SCRIPTS_H

#include "base/common.h"

/* Brings a file from version `version - 1` to `version`. */
struct schema_script {
    int version;
    const char *name; /* of the file in sql/ */
};

struct schema_scripts {
    const struct schema_script *items; /* in ascending order */
    size_t count;
    const unsigned char *packed;
    size_t bytes;        /* of all texts: those of the schema, its end, and those of the scripts */
    size_t schema_bytes; /* of the texts of the schema: for each object its type, name and SQL */
    size_t object_count;
};

extern SESLITE_PRIVATE const struct schema_scripts ses__schema_scripts;

/* Returns the first `bytes` of the texts (schema_bytes, or all), each with a NUL after it. To be freed with
 * the allocator; NULL: out of memory. */
SESLITE_PRIVATE char *ses__schema_unpack(const ses_allocator *allocator, size_t bytes);

#endif
