/* The statements and scripts for MySQL, which tools/embed_server.awk turns into C. */
#ifndef SESLITE_STORAGE_MYSQL_SQL_TEXT_H
#define SESLITE_STORAGE_MYSQL_SQL_TEXT_H

#include "base/common.h"
#include "mysql_statements.h"

/* Each has the slot of SQLite's statement of that name; those without one follow. */
struct mysql_statement {
    const char *text;      /* NULL if MySQL has no such statement */
    const char *locked;    /* the text in a transaction that writes, if it then locks its rows; or NULL */
    int parameters;        /* the highest parameter number; higher ones that are bound are ignored */
    bool returns;          /* the last part returns rows */
    int parts;             /* so many statements of the server's, with semicolons between them */
    int prepared;          /* the number among those that are prepared, from 1 on; 0: it is not */
    const char *preparing; /* the text that prepares it without a lock, */
    const char *executing; /* and the one that executes it then */
    const char *name;
};

extern SESLITE_PRIVATE const struct mysql_statement ses__mysql_statements[MYSQL_STATEMENT_COUNT];

/* Upgrades a schema from `version - 1` to `version`. */
struct mysql_script {
    int version;
    const char *name; /* of the file in sql/mysql/ */
    const char *sql;
};

SESLITE_PRIVATE size_t ses__mysql_script_count(void);
SESLITE_PRIVATE const struct mysql_script *ses__mysql_script(size_t index); /* in ascending order */

#endif
