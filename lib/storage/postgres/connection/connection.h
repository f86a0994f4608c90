/* One connection to a server, in libpq's pipeline mode. */
#ifndef SESLITE_STORAGE_POSTGRES_CONNECTION_H
#define SESLITE_STORAGE_POSTGRES_CONNECTION_H

#include <libpq-fe.h>

#include "storage/postgres/connection/config.h"
#include "storage/postgres/connection/sql_text.h"

/* A query that was sent. */
struct pg_run {
    struct pg_run *next; /* of the job */
    const struct postgres_statement *statement;
    PGresult *result; /* NULL until it has arrived */
    int row;
};

/* A message to the server that has not been answered yet. */
enum pg_kind {
    PG_PREPARES,
    PG_ROWS,
    PG_CHANGES,
    PG_COMMITS,
    PG_ENDS,
    PG_SAME, /* the session that was found, which must be as it was */
    PG_SYNC
};
struct pg_awaited {
    enum pg_kind kind;
    size_t prepared;    /* which statement it prepares */
    struct pg_run *run; /* that wants the rows; NULL: abandoned */
    const char *table;  /* one row of it must change; NULL: any number */
};

/* A prepared statement, without locks or with them. */
enum pg_prepared_state { PG_UNPREPARED, PG_PREPARING, PG_PREPARED };
enum { PG_NAME = 32 };
struct pg_prepared {
    char name[PG_NAME];
    enum pg_prepared_state state;
};

struct pg {
    struct remote base;
    PGconn *conn;
    const struct postgres_config *config;
    atomic_size_t *host; /* the number of the host to begin with; set to the one that was connected to */
    char constraint[64]; /* that was violated; "": none was */
    struct pg_run *runs; /* of queries that have not ended */
    struct pg_awaited *awaited;
    size_t awaited_capacity;
    size_t first_awaited; /* those before it were answered */
    size_t awaited_count;
    struct pg_prepared prepared[2 * POSTGRES_STATEMENT_COUNT];
};

static inline struct pg *ses__pg_of(struct db *db)
{
    return (struct pg *)db;
}

/* ---- connection.c, and what else a struct remote_driver is made of */

/* Returns NULL if out of memory. `*host` is shared by all connections of the store. */
SESLITE_PRIVATE struct remote *ses__pg_new(const struct server_config *common,
                                           const struct postgres_config *config, atomic_size_t *host);
SESLITE_PRIVATE int ses__pg_connect(struct remote *remote, ses_error *error);
SESLITE_PRIVATE bool ses__pg_is_over(struct remote *remote);
SESLITE_PRIVATE void ses__pg_close(struct remote *remote);
SESLITE_PRIVATE void ses__pg_begin(struct remote *remote);
SESLITE_PRIVATE void ses__pg_ask_commit(struct remote *remote);
SESLITE_PRIVATE void ses__pg_ask_same(struct remote *remote);
SESLITE_PRIVATE void ses__pg_send_end(struct remote *remote, const struct statement *statement);
SESLITE_PRIVATE bool ses__pg_drop(struct remote *remote);
SESLITE_PRIVATE void ses__pg_end_queries(struct remote *remote);

/* ---- failure.c */

/* Keeps the first failure of a transaction, with the message of the server or of libpq. */
SESLITE_PRIVATE void ses__pg_fail(struct pg *pg, const PGresult *result, const char *doing);

/* ---- query.c */

/* The engine's functions for statements. */
SESLITE_PRIVATE void ses__pg_start(struct query *query, const struct value *values);
SESLITE_PRIVATE bool ses__pg_row(struct query *query);
SESLITE_PRIVATE enum sql_type ses__pg_type(const struct query *query, int column);
SESLITE_PRIVATE int64_t ses__pg_int_of(struct query *query, int column);
SESLITE_PRIVATE struct span ses__pg_text_of(struct query *query, int column);
SESLITE_PRIVATE int ses__pg_end(struct query *query);
SESLITE_PRIVATE void ses__pg_must_change(struct db *db, const char *table);

/* ---- send.c */

/* Sends a statement, prepared unless the config forbids that, for a run that wants the rows (or NULL). A
 * failure is that of the transaction. */
SESLITE_PRIVATE void ses__pg_send(struct pg *pg, const struct statement *source, const struct value *values,
                                  enum pg_kind kind, struct pg_run *run);

/* ---- pipeline.c */

/* Waits until the file can be read (or written, if asked); see ses__remote_wait. */
SESLITE_PRIVATE int ses__pg_wait(const struct pg *pg, int file, bool writes);
/* Call the first before sending anything, so that there is room for its answer, and the second afterwards. */
SESLITE_PRIVATE void ses__pg_make_room(struct pg *pg);
SESLITE_PRIVATE void ses__pg_await(struct pg *pg, enum pg_kind kind, size_t prepared, struct pg_run *run);
/* The answer for this run will be thrown away. */
SESLITE_PRIVATE void ses__pg_abandon(struct pg *pg, const struct pg_run *run);
/* Waits for all answers. Returns the first failure of the transaction, or SES_OK. */
SESLITE_PRIVATE int ses__pg_settle(struct pg *pg);
/* The number in a column of type bigint, in the binary format of the protocol. 0: it is NULL. */
SESLITE_PRIVATE int64_t ses__pg_number(const PGresult *result, int row, int column);
/* Hands everything over to the system, without waiting for answers. */
SESLITE_PRIVATE void ses__pg_dispatch(struct pg *pg);

/* The beginning of each script that names functions or operators, so that only the server's own are called.
 * It holds for the script, or for the transaction in which the script runs. */
#define PG_SAFE_PATH "SET LOCAL search_path = pg_catalog, pg_temp; "
/* Runs a text of several statements outside of the pipeline. Returns the last result, or NULL, to be cleared
 * by the caller. The connection keeps a failure, after which no script is run. */
SESLITE_PRIVATE PGresult *ses__pg_script(struct pg *pg, const char *sql);

/* ---- leave.c: connections that are given up while the server still works for them */

struct pg_leaving;
/* Closes the connection, without waiting. If the server may still work for it, cancels that in the
 * background, adds it to the list, and returns true. */
SESLITE_PRIVATE bool ses__pg_leave(struct pg *pg, struct pg_leaving **list);
/* Removes those that have left: the server has ended the process, cannot be reached, or has had enough time.
 * Returns how many these are. */
SESLITE_PRIVATE unsigned ses__pg_leaving_forget(struct pg_leaving **list);
/* Empties the list when the process may exit: the server has been asked to cancel, or cannot be. A process
 * that exits at once would leave its work to the server. */
SESLITE_PRIVATE void ses__pg_leaving_close(struct pg_leaving **list);

#endif
