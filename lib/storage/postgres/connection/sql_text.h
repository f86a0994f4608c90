/* The statements and scripts for PostgreSQL, which tools/embed_server.awk turns into C. */
#ifndef SESLITE_STORAGE_POSTGRES_SQL_TEXT_H
#define SESLITE_STORAGE_POSTGRES_SQL_TEXT_H

#include "base/common.h"
#include "postgres_statements.h"

/* Each has the slot of SQLite's statement of that name; those without one follow. */
struct postgres_statement {
    const char *text;   /* NULL if PostgreSQL has no such statement */
    const char *locked; /* the text in a transaction that writes, if it then locks its rows; or NULL */
    int parameters;     /* the highest parameter number; higher ones that are bound are ignored */
    bool returns;       /* it returns rows */
    bool gives;         /* it returns the number of the row that it adds */
    const char *name;
};

extern SESLITE_PRIVATE const struct postgres_statement ses__postgres_statements[POSTGRES_STATEMENT_COUNT];

/* Upgrades a schema from `version - 1` to `version`; run in a transaction. */
struct postgres_script {
    int version;
    const char *name; /* of the file in sql/postgres/ */
    const char *sql;
};

SESLITE_PRIVATE size_t ses__postgres_script_count(void);
SESLITE_PRIVATE const struct postgres_script *ses__postgres_script(size_t index); /* in ascending order */

#endif
