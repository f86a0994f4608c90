/*
 * One connection to a server. Statements are collected as text and sent together, when the answer of one of
 * them is needed: so a job that asks all before it takes the first row waits once.
 */
#ifndef SESLITE_STORAGE_MYSQL_CONNECTION_H
#define SESLITE_STORAGE_MYSQL_CONNECTION_H

#include <mysql.h>

#include "base/memory.h"
#include "storage/mysql/connection/config.h"
#include "storage/mysql/connection/sql_text.h"

/* The settings and statements that a connection keeps. */
enum { KEEPS_READ, KEEPS_WRITE, KEEPS_PREPARED, KEEPS_COUNT = KEEPS_PREPARED + MYSQL_PREPARED_COUNT };
enum kept { NOT_KEPT, ASKED_TO_KEEP, KEPT };

/* A query whose rows are wanted. */
struct my_run {
    struct my_run *next; /* of the job */
    const struct mysql_statement *statement;
    MYSQL_RES *result; /* NULL until it has arrived */
    MYSQL_ROW row;
    const unsigned long *lengths;
};

/* A statement that has not been answered yet. */
enum my_kind {
    MY_ROWS,
    MY_CHANGES,
    MY_ENDS, /* a transaction whose outcome nobody waits for */
    MY_SAME  /* the session that was found, which must be as it was */
};
struct my_awaited {
    enum my_kind kind;
    const struct mysql_statement *statement; /* NULL: a text of several statements */
    struct my_run *run;                      /* that wants the rows; NULL: nobody does */
    int answers;                             /* before those that END gives a block */
    const char *table;                       /* one row of it must change; NULL: any number */
    enum kept *keeps;                        /* the connection does from then on; or NULL */
};

enum { MARK_SIZE = 64 };

struct my {
    struct remote base;
    MYSQL *conn;
    const struct mysql_config *config;
    /* The name of a lock by which the server knows the connection; "": it has none yet. */
    char mark[MARK_SIZE];
    size_t packet_bytes; /* that the server takes in one piece */
    bool is_unguarded;   /* it has not looked for unknown features yet */
    bool sent;           /* statements that were sent have not been answered */
    bool at_work;        /* lost, though the server may still work for it, */
    bool committing;     /* and was asked to commit */
    unsigned number;     /* of the server's error */
    struct my_run *runs; /* of queries that have not ended */
    enum kept kept[KEEPS_COUNT];
    bool is_plain;      /* nothing is prepared: the server has no room for more */
    bool is_mariadb;    /* takes any values for prepared statements, and blocks; MySQL takes only variables */
    bool is_cluster;    /* of Galera */
    struct buffer text; /* statements that have not been sent */
    struct buffer head; /* is sent before them: the beginning of a block, or a SET of so many variables */
    int variables;
    bool unread;   /* no answer to what was sent has been read */
    bool is_block; /* that is a block, in which only rows have answers */
    bool sets;     /* it sets variables first */
    struct my_awaited *awaited;
    size_t awaited_count;
    size_t awaited_capacity;
};

static inline struct my *ses__my_of(struct db *db)
{
    return (struct my *)db;
}

/* ---- connection.c, and what else a struct remote_driver is made of */

/* Returns NULL if out of memory. */
SESLITE_PRIVATE struct remote *ses__my_new(const struct server_config *common,
                                           const struct mysql_config *config);
SESLITE_PRIVATE int ses__my_connect(struct remote *remote, ses_error *error);
SESLITE_PRIVATE bool ses__my_is_over(struct remote *remote);
SESLITE_PRIVATE void ses__my_close(struct remote *remote);
/* If the server may still work for it, it is told to stop, in the background. */
SESLITE_PRIVATE bool ses__my_leave(struct server *server, struct remote *remote);
SESLITE_PRIVATE void ses__my_begin(struct remote *remote);
SESLITE_PRIVATE void ses__my_ask_commit(struct remote *remote);
SESLITE_PRIVATE void ses__my_ask_same(struct remote *remote);
SESLITE_PRIVATE void ses__my_send_end(struct remote *remote, const struct statement *statement);
SESLITE_PRIVATE bool ses__my_drop(struct remote *remote);
SESLITE_PRIVATE void ses__my_end_queries(struct remote *remote);

/* ---- failure.c */

/* Keeps the first failure of a transaction, with the message of the server or of the client library. */
SESLITE_PRIVATE void ses__my_fail(struct my *my, const char *doing);

/* ---- query.c */

/* The engine's functions for statements. */
SESLITE_PRIVATE void ses__my_start(struct query *query, const struct value *values);
SESLITE_PRIVATE bool ses__my_row(struct query *query);
SESLITE_PRIVATE enum sql_type ses__my_type(const struct query *query, int column);
SESLITE_PRIVATE int64_t ses__my_int_of(struct query *query, int column);
SESLITE_PRIVATE struct span ses__my_text_of(struct query *query, int column);
SESLITE_PRIVATE int ses__my_end(struct query *query);
SESLITE_PRIVATE void ses__my_must_change(struct db *db, const char *table);

/* ---- format.c */

/* Adds a statement with its values to the text; or with variables that get these values before. In a cluster
 * it ends at a semicolon. Returns the rest of the statement. */
SESLITE_PRIVATE const char *ses__my_format(struct my *my, const char *sql, int parameters,
                                           const struct value *values, bool as_variables);
/* The number in a text. */
SESLITE_PRIVATE int64_t ses__my_number(const char *text);

/* ---- batch.c */

/* Takes the answers to what was sent. False: the transaction has failed, and will not take the statement. */
SESLITE_PRIVATE bool ses__my_is_ready(struct my *my, const char *name);
/* Collects a statement; a failure is that of the transaction. */
SESLITE_PRIVATE void ses__my_collect(struct my *my, const struct statement *source,
                                     const struct value *values, enum my_kind kind, struct my_run *run);
/* Collects a statement that makes the connection keep something, unless it does. */
SESLITE_PRIVATE void ses__my_keep(struct my *my, const struct statement *source, enum kept *keeps);
/* The rows for this run will be thrown away. */
SESLITE_PRIVATE void ses__my_abandon(struct my *my, const struct my_run *run);
/* Sends what was collected, and waits for all answers. Returns the first failure of the transaction, or
 * SES_OK. */
SESLITE_PRIVATE int ses__my_settle(struct my *my);
/* If the server can, it runs the statements that follow, and those that have not been sent, as a block, with
 * one answer besides rows: nobody looks at what each has changed. */
SESLITE_PRIVATE void ses__my_join(struct my *my);
/* Sends what was collected, without waiting for answers. */
SESLITE_PRIVATE void ses__my_dispatch(struct my *my);
/* Runs a text of statements by itself. Returns the first row of the last one that has rows, or NULL: to be
 * freed by the caller. The connection keeps a failure, after which no script is run. */
SESLITE_PRIVATE MYSQL_RES *ses__my_script(struct my *my, const char *sql);
/* For operations of the client library that wait: waits for what it says, and returns what has happened.
 * After the deadline, or an interrupt, makes the operation fail; `*code` is then BUSY or INTERRUPTED. */
SESLITE_PRIVATE int ses__my_wait(const struct my *my, int status, int *code);

/* Sets where the server is, how to log in, and that the client library reads no files of settings. */
SESLITE_PRIVATE bool ses__my_set_address(MYSQL *conn, const struct mysql_address *address);

#endif
