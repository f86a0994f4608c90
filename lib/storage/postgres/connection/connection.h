/* One connection to a server: opening it, waiting, and reporting failures. */
#ifndef SESLITE_STORAGE_POSTGRES_CONNECTION_H
#define SESLITE_STORAGE_POSTGRES_CONNECTION_H

#include <libpq-fe.h>
#include <stdatomic.h>

#include "storage/postgres/connection/config.h"
#include "storage/postgres/connection/sql_text.h"
#include "storage/sql/query.h"

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
    struct db base;
    PGconn *conn;
    const struct postgres_config *config;
    struct pg *next_idle; /* in the pool */
    struct pg *next_open;
    bool writes;                /* the current transaction writes, and so locks the rows that it finds */
    bool ended;                 /* the end of the current transaction was sent */
    bool wrote;                 /* the current transaction has sent a statement that writes */
    bool stays_open;            /* a transaction that only reads does not end before its job does */
    bool lost;                  /* the connection cannot be used any more */
    int64_t commit_deadline_us; /* until when a commit that was sent is awaited */
    bool warned;                /* the last commit came with a warning */
    int code;                   /* of the first failure in this transaction, */
    ses_error error;            /* which the next query reports */
    char constraint[64];        /* that was violated; "": none was */
    bool again;                 /* the transaction may succeed if it is run again */
    int64_t changed;            /* rows changed by the last statement that writes */
    int64_t given;
    atomic_bool interrupted;
    atomic_bool interruptible;
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

/* Makes a connection that is not connected yet. Returns NULL if out of memory. */
SESLITE_PRIVATE struct pg *ses__pg_new(const struct postgres_config *config);
/* Connects before the deadline. `*host` is the number of the host to begin with, and is set to the one that was connected
 * to. */
SESLITE_PRIVATE int ses__pg_connect(struct pg *pg, atomic_size_t *host, ses_error *error);
SESLITE_PRIVATE void ses__pg_close(struct pg *pg);

/* ---- failure.c */

/* Keeps the first failure of a transaction, with the message of the server or of libpq. */
SESLITE_PRIVATE void ses__pg_fail(struct pg *pg, const PGresult *result, const char *doing);
/* The same for a failure found by the library. */
SESLITE_PRIVATE void ses__pg_fail_as(struct pg *pg, int code, const char *doing);

/* ---- transaction.c */

SESLITE_PRIVATE void ses__pg_forget_failure(struct pg *pg);
/* Sends the beginning of a transaction, and forgets all about the one before. */
SESLITE_PRIVATE void ses__pg_begin(struct pg *pg, bool writes);
/* Sends the commit, and waits for all answers. A job may commit by itself: then it reads the answers after that. */
SESLITE_PRIVATE int ses__pg_commit(struct pg *pg, ses_error *error);
/* The engine's ask_last. */
SESLITE_PRIVATE void ses__pg_ask_last(struct db *db);
/* More has to be asked after the transaction's end was sent: another one goes on where it ended. It fails, and the call is
 * made again, in a transaction that stays open, if the session has changed meanwhile. */
SESLITE_PRIVATE void ses__pg_resume(struct pg *pg);

/* ---- query.c */

/* The engine's functions for statements. */
SESLITE_PRIVATE void ses__pg_start(struct query *query, const struct value *values);
SESLITE_PRIVATE bool ses__pg_row(struct query *query);
SESLITE_PRIVATE enum sql_type ses__pg_type(const struct query *query, int column);
SESLITE_PRIVATE int64_t ses__pg_int_of(struct query *query, int column);
SESLITE_PRIVATE struct span ses__pg_text_of(struct query *query, int column);
SESLITE_PRIVATE int ses__pg_end(struct query *query);
/* Sends a statement whose answer is of no interest. The transaction keeps a failure, after which nothing else is sent, and
 * the commit returns it. */
SESLITE_PRIVATE void ses__pg_ask(struct db *db, const struct statement *statement,
                                 const struct value *values);
/* Ends the queries that a job has left. */
SESLITE_PRIVATE void ses__pg_end_queries(struct pg *pg);
SESLITE_PRIVATE int64_t ses__pg_changed(const struct db *db);
SESLITE_PRIVATE int64_t ses__pg_given(const struct db *db);
SESLITE_PRIVATE void ses__pg_must_change(struct db *db, const char *table);
SESLITE_PRIVATE void ses__pg_lock(struct db *db, enum scope scope, int64_t owner, bool exclusive);

/* ---- send.c */

/* Sends a statement, prepared unless the config forbids that, for a run that wants the rows (or NULL). A failure is that of
 * the transaction. */
SESLITE_PRIVATE void ses__pg_send(struct pg *pg, const struct statement *source, const struct value *values,
                                  enum pg_kind kind, struct pg_run *run);

/* ---- pipeline.c */

/* Waits until the file can be read (or written, if asked), until the deadline at most. Returns SES_BUSY when that has
 * passed, or SES_INTERRUPTED, both without a message. */
SESLITE_PRIVATE int ses__pg_wait(const struct pg *pg, int file, bool writes);
/* Call the first before sending anything, so that there is room for its answer, and the second afterwards. */
SESLITE_PRIVATE void ses__pg_make_room(struct pg *pg);
SESLITE_PRIVATE void ses__pg_await(struct pg *pg, enum pg_kind kind, size_t prepared, struct pg_run *run);
/* The answer for this run will be thrown away. */
SESLITE_PRIVATE void ses__pg_abandon(struct pg *pg, const struct pg_run *run);
/* Waits for all answers. Returns the first failure of the transaction, or SES_OK. */
SESLITE_PRIVATE int ses__pg_settle(struct pg *pg);
/* Of a column of type bigint, in the binary format of the protocol. 0: it is NULL. */
SESLITE_PRIVATE int64_t ses__pg_number(const PGresult *result, int row, int column);
/* Hands everything over to the system, without waiting for answers. */
SESLITE_PRIVATE void ses__pg_dispatch(struct pg *pg);
/* Takes the answers that have arrived since. */
SESLITE_PRIVATE void ses__pg_drain(struct pg *pg);

/* The beginning of each script that names functions or operators, so that only the server's own are called. It holds for
 * the script, or for the transaction in which the script runs. */
#define PG_SAFE_PATH "SET LOCAL search_path = pg_catalog, pg_temp; "
/* Runs a text of several statements outside of the pipeline. Returns the last result, or NULL, to be cleared by the caller.
 * The connection keeps a failure, after which no script is run. */
SESLITE_PRIVATE PGresult *ses__pg_script(struct pg *pg, const char *sql);

/* ---- leave.c: connections that are given up while the server still works for them */

struct pg_leaving;
/* Closes the connection, without waiting. If the server may still work for it, cancels that in the background, adds it to the
 * list, and returns true. */
SESLITE_PRIVATE bool ses__pg_leave(struct pg *pg, struct pg_leaving **list);
/* Removes those that have left: the server has ended the process, cannot be reached, or has had enough time. Returns how
 * many these are. */
SESLITE_PRIVATE unsigned ses__pg_leaving_forget(struct pg_leaving **list);
/* Empties the list when the process may exit: the server has been asked to cancel, or cannot be. A process that exits at
 * once would leave its work to the server. */
SESLITE_PRIVATE void ses__pg_leaving_close(struct pg_leaving **list);

#endif
