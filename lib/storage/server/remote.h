/* A connection to a server, and the transaction on it, as far as they are the same for each engine on a
 * server. */
#ifndef SESLITE_STORAGE_SERVER_REMOTE_H
#define SESLITE_STORAGE_SERVER_REMOTE_H

#include <poll.h>
#include <stdatomic.h>

#include "storage/sql/query.h"

struct remote;
struct server;

/* The pages of a walk: enough for most reads to need one round trip, few enough for memory. */
enum { ROWS_IN_PAGE = 1000, BYTES_IN_PAGE = 4 * 1024 * 1024 };

/* The configuration of every store on a server. The allocator must live as long as the storage. */
struct server_config {
    const char *name; /* of the store, for messages, without secrets */
    bool read_only;
    bool must_exist;
    bool has_clock; /* leases go by the caller's clock, not by the server's */
    unsigned max_connections;
    int64_t timeout_us;
    const ses_allocator *allocator;
    /* Set by the engine. */
    const struct engine *engine;
    const struct remote_driver *driver;
    int first_version;  /* of the first release's stores: unreleased states numbered theirs below it */
    int latest_version; /* of the schema */
};

/* The statements of which each server has a text of its own, and that are run in the same way on all. */
struct server_statements {
    const struct statement *locks[SCOPE_SESSION][2]; /* of an app and of a user: shared, and exclusive */
    const struct statement *create_session;          /* of the user that was found; returns its row */
    const struct statement *space;
    /* With these a check begins: each row is a problem, in words. */
    const struct statement *check_columns;
    const struct statement *check_indexes;
    const struct statement *check_orphans;
    const struct statement *check_shards; /* NULL: there are none */
    const struct statement *check_floors; /* of versions, with few or none above them */
    const struct statement *check_count;  /* of sessions */
    const char *floor_of;                 /* names a floor in messages */
};

/* The operations on a connection that each engine has of its own. A failure is kept in the connection, unless
 * there is an error to set. */
struct remote_driver {
    const struct server_statements *statements;
    /* Makes a connection that is not connected yet. Returns NULL if out of memory. */
    struct remote *(*make)(struct server *server);
    /* Connects before the deadline, and makes the settings that the statements depend on. */
    int (*connect)(struct remote *remote, ses_error *error);
    /* Creates, upgrades or refuses the schema, outside of a transaction: NOTFOUND, NOTASTORE, TOONEW,
     * READONLY. After a failure the connection is not used again. */
    void (*bring_up_to_date)(struct remote *remote, const struct server_config *config);
    /* True if the server has ended the connection while it was idle. */
    bool (*is_over)(struct remote *remote);
    void (*close)(struct remote *remote);
    /* Closes a lost connection, without waiting. True: the server may still work for it, and it counts as
     * open until `left` says otherwise. */
    bool (*leave)(struct server *server, struct remote *remote);
    /* How many have left since the last call. NULL: none is ever waited for. */
    unsigned (*left)(struct server *server);

    /* Asks for the beginning of a transaction, which writes or not. */
    void (*begin)(struct remote *remote);
    /* Asks for the commit; the end of the transaction was asked for if that goes well. */
    void (*ask_commit)(struct remote *remote);
    /* Asks for the session that was found last, which must be as it was. */
    void (*ask_same)(struct remote *remote);
    /* Sends what was asked for. Then waits for all answers, and returns the first failure of the transaction,
     * or SES_OK. */
    int (*settle)(struct remote *remote);
    /* Sends the end of the transaction, COMMIT or ROLLBACK, without waiting for the answer. */
    void (*send_end)(struct remote *remote, const struct statement *statement);
    /* Waits for what was sent, drops what was not, and returns whether a transaction may be open. */
    bool (*drop)(struct remote *remote);
    /* Ends the queries that a job has left. */
    void (*end_queries)(struct remote *remote);
    /* Translates a code of the commit of a creation, or of a statement before it. JOB_UNSUITED: a job has to
     * look. */
    int (*refuse_creation)(struct db *db, const struct create_op *op, int code, ses_error *error);
};

/* An engine's own struct begins with this one. */
struct remote {
    struct db db;
    const struct remote_driver *driver;
    struct remote *next_idle; /* in the pool */
    struct remote *next_open;
    bool connected;
    bool lost;                  /* it cannot be used any more */
    bool writes;                /* the current transaction writes, and so locks the rows that it finds */
    bool ended;                 /* the end of the current transaction was asked for */
    bool wrote;                 /* the current transaction has asked for a statement that writes */
    bool stays_open;            /* a transaction that only reads does not end before its job does */
    bool unconfirmed;           /* the server has committed without its standbys */
    bool again;                 /* the transaction may succeed if it is run again */
    int code;                   /* of the first failure in this transaction, */
    ses_error error;            /* which the next query reports */
    int64_t commit_deadline_us; /* until when a commit that was sent is awaited */
    int64_t changed;            /* rows changed by the last statement that writes */
    int64_t given;              /* the number that the last row got */
    atomic_bool interrupted;
    atomic_bool interruptible;
};

static inline struct remote *ses__remote_of(struct db *db)
{
    return (struct remote *)db;
}

SESLITE_PRIVATE void ses__remote_init(struct remote *remote, const struct server_config *config);

/* The call waits for the outcome of a commit that was sent: its own limits do not end that. */
SESLITE_PRIVATE bool ses__remote_is_committing(const struct remote *remote);
/* Waits for what the file is polled for, until the deadline at most. Returns SES_BUSY when that has passed,
 * or SES_INTERRUPTED, both without a message. */
SESLITE_PRIVATE int ses__remote_wait(const struct remote *remote, struct pollfd *polled);
/* True if the file can be read at once, or is closed. */
SESLITE_PRIVATE bool ses__remote_has_news(int file);
/* After a wait that failed: nobody will read the remaining answers. */
SESLITE_PRIVATE void ses__remote_give_up(struct remote *remote, int code);
/* Keeps a failure that the library has found, unless there was one before. */
SESLITE_PRIVATE void ses__remote_fail(struct remote *remote, int code, const char *doing);
SESLITE_PRIVATE void ses__remote_forget_failure(struct remote *remote);
/* Copies a failure of the transaction to the query. */
SESLITE_PRIVATE void ses__remote_report(const struct remote *remote, struct query *query);
/* One row of the table should have changed, and a number of others has. */
SESLITE_PRIVATE void ses__remote_refuse_unchanged(struct remote *remote, const char *table);

/* Asks for the beginning of a transaction, and forgets all about the one before. */
SESLITE_PRIVATE void ses__remote_begin(struct remote *remote, bool writes);
/* Before each statement of a query. After the end of a transaction that only reads, another one goes on where
 * it ended; it fails, and the call is made again in a transaction that stays open, if the session has changed
 * meanwhile. */
SESLITE_PRIVATE void ses__remote_go_on(struct remote *remote, bool is_write, const char *doing);
/* The engine's ask_last. */
SESLITE_PRIVATE void ses__remote_ask_last(struct db *db);
/* Asks for the commit, and waits for all answers. A job may commit by itself: then it reads the answers after
 * that. */
SESLITE_PRIVATE int ses__remote_commit(struct db *db, ses_error *error);
/* Ends the transaction without waiting for the server. If that cannot be sent, the connection is lost. */
SESLITE_PRIVATE void ses__remote_end_later(struct remote *remote, const struct statement *statement);
SESLITE_PRIVATE void ses__remote_roll_back(struct remote *remote);

/* Asks for a statement whose answer is of no interest. The transaction keeps a failure, after which nothing
 * else is asked, and the commit returns it. */
SESLITE_PRIVATE void ses__remote_ask(struct db *db, const struct statement *statement,
                                     const struct value *values);

/* The engine's functions of these names. */
SESLITE_PRIVATE void ses__remote_lock(struct db *db, enum scope scope, int64_t owner, bool exclusive);
SESLITE_PRIVATE int64_t ses__remote_changed(const struct db *db);
SESLITE_PRIVATE int64_t ses__remote_given(const struct db *db);

#endif
