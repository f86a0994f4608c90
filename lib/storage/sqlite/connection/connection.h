/* One SQLite connection: how it is opened, how long it waits and works, how its failures are reported. */
#ifndef SESLITE_STORAGE_SQLITE_CONNECTION_CONNECTION_H
#define SESLITE_STORAGE_SQLITE_CONNECTION_CONNECTION_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <time.h>

#include "base/limits.h"
#include "storage/sqlite/connection/config.h"
#include "storage/sql/query.h"
#include "storage/sqlite/connection/file.h"

/* The file that every connection of a store is on. */
struct sqlite_file {
    struct file_identity identity;
    struct file_identity log;       /* -wal */
    struct file_identity log_index; /* -shm */
    bool known;                     /* false: in memory */
    bool has_log;   /* the two are known; no program takes them away in good order while the store is open */
    bool immutable; /* no program can write it, and there is no log */
};

/* How far checkpoints have come, as the log's index says. */
struct checkpoint_progress {
    uint32_t salt[2];
    uint32_t copied;
    uint32_t attempted;
};

/* The state of the files at the last look of the writing connection; see file_guard.c. */
enum { FILE_COUNTER_BYTES = 16 };
struct file_guard {
    struct timespec folder_time;
    int64_t busy_until_us; /* until then the folder's time says too little */
    bool quiet;            /* nothing had come or gone at the last look */
    bool sure;             /* the members below were read while no checkpoint ran */
    bool overwritten;
    struct checkpoint_progress progress;
    struct timespec file_time;
    off_t bytes;
    unsigned char counter[FILE_COUNTER_BYTES];
};

/* The kinds of work of a connection, which decide the limit of its statements. */
enum work { WORK_OF_STATEMENTS, WORK_OF_OPENING };

struct connection {
    struct db base;
    sqlite3 *handle;
    const struct sqlite_config *config;
    pthread_mutex_t interrupting; /* held while interrupting; guards the next two */
    bool interruptible;           /* by another thread */
    atomic_bool interrupted;      /* read without the lock */
    struct connection *next_idle; /* in the pool of readers */
    struct connection *next_open;
    int64_t wal_pages;  /* in the write-ahead file, after the last commit of this connection */
    int64_t busy_waits; /* not yet counted in the storage's */
    int64_t busy_us;
    int64_t work;       /* of the statement under way, in SQLite's steps */
    enum work limit;    /* for it */
    bool endless;       /* it made too many steps */
    bool failed;        /* a statement has failed since this was set to false */
    bool reshaped;      /* a statement that changes more than rows was run since this was set to false */
    int64_t watched;    /* `PRAGMA data_version` of the last look for followers; 0: unknown */
    int open_queries;   /* begun, and not ended */
    bool is_writer;     /* of a store that may be written */
    bool features_seen; /* the last look found no feature that forbids its use */
    /* Then, or after the last commit of this connection. It changes with every commit. */
    unsigned data_version;
    struct file_guard guard;
    sqlite3_stmt *statements[STATEMENT_COUNT];
    bool reshapes[STATEMENT_COUNT]; /* does the statement change more than rows? */
};

static inline struct connection *ses__connection_of(struct db *db)
{
    return (struct connection *)db;
}

/* ---- id_list_vtab.c: a list of owners as a table of SQL, so that one statement reads the state of many.
 * temp.seslite_owners(?1) has a row for each owner of the list that was bound, in the list's order, with its
 * id. (`temp.` keeps a table of that name in the file out of the way.) Both return SQLite's codes. The list
 * must live as long as it is bound. */
SESLITE_PRIVATE int ses__id_list_register(sqlite3 *handle);
SESLITE_PRIVATE int ses__id_list_bind(sqlite3_stmt *statement, int parameter,
                                      const struct owner_list *owners);

/* ---- query.c: the engine's functions for statements */
SESLITE_PRIVATE void ses__sqlite_start(struct query *query, const struct value *values);
SESLITE_PRIVATE bool ses__sqlite_row(struct query *query);
SESLITE_PRIVATE enum sql_type ses__sqlite_type(const struct query *query, int column);
SESLITE_PRIVATE int64_t ses__sqlite_int_of(struct query *query, int column);
SESLITE_PRIVATE struct span ses__sqlite_text_of(struct query *query, int column);
SESLITE_PRIVATE struct span ses__sqlite_bytes_of(struct query *query, int column);
SESLITE_PRIVATE int ses__sqlite_end(struct query *query);
SESLITE_PRIVATE int64_t ses__sqlite_changed(const struct db *db);
SESLITE_PRIVATE int64_t ses__sqlite_given(const struct db *db);
/* Ends the queries that a job has left. */
SESLITE_PRIVATE void ses__sqlite_end_queries(struct connection *db);

enum connection_role { CONNECTION_WRITER, CONNECTION_READER };

/* The limits are those of the call that opens it, and of what it does next. */
SESLITE_PRIVATE int ses__connection_open(const struct sqlite_config *config, enum connection_role role,
                                         const struct limits *limits, struct connection **db,
                                         ses_error *error);
SESLITE_PRIVATE void ses__connection_close(struct connection *db);
/* Around a call that uses the connection: how long it waits for locks, whether it may be interrupted, and its
 * limits. */
SESLITE_PRIVATE void ses__connection_start_call(struct connection *db, int64_t deadline_us,
                                                bool interruptible, const struct limits *limits);
/* The statements that end a transaction are no longer interrupted, and have no limits. Waits for an interrupt
 * in progress. */
SESLITE_PRIVATE void ses__connection_end_call(struct connection *db);
/* From any thread: the call under way fails with INTERRUPTED, if it may be interrupted. */
SESLITE_PRIVATE void ses__connection_interrupt(struct connection *db);
/* True if the call under way must end. */
static inline bool ses__connection_must_end(const struct connection *db)
{
    return atomic_load_explicit(&db->interrupted, memory_order_relaxed) ||
           (db->base.limits && ses__limits_passed(db->base.limits));
}
/* Moves what the connection has counted since the last time into the storage's counts. */
SESLITE_PRIVATE void ses__connection_count(struct connection *db, ses_stats *counts);
enum { CONNECTION_LONGEST_PAUSE_US = 1000 };
/* Sleeps for at most that long before another try; false when the time is over. `tries` counts from 0. */
SESLITE_PRIVATE bool ses__connection_wait(struct connection *db, int tries);

/*
 * From now on a statement that finds more rows than the file has room for ends with CORRUPT: in a damaged or
 * hostile file one step can go in circles, where no check of ours looks. ses__connection_execute is not
 * limited.
 */
SESLITE_PRIVATE void ses__connection_limit_work(struct connection *db, enum work work);
/* Restarts the count towards the limit, before a statement that does not go through a query. */
SESLITE_PRIVATE void ses__connection_start_work(struct connection *db);

/* ---- connection_file.c */

/* The database (SQLITE_FCNTL_FILE_POINTER), or its journal or log (SQLITE_FCNTL_JOURNAL_POINTER). NULL: it is
 * not open. */
SESLITE_PRIVATE sqlite3_file *ses__connection_file(struct connection *db, int which);
/* The bytes of both. */
SESLITE_PRIVATE int64_t ses__connection_file_bytes(struct connection *db);
/* True if the file begins like one that is not encrypted. */
SESLITE_PRIVATE bool ses__connection_is_plain(struct connection *db);
/* True if the file, with its log, is shorter than the number of pages in its head. */
SESLITE_PRIVATE bool ses__connection_is_cut_short(struct connection *db);
/* For a file that SQLite does not recognize: true if it seems to have another key than the connection. */
SESLITE_PRIVATE bool ses__connection_lacks_key(struct connection *db);
/* True if the file is plain and the connection has a key, or the other way round, as the first bytes say. No
 * transaction changes them, and no journal is played back for it. */
SESLITE_PRIVATE bool ses__connection_is_other_kind(struct connection *db);

/* ---- file_guard.c */

/* IO: the file or its log was deleted, moved or replaced. */
SESLITE_PRIVATE int ses__connection_check_file(const struct connection *db, ses_error *error);
/* The look before a commit, in the transaction of the writing connection. IO also when the file has got a
 * second name, was cut short or overwritten. */
SESLITE_PRIVATE int ses__connection_guard_file(struct connection *db, ses_error *error);
/* Looks which files are the log and its index, right after they were opened. */
SESLITE_PRIVATE void ses__file_know_log(const char *path, struct sqlite_file *file);

/* ---- failure.c */

/* Translates SQLite's result code into a code and a message that says what was being done. */
SESLITE_PRIVATE int ses__connection_error(struct connection *db, int rc, const char *doing, ses_error *error);
/* The same for a statement. Ours are correct, so an error that SQLite finds in one is in the file. */
SESLITE_PRIVATE int ses__statement_error(struct connection *db, int rc, const char *doing, ses_error *error);
/* BUSY: other threads of this process have used it since `begun_us`. INTERRUPTED: the call was cancelled.
 * `what` is "the ... connection is". */
SESLITE_PRIVATE int ses__refuse_busy(const struct sqlite_config *config, const struct limits *limits,
                                     int64_t begun_us, const char *what, ses_error *error);
/* Runs SQL text that yields no rows we look at. */
SESLITE_PRIVATE int ses__connection_execute(struct connection *db, const char *sql, const char *doing,
                                            ses_error *error);
/* Gives each row to the function, until it returns anything but SES_OK. */
typedef int connection_visit(void *context, sqlite3_stmt *row, ses_error *error);
SESLITE_PRIVATE int ses__connection_visit(struct connection *db, const char *sql, connection_visit *visit,
                                          void *context, ses_error *error);
/* The first column of the only row; SQL that yields none gives 0. */
SESLITE_PRIVATE int ses__connection_read_int(struct connection *db, const char *sql, int64_t *value,
                                             ses_error *error);

/* ---- transaction.c */

SESLITE_PRIVATE int ses__transaction_begin(struct connection *db, const struct statement *how,
                                           ses_error *error);
SESLITE_PRIVATE void ses__transaction_roll_back(struct connection *db);
/* NOMEM: a statement that succeeded has ended it. When memory runs out in ANALYZE, SQLite 3.46 rolls back
 * without reporting a failure. */
SESLITE_PRIVATE int ses__transaction_check_open(struct connection *db, ses_error *error);
/* After a commit of this connection: it has added no feature. */
SESLITE_PRIVATE void ses__transaction_committed(struct connection *db);
/* In a transaction of its own. TOONEW, or READONLY if the store may be written: the file has a feature that
 * this library does not know. */
SESLITE_PRIVATE int ses__transaction_check_features(struct connection *db, ses_error *error);
/* Runs a job that reads in a transaction of its own. */
SESLITE_PRIVATE int ses__transaction_read(struct connection *db, storage_job *job, void *context,
                                          ses_error *error);

/* ---- commit.c */

/* Commits a transaction that wrote. UNKNOWN: it may be stored or not. After any other failure nothing is, and
 * the transaction may still be open. */
SESLITE_PRIVATE int ses__commit(struct connection *db, ses_error *failure);

/* ---- pages.c */

/* Receives each step; a non-zero result ends the copying. */
struct copy_progress {
    int (*report)(void *context, int64_t done, int64_t total); /* may be NULL */
    void *context;
};
/* Copies all pages of `from`, on which a read transaction or the writer's turn keeps others from writing, to
 * `to`, which nobody else uses. `schema` is "main", or the name of an attached database in memory. `progress`
 * may be NULL. INTERRUPTED: `from` was interrupted, or the progress ended it. */
SESLITE_PRIVATE int ses__pages_copy(struct connection *from, struct connection *to, const char *schema,
                                    const struct copy_progress *progress, ses_error *error);
/* CORRUPT: the file, with its log, is too short for the pages that it says it has. */
SESLITE_PRIVATE int ses__pages_count(struct connection *db, int64_t *pages, ses_error *error);

#endif
