/* One connection to a server: how it is opened, how long it waits, how its failures are reported. */
#ifndef SESLITE_STORAGE_POSTGRES_CONNECTION_H
#define SESLITE_STORAGE_POSTGRES_CONNECTION_H

#include <libpq-fe.h>
#include <stdatomic.h>

#include "storage/postgres/config.h"
#include "storage/postgres/sql_text.h"
#include "storage/sql/query.h"

enum { PG_PARAMETERS = POSTGRES_MOST_PARAMETERS, PG_LISTS = 3 };

/* A query that was started: its parameters, then its rows. */
struct pg_run {
    struct pg_run *next; /* in the list of those that are free, or of those that were sent ahead */
    const struct postgres_statement *statement;
    size_t slot;
    const char *values[PG_PARAMETERS];
    int lengths[PG_PARAMETERS];
    int formats[PG_PARAMETERS];
    char numbers[PG_PARAMETERS][24];
    char *lists[PG_LISTS];
    size_t list_count;
    bool sent;
    PGresult *result; /* NULL: has not come yet */
    bool borrowed;    /* the result is that of a query that was sent ahead */
    int row;
    /* Of a query that is sent ahead. */
    size_t answers;                      /* the slot of the statement that it is asked for as */
    unsigned char stands[PG_PARAMETERS]; /* enum pg_stand: what the parameters are */
    struct pg_run *source;               /* finds what they are ... */
    int64_t most;                        /* ... in so many of its rows ... */
    char most_text[24];                  /* ... as it is sent */
};

/* What the server has been sent, and has not answered yet. */
enum pg_kind { PG_PREPARES, PG_ROWS, PG_CHANGES, PG_COMMITS, PG_ENDS, PG_SYNC };
struct pg_awaited {
    enum pg_kind kind;
    size_t prepared;    /* which statement it prepares */
    struct pg_run *run; /* that wants the rows; NULL: nobody any more */
};

/* A statement as it was sent: a text of its own for each way in which it is. Its name follows from the text: behind a pooler
 * in the wrong mode, another client's statement of the same name is the same statement. */
enum pg_prepared { PG_UNPREPARED, PG_PREPARING, PG_PREPARED };
struct pg_text {
    char *text;
    size_t len;
    char name[32];
    enum pg_prepared prepared;
};

/* Is the transaction over that a job asks? Then only what was announced can be; and what it changes was changed with it, or
 * was only to be looked at. */
enum pg_whole { PG_OPEN, PG_LOOKED, PG_STORED };

/* What is sent before a job asks for it (ahead.h). */
struct pg_ahead {
    bool announcing;
    enum pg_whole whole;
    bool missed;         /* something was asked that was not announced, and could not be any more */
    int parameter;       /* of the next, which may be another when it is asked for; 0: none */
    unsigned char stand; /* enum pg_stand: what it may be */
    const struct statement *answers; /* what the next is asked for as; NULL: itself */
    int64_t most;                    /* rows of the source that count */
    struct pg_run *source;
    struct pg_run *first;
    struct pg_run *last;
    struct pg_run *next; /* after the one that was asked for last */
};

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
    struct pg_awaited *awaited; /* a ring */
    size_t awaited_capacity;
    size_t first_awaited;
    size_t awaited_count;
    struct pg_ahead ahead;
    size_t plain
        [2 *
         POSTGRES_STATEMENT_COUNT]; /* the number of the statement's text, and with what locks; 0: none yet */
    struct pg_text *texts;
    size_t text_count;
    size_t text_capacity;
};

static inline struct pg *ses__pg_of(struct db *db)
{
    return (struct pg *)db;
}

/* One that is not connected yet. NULL: no memory. */
SESLITE_PRIVATE struct pg *ses__pg_new(const struct postgres_config *config);
/* Connects it before its deadline. `*host` is the host to begin with, of those that the string names, and is set to the
 * one that took it. */
SESLITE_PRIVATE int ses__pg_connect(struct pg *pg, atomic_size_t *host, ses_error *error);
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

/* ---- script.c */

/* With what a script begins that names functions or operators: nobody else's are called. It holds for the script, or for the
 * transaction in which that is run. */
#define PG_SAFE_PATH "SET LOCAL search_path = pg_catalog, pg_temp; "
/* Runs a text of several statements outside of the pipeline, and gives the last result, to be cleared. */
SESLITE_PRIVATE int ses__pg_script(struct pg *pg, const char *sql, PGresult **last, ses_error *error);
/* Runs it for nothing but what it does. */
SESLITE_PRIVATE int ses__pg_run(struct pg *pg, const char *sql, ses_error *error);

/* ---- query.c */

extern SESLITE_PRIVATE const struct sql_driver ses__pg_driver;

/* ---- run_text.c */

/* Sends the run's statement: prepared, unless the config forbids it. False: it was not sent. */
SESLITE_PRIVATE bool ses__pg_send_text(struct pg *pg, const struct pg_run *run);
/* Sends a statement with at most one parameter (NULL: none); what comes of it is seen later. */
SESLITE_PRIVATE void ses__pg_send(struct pg *pg, const struct statement *statement, const char *parameter,
                                  enum pg_kind kind);
SESLITE_PRIVATE void ses__pg_forget_texts(struct pg *pg);

/* ---- pipeline.c */

/* Before something is sent: makes sure that there is room to await it; and after it was, awaits it. */
SESLITE_PRIVATE void ses__pg_make_room(struct pg *pg);
SESLITE_PRIVATE void ses__pg_await(struct pg *pg, enum pg_kind kind, size_t prepared, struct pg_run *run);
/* Nobody waits for this run any more. */
SESLITE_PRIVATE void ses__pg_abandon(struct pg *pg, const struct pg_run *run);
/* Waits until all that was sent is answered. The first failure of the transaction, or SES_OK. */
SESLITE_PRIVATE int ses__pg_settle(struct pg *pg);
/* Makes sure that the server has what was sent, and does not wait for what it says. */
SESLITE_PRIVATE void ses__pg_dispatch(struct pg *pg);
/* Takes what has come of that, as far as it has. */
SESLITE_PRIVATE void ses__pg_drain(struct pg *pg);

#endif
