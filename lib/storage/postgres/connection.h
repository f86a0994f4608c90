/* One connection to a server: how it is opened, how long it waits, how its failures are reported. */
#ifndef SESLITE_STORAGE_POSTGRES_CONNECTION_H
#define SESLITE_STORAGE_POSTGRES_CONNECTION_H

#include <libpq-fe.h>
#include <stdatomic.h>

#include "storage/postgres/config.h"
#include "storage/postgres/sql_text.h"
#include "storage/sql/query.h"

enum {
    PG_PARAMETERS = POSTGRES_MOST_PARAMETERS,
    PG_AWAITED = 64,
    PG_STATEMENTS = 2 * POSTGRES_STATEMENT_COUNT
};

/* A query that was started: its parameters, then its rows. */
struct pg_run {
    struct pg_run *next; /* in the list of those that are free */
    const struct postgres_statement *statement;
    size_t slot;
    const char *values[PG_PARAMETERS];
    int lengths[PG_PARAMETERS];
    int formats[PG_PARAMETERS];
    char numbers[PG_PARAMETERS][24];
    char *list; /* of owners */
    bool sent;
    PGresult *result; /* NULL: has not come yet */
    int row;
};

/* What the server has been sent, and has not answered yet. */
enum pg_kind { PG_PREPARES, PG_ROWS, PG_CHANGES, PG_SYNC };
struct pg_awaited {
    enum pg_kind kind;
    size_t prepared;    /* which statement it prepares */
    struct pg_run *run; /* that wants the rows; NULL: nobody any more */
};

enum pg_prepared { PG_UNPREPARED, PG_PREPARING, PG_PREPARED };

struct pg {
    struct db base;
    PGconn *conn;
    const struct postgres_config *config;
    struct pg *next_idle; /* in the pool */
    struct pg *next_open;
    bool writes;     /* the transaction under way, which then locks what it finds */
    bool lost;       /* nothing can be asked of it any more */
    bool warned;     /* the server has said something beside the last answer */
    int code;        /* of the first failure in this transaction ... */
    ses_error error; /* ... which the next that asks is told */
    bool again;      /* it may go well when all is done again */
    int64_t changed; /* rows, by the last statement that writes */
    int64_t given;
    atomic_bool interrupted;
    atomic_bool interruptible;
    struct pg_run *free_runs;
    struct pg_awaited awaited[PG_AWAITED]; /* a ring */
    size_t first_awaited;
    size_t awaited_count;
    unsigned char prepared[PG_STATEMENTS]; /* enum pg_prepared */
};

static inline struct pg *ses__pg_of(struct db *db)
{
    return (struct pg *)db;
}

/* Opens one before the deadline. */
SESLITE_PRIVATE int ses__pg_open(const struct postgres_config *config, int64_t deadline_us, struct pg **pg,
                                 ses_error *error);
SESLITE_PRIVATE void ses__pg_close(struct pg *pg);

/* ---- wait.c */

/* Waits until the socket can be read (or written, too), not longer than the deadline. SES_BUSY: that has passed.
 * SES_INTERRUPTED. Both without a message. */
SESLITE_PRIVATE int ses__pg_wait(struct pg *pg, bool writes);

/* ---- failure.c */

/* Keeps the first failure of a transaction, by what the server, or libpq, has said. */
SESLITE_PRIVATE void ses__pg_fail(struct pg *pg, const PGresult *result, const char *doing);
/* The same for one of our own. */
SESLITE_PRIVATE void ses__pg_fail_as(struct pg *pg, int code, const char *doing);

/* ---- query.c */

extern SESLITE_PRIVATE const struct sql_driver ses__pg_driver;

/* ---- pipeline.c */

/* Before something is sent: makes sure that there is room to await it; and after it was, awaits it. */
SESLITE_PRIVATE void ses__pg_make_room(struct pg *pg);
SESLITE_PRIVATE void ses__pg_await(struct pg *pg, enum pg_kind kind, size_t prepared, struct pg_run *run);
/* Sends a statement without parameters; what comes of it is seen later. */
SESLITE_PRIVATE void ses__pg_send(struct pg *pg, const char *sql, enum pg_kind kind);
/* Waits until all that was sent is answered. The first failure of the transaction, or SES_OK. */
SESLITE_PRIVATE int ses__pg_settle(struct pg *pg);

#endif
