/*
 * What is stored, seen from above: the only header through which the rest of the library reaches the file.
 * Nothing above knows SQLite.
 *
 * Everything happens in jobs. A job runs inside one transaction, on a connection that is its own for that
 * time, and touches nothing but the connection and its own context: so jobs of several threads can be
 * queued, and committed together.
 */
#ifndef SESLITE_STORAGE_DOOR_H
#define SESLITE_STORAGE_DOOR_H

#include "base/common.h"
#include "model/scope.h"

struct storage;
struct db; /* a connection, inside a transaction */

struct storage_config {
    const char *path; /* as it was given; in an open storage, absolute and without links */
    const struct file_identity
        *identity; /* of the file that is open, set by ses__storage_open; NULL: in memory */
    bool in_memory;
    bool read_only;
    bool immutable; /* set by storage_open: nobody can write the file, and there is no log */
    bool must_exist;
    int synchronous;         /* SES_SYNC_* */
    int journal;             /* SES_JOURNAL_* */
    int checkpoint;          /* SES_CHECKPOINT_* */
    int64_t busy_timeout_us; /* 0: do not wait */
    unsigned max_readers;
    const ses_allocator *allocator;
};

/* `config` is copied; its path and allocator must live as long as the storage. */
SESLITE_PRIVATE int ses__storage_open(const struct storage_config *config, struct storage **storage,
                                      ses_error *error);
/* Closes the connections. No other call may be under way, and none but ses__storage_free may follow. */
SESLITE_PRIVATE void ses__storage_close(struct storage *storage);
SESLITE_PRIVATE void ses__storage_free(struct storage *storage);
/* Fills what it knows of `info`. */
SESLITE_PRIVATE void ses__storage_describe(const struct storage *storage, ses_info *info);

/*
 * Returns 0 or a positive value to commit, a negative code to roll back. It may run on another thread, while its
 * own waits; and it may be run again from the start, when the work of others that shared its transaction failed.
 */
typedef int storage_job(struct db *db, void *context, ses_error *error);
/* Runs the job in a write transaction, which it may share with others: what it returns, or why the transaction
 * failed. `bytes` is about how much it writes. */
SESLITE_PRIVATE int ses__storage_write(struct storage *storage, storage_job *job, void *context, size_t bytes,
                                       ses_error *error);
/* Runs the job in a read transaction: it sees one moment of the file. */
SESLITE_PRIVATE int ses__storage_read(struct storage *storage, storage_job *job, void *context,
                                      ses_error *error);
/* Makes the read jobs that are under way fail with INTERRUPTED. */
SESLITE_PRIVATE void ses__storage_interrupt(struct storage *storage);

/* Since opening. */
struct storage_counts {
    int64_t events;
    int64_t commits;
    int64_t write_calls;
    int64_t write_waits;
    int64_t reads;
    int64_t reader_waits;
    int64_t busy_waits;
    int64_t busy_us;
    int64_t checkpoints;
    int64_t checkpoint_us;
    int64_t cache_hits;
    int64_t cache_misses;
    /* As it is now. */
    int64_t wal_pages;
    int64_t readers_open;
    int64_t readers_in_use;
    int64_t file_bytes;
    int64_t wal_bytes;
};
SESLITE_PRIVATE void ses__storage_statistics(struct storage *storage, struct storage_counts *counts);

/* ---- inside jobs. Spans that come out live until the visitor returns. Visitors return 0 to go on, a positive
 * value to stop, a negative code to fail; the walk returns 0 or the negative code. */

struct session_row {
    int64_t id;
    int64_t app_id;
    int64_t user_id;
    int64_t version;
    int64_t last_seq;
    int64_t event_count;
    int64_t created_us;
    int64_t updated_us;
};

/* 2^31 - 1 sessions and 2^32 - 1 events in each is what fits into the key of the events table. */
#define STORAGE_MAX_SESSION_ID INT64_C(0x7FFFFFFF)
#define STORAGE_MAX_SEQ INT64_C(0xFFFFFFFF)
/* What a double holds exactly, as programs in other languages keep numbers. */
#define STORAGE_MAX_VERSION ((INT64_C(1) << 53) - 1)

/* SES_NOTFOUND (without a message) when there is none. */
SESLITE_PRIVATE int ses__session_find(struct db *db, const ses_key *key, struct session_row *row,
                                      ses_error *error);
SESLITE_PRIVATE int ses__session_by_id(struct db *db, int64_t id, struct session_row *row, ses_error *error);
/* Makes app and user where they are new. There must be no such session; its version begins above those of all that
 * were deleted. `initial_state` without text: empty. */
SESLITE_PRIVATE int ses__session_add(struct db *db, const ses_key *key, int64_t created_us,
                                     struct span initial_state, struct session_row *row, ses_error *error);
/* Writes version, last_seq, event_count and updated_us; `before` is the row as it stands. */
SESLITE_PRIVATE int ses__session_touch(struct db *db, const struct session_row *before,
                                       const struct session_row *after, ses_error *error);
/* With its events and its session state. */
SESLITE_PRIVATE int ses__session_remove(struct db *db, int64_t id, ses_error *error);

struct user_row {
    int64_t id;
    int64_t app_id;
};
SESLITE_PRIVATE int ses__app_find(struct db *db, const char *app, int64_t *id, ses_error *error);
SESLITE_PRIVATE int ses__user_find(struct db *db, const char *app, const char *user, struct user_row *row,
                                   ses_error *error);
/* With all sessions and the user state; counts them. */
SESLITE_PRIVATE int ses__user_remove(struct db *db, const struct user_row *user, int64_t *sessions,
                                     int64_t *state_keys, ses_error *error);

/* A place in a list: behind the session it names. For creation order only `session_id` counts. */
struct list_place {
    int64_t updated_us;
    struct span name;
    int64_t user_id;
    int64_t session_id;
};

struct list_query {
    bool whole_app; /* all users of the app, else one */
    int64_t app_id;
    int64_t user_id; /* of the one */
    int order;       /* SES_ORDER_* */
    int64_t limit;
    bool from_start; /* else behind `after` */
    struct list_place after;
};

/* Each row is behind the one before, and the first behind `after`; else CORRUPT. */
typedef int session_visitor(void *context, const struct session_row *row, struct span name, struct span user,
                            ses_error *error);
SESLITE_PRIVATE int ses__sessions_list(struct db *db, const struct list_query *query, session_visitor *visit,
                                       void *context, ses_error *error);

enum { STORED_SCOPES = SCOPE_TEMP };

/* Keys are without their prefix; values are JSON text. The owner is an app, user or session id. */
typedef int state_visitor(void *context, struct span key, struct span value, ses_error *error);
SESLITE_PRIVATE int ses__state_each(struct db *db, enum scope scope, int64_t owner, state_visitor *visit,
                                    void *context, ses_error *error);
/* Visits nothing when there is no such key. */
SESLITE_PRIVATE int ses__state_one(struct db *db, enum scope scope, int64_t owner, struct span key,
                                   state_visitor *visit, void *context, ses_error *error);
/* `seq` is the event of session `session` that sets it; 0: the session's creation. */
SESLITE_PRIVATE int ses__state_set(struct db *db, enum scope scope, const struct session_row *session,
                                   int64_t seq, struct span key, struct span value, ses_error *error);
SESLITE_PRIVATE int ses__state_remove(struct db *db, enum scope scope, const struct session_row *session,
                                      struct span key, ses_error *error);

struct event_row {
    int64_t seq;
    int64_t time_us;
    int64_t high_us; /* the latest time_us up to and including this event */
    struct span id;
    struct span invocation_id;
    struct span author;
    struct span branch; /* without text: none */
    struct span body;
};

typedef int event_visitor(void *context, const struct event_row *row, ses_error *error);
/* SES_EXISTS (without a message) when the session has an event of that id. */
SESLITE_PRIVATE int ses__event_add(struct db *db, int64_t session_id, const struct event_row *row,
                                   ses_error *error);
/* Visits nothing when there is no such event. */
SESLITE_PRIVATE int ses__event_by_id(struct db *db, int64_t session_id, struct span id, event_visitor *visit,
                                     void *context, ses_error *error);

enum walk { WALK_FORWARD, WALK_BACKWARD, WALK_BACKWARD_TIMES /* only seq, time_us and high_us */ };
/* Sequence numbers from `first` to `last`, both included. */
SESLITE_PRIVATE int ses__events_walk(struct db *db, int64_t session_id, int64_t first, int64_t last,
                                     enum walk walk, event_visitor *visit, void *context, ses_error *error);

#endif
