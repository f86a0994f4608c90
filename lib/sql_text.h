/* The texts of sql/, as tools/embed.awk puts them into the library. */
#ifndef SESLITE_SQL_TEXT_H
#define SESLITE_SQL_TEXT_H

#include "common.h"
#include "statement_ids.h"

struct statement_text {
    const char *name;
    const char *sql;
};

/* Brings a file from version `version - 1` to `version`. */
struct schema_script {
    int version;
    const char *name; /* of the file in sql/ */
    const char *sql;
};

SESLITE_PRIVATE const struct statement_text *statement_text(enum statement_id id);
SESLITE_PRIVATE size_t schema_script_count(void);
SESLITE_PRIVATE const struct schema_script *schema_script(size_t index); /* in ascending order */

#endif
