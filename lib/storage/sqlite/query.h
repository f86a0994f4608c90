/* The statements of sql/, run on one connection. */
#ifndef SESLITE_STORAGE_SQLITE_QUERY_H
#define SESLITE_STORAGE_SQLITE_QUERY_H

#include "storage/sqlite/connection.h"
#include "storage/sqlite/owners.h"

/*
 * One run of a prepared statement. The first failure is kept in `code` and makes the rest do nothing, so only
 * ses__query_end needs looking at. Bound texts must live until then.
 *
 *     ses__query_start(&query, db, STATEMENT_X, error);
 *     ses__query_bind_int(&query, 1, id);
 *     while (ses__query_row(&query)) ...
 *     code = ses__query_end(&query);
 */
struct query {
    struct db *db;
    sqlite3_stmt *statement;
    const struct statement *source;
    size_t bytes; /* of the texts that were bound */
    int code;
    ses_error *error;
};

SESLITE_PRIVATE void ses__query_start(struct query *query, struct db *db, const struct statement *source,
                                      ses_error *error);
SESLITE_PRIVATE void ses__query_bind_int(struct query *query, int parameter, int64_t value);
SESLITE_PRIVATE void ses__query_bind_text(struct query *query, int parameter,
                                          struct span text); /* no text: NULL */
SESLITE_PRIVATE void ses__query_bind_string(struct query *query, int parameter, const char *string);
SESLITE_PRIVATE void ses__query_bind_owners(struct query *query, int parameter,
                                            const struct owner_list *owners);
SESLITE_PRIVATE bool ses__query_row(struct query *query);
SESLITE_PRIVATE int64_t ses__query_int(struct query *query, int column);
/* Borrowed until the next row; running out of memory is kept like any failure. */
SESLITE_PRIVATE struct span ses__query_text(struct query *query, int column);
SESLITE_PRIVATE int ses__query_end(struct query *query);
/* Start, one step, end: for a statement without parameters and rows. */
SESLITE_PRIVATE int ses__query_run(struct db *db, const struct statement *source, ses_error *error);

#endif
