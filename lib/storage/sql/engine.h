/* An engine: how it runs transactions and statements, and the few operations that every engine does in its
 * own way. Everything else is made of these. */
#ifndef SESLITE_STORAGE_SQL_ENGINE_H
#define SESLITE_STORAGE_SQL_ENGINE_H

#include "model/state/scope.h"
#include "storage/door.h"

struct check;
struct db;
struct query;
struct statement;
struct value;

/* The types of values, with SQLite's numbers (https://www.sqlite.org/c3ref/c_blob.html). The others are
 * not used. */
enum sql_type { SQL_INT = 1, SQL_TEXT = 3, SQL_BLOB = 4, SQL_NULL = 5 };

/*
 * A job runs inside one transaction, on a connection that is its own for that time, and touches nothing but
 * the connection and its own context: so jobs of several threads can be queued and committed together.
 *
 * It returns 0 or a positive value to commit, a negative code to roll back. It may run on another thread,
 * while its own waits; and it may be run again from the start (a lock, a lost connection, the failure of
 * others that shared its transaction), so it sets all of its answer itself, and frees what an earlier run has
 * left there.
 */
typedef int storage_job(struct db *db, void *context, ses_error *error);

/* Returned by a job that commits by itself. UNSUITED: the stored data did not match, and nothing has changed.
 * UNREAD: it is committed, but its answers could not be read. MUST_GO_ON is returned by a job whose
 * transaction was to end with the first answers: it has to ask or to write more. */
enum { JOB_UNSUITED = -1000, JOB_UNREAD = -1001, JOB_MUST_GO_ON = -1003 };

/* How a job is run. */
struct manner {
    bool writes;
    bool alone;                  /* once, on the caller's thread, in a transaction that no other job shares */
    const bool *repeatable;      /* alone, on a server: it may run again while this is true; NULL: never */
    bool may_be_behind;          /* a read: a replica may answer it */
    bool uninterruptible;        /* a read by a call that may write after it */
    size_t bytes;                /* about how much it writes */
    int64_t deadline_us;         /* by the steady clock, of an engine's own; 0: as the store is set */
    const struct limits *limits; /* of the call; NULL: none */
};

/* Checks what the engine keeps in its own way, then calls `check->rows`, all in one transaction that only
 * reads. */
typedef int engine_check(struct storage *storage, struct check *check);

/* How the engines differ, where an operation is the same but for that. */
struct engine_traits {
    int64_t max_session_id; /* the highest number that a session can have */
    int64_t page;           /* the rows that a walk asks for at a time; 0: they are pulled one by one */
    int64_t page_bytes;     /* of events: up to the one with which they have so many bytes */
    /* Events are packed: the place of one is its session's number * 2^32 + its own, and an id may be given as
     * the place where the body has it. Otherwise they are given as they are. */
    bool packs_events;
    bool keeps_table_sql; /* table_sql returns the text that made a table */
    bool enforces_keys;   /* foreign keys hold, whatever program writes */
    bool has_filters;     /* of invocations (storage/sql/session/filters.h) */
    /* A role that does not own the tables may not drop anything, even a table that is not there. */
    bool only_owner_drops;
    /* Finds a lease like lease_find, and in a last column what time it is; without a lease, too. NULL: the
     * caller knows. */
    const struct statement *lease_now;
    /* events_backward without a limit of bytes. NULL: that one has none. */
    const struct statement *events_newest;
};

struct engine {
    const char *name; /* as ses_info gives it */
    struct engine_traits traits;

    /* Returns what the job returns, or why the transaction failed. */
    int (*run)(struct storage *storage, const struct manner *manner, storage_job *job, void *context,
               ses_error *error);

    /* Statements, on the connection of a job; see query.h. A server gets a query at once, so that more can be
     * asked before its first row is waited for. */
    void (*start)(struct query *query, const struct value *values);
    /* Announces the last query: a reading transaction may end with its result. NULL for a local engine. */
    void (*ask_last)(struct db *db);
    bool (*row)(struct query *query);
    enum sql_type (*type)(const struct query *query, int column);
    int64_t (*int_of)(struct query *query, int column);
    struct span (*text_of)(struct query *query, int column);
    struct span (*bytes_of)(struct query *query, int column);
    int (*end)(struct query *query);
    int64_t (*changed)(const struct db *db);
    /* The statement sent last must have changed one row of the table: else a later answer is a failure with
     * CORRUPT. NULL: its rows are counted at once. */
    void (*must_change)(struct db *db, const char *table);
    int64_t (*given)(const struct db *db);
    /* Creates a session, as the job ses__create_job does, in one round trip; NULL: by that job. */
    int (*create)(struct storage *storage, struct create_op *op, ses_error *error);
    /* Appends to a session in as few round trips as possible. NULL for a local engine. */
    int (*append)(struct storage *storage, struct append_op *op, ses_error *error);
    /* NULL: nobody else writes during a transaction that writes. */
    void (*lock)(struct db *db, enum scope scope, int64_t owner, bool exclusive);

    /* Removes a damaged table from the schema, as ses__table_unlink. NULL: that cannot be done. */
    int (*unlink_table)(struct db *db, const char *name, ses_error *error);

    const struct words_engine *words; /* see storage/sql/rows/words.h */
    /* Few programs use these. NULL: as SQLite does it; see storage/sqlite/door.c. */
    int (*run_delete)(struct storage *storage, struct erasure *erasure, storage_job *job, void *context,
                      ses_error *error);
    engine_check *check;
    int (*maintain)(struct storage *storage, struct maintain_op *op, ses_error *error);
    int (*space)(struct storage *storage, struct space_op *op, ses_error *error);
    int (*watch)(struct storage *storage, struct watch_op *op, ses_error *error);
    /* As the door's functions of these names. */
    void (*interrupt)(struct storage *storage);
    void (*describe)(const struct storage *storage, ses_info *info);
    void (*count)(struct storage *storage, ses_stats *stats);

    void (*close)(struct storage *storage);
    void (*release)(struct storage *storage);
};

/* An engine's own struct begins with this one. */
struct storage {
    const struct engine *engine;
    const ses_allocator *allocator;
    bool read_only;
};

static inline int ses__run(struct storage *storage, struct manner manner, storage_job *job, void *context,
                           ses_error *error)
{
    return storage->engine->run(storage, &manner, job, context, error);
}

/* Runs a job within the limits of its call. */
static inline int ses__run_within(struct storage *storage, const struct limits *limits, struct manner manner,
                                  storage_job *job, void *context, ses_error *error)
{
    manner.limits = limits;
    return storage->engine->run(storage, &manner, job, context, error);
}

#define TO_READ ((struct manner){.writes = false})
#define TO_READ_BEHIND ((struct manner){.may_be_behind = true})
#define TO_READ_BEFORE_WRITING ((struct manner){.uninterruptible = true})
/* About so many bytes. */
#define TO_WRITE(x) ((struct manner){.writes = true, .bytes = (x)})

/* The engine's run_delete. */
SESLITE_PRIVATE int ses__engine_run_delete(struct storage *storage, struct erasure *erasure, storage_job *job,
                                           void *context, ses_error *error);
/* Runs a job that deletes; with `secure`, what it deletes is overwritten. */
SESLITE_PRIVATE int ses__run_delete(struct storage *storage, struct erasure *erasure, storage_job *job,
                                    void *context, ses_error *error);

#endif
