/* The texts of sql/postgres/, as tools/embed_postgres.awk puts them into the library. */
#ifndef SESLITE_STORAGE_POSTGRES_SQL_TEXT_H
#define SESLITE_STORAGE_POSTGRES_SQL_TEXT_H

#include "base/common.h"
#include "postgres_statements.h"

/* In the slot of the statement that SQLite has under that name, or after these. */
struct postgres_statement {
    const char *text;  /* NULL: PostgreSQL has no such statement */
    const char *locks; /* what follows the text in a transaction that writes; NULL: nothing */
    int parameters;    /* the highest number of one; those that are given above it have no use */
    bool returns;      /* rows */
    bool gives;        /* the number of the row that it adds */
    const char *name;
};

extern SESLITE_PRIVATE const struct postgres_statement ses__postgres_statements[POSTGRES_STATEMENT_COUNT];

/* Brings a schema from version `version - 1` to `version`; run in a transaction. */
struct postgres_script {
    int version;
    const char *name; /* of the file in sql/postgres/ */
    const char *sql;
};

SESLITE_PRIVATE size_t ses__postgres_script_count(void);
SESLITE_PRIVATE const struct postgres_script *ses__postgres_script(size_t index); /* in ascending order */

#endif
