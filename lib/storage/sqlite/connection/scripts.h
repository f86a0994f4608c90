/* The schema scripts of sql/sqlite, as tools/embed_scripts.awk puts them into the library. */
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
    const unsigned char *packed; /* their texts */
    size_t packed_bytes;
    size_t bytes; /* of the texts */
};

extern SESLITE_PRIVATE const struct schema_scripts ses__schema_scripts;

/* Returns the texts of all scripts in their order, each with a NUL after it, and an empty text after the
 * last. To be freed with the allocator; NULL: out of memory. */
SESLITE_PRIVATE char *ses__schema_unpack(const ses_allocator *allocator);

#endif
