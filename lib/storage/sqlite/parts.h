/* A store in a file or in memory: one connection that writes, a pool of connections that read. */
#ifndef SESLITE_STORAGE_SQLITE_PARTS_H
#define SESLITE_STORAGE_SQLITE_PARTS_H

#include <pthread.h>

#include "base/thread.h"
#include "storage/sqlite/connection/connection.h"
#include "storage/door.h"
#include "storage/sql/engine.h"

struct check;
struct pending; /* a job that waits for the writer; see writer.c */

enum job_kind {
    JOB_WRITES,
    JOB_WRITES_BY_ITSELF, /* in a transaction that no other job shares, and on its own thread */
    JOB_READS,            /* these and the next are the only ones that an interrupt ends */
    JOB_READS_BY_ITSELF,  /* on its own thread; only in memory, where others run on it as well */
    JOB_READS_TO_WRITE,   /* the first step of a call that may write */
    JOB_WATCHES,          /* a read for followers, which belongs to no call and waits only briefly */
    JOB_ALONE /* runs in the writer's turn, without a transaction; no call of its own in the counts */
};

/* Guarded by the storage's lock, except for `db`, which belongs to the thread that has the turn. */
struct writer {
    struct connection *db; /* NULL: the store is only read, and not in memory */
    bool taken;            /* a call has the turn, or was handed it and has not woken yet */
    struct pending *first; /* the calls that wait, in order of arrival */
    struct pending *last;
    size_t queued;
    size_t awaited;               /* the leader waits for this many in the queue; 0: for none */
    pthread_cond_t company;       /* that many have come */
    size_t last_group;            /* jobs in the last commit */
    int64_t commit_us;            /* how long it had the lock, its jobs included */
    int64_t last_commit_us;       /* when it ended, by the steady clock */
    int64_t kept_since_us;        /* other processes have had no chance to take the lock since then */
    int64_t give_way_interval_us; /* after this time they are given one */
};

struct readers {
    pthread_cond_t given_back;
    struct connection *idle;
    struct connection *all;
    unsigned open;
    unsigned in_use;
    int64_t looked_us; /* when the file was last looked at for a read, by the steady clock */
};

enum checkpoint_work {
    CHECKPOINT_NONE,
    CHECKPOINT_IN_TURN,
    CHECKPOINT_CONCURRENT /* concurrently with the writers, after a moment in the turn */
};

struct checkpoint_attempts {
    int failed; /* the last ones, in a row */
    int64_t not_before_us;
};

/* Copies pages from the write-ahead file, the log, into the database; see wal/checkpoint.c. */
struct checkpointer {
    pthread_t thread;
    pthread_cond_t wake;
    bool started; /* the thread runs */
    bool stops;
    bool due;
    atomic_bool wants_thread;  /* a checkpoint must run, and there is no thread; without the lock */
    bool finishes;             /* the rest of a concurrent copy must be copied now */
    enum checkpoint_work work; /* the work that came with the turn */
    struct connection *copier; /* the connection that copies concurrently with the writers */
    int64_t wal_pages;         /* as of the last commit */
    int64_t copied_pages;      /* of these, as of the last checkpoint */
    int64_t page_ns;           /* to copy one, by the last checkpoint that copied many */
    struct checkpoint_attempts copying;
    struct checkpoint_attempts waiting; /* for readers, to start the log again */
    int slowed_last;
    atomic_int slowed; /* writers pause for this multiple of a commit's time; without the lock */
};

enum { JOURNAL_MODE_BYTES = 16 };

/* The write-ahead file's length; see wal_file.c. Used by the thread that has the turn, without the lock. */
struct wal_file {
    int64_t limit; /* SQLite's journal_size_limit */
    int64_t bytes; /* its length when last looked at, or 0; others may have changed it since */
};

struct sqlite {
    struct storage base;
    struct sqlite_config config; /* its path is absolute and without links */
    struct sqlite_file file;
    const char *given_path; /* the caller's */
    char *path;             /* the config's */
    char journal_mode[JOURNAL_MODE_BYTES];
    const char *journal_reason;
    unsigned char key[SES_KEY_BYTES];
    struct registry_entry *registry_entry; /* of the file; NULL: in memory */
    pthread_mutex_t lock;                  /* guards everything below it */
    struct writer writer;
    struct readers readers;
    struct checkpointer checkpointer;
    struct wal_file wal_file;
    ses_stats counts;
};

/* ---- writer.c */

/* Queues the job, and returns when it was committed, alone or with others, or has failed. */
SESLITE_PRIVATE int ses__writer_run(struct sqlite *storage, storage_job *job, void *context, size_t bytes,
                                    enum job_kind kind, const struct limits *limits, ses_error *error);
/* Called with the lock by the thread that has the turn: hands it on. */
SESLITE_PRIVATE void ses__writer_hand_on(struct sqlite *storage);

/* ---- give_way.c: called by the thread that has the turn */

/* Before a transaction: leaves the lock free for a moment if that is due. */
SESLITE_PRIVATE void ses__give_way(struct writer *writer);
/* After a transaction had to wait: other processes also write to the file. */
SESLITE_PRIVATE void ses__give_way_others_seen(struct writer *writer);

/* ---- readers.c */

SESLITE_PRIVATE int ses__readers_run(struct sqlite *storage, storage_job *job, void *context,
                                     enum job_kind kind, const struct limits *limits, ses_error *error);
/* For a store that is only read: the connection that opened it becomes the first reader, since each new one
 * parses the schema. */
SESLITE_PRIVATE void ses__readers_adopt(struct sqlite *storage);
SESLITE_PRIVATE void ses__readers_close(struct sqlite *storage);

/* ---- wal/wal_account.c */

/* From WAL_PRESSING_PAGES pages on, a checkpoint also waits a little for readers, so that the log starts
 * again even under constant reading. More than WAL_MAX_IN_TURN uncopied pages are never copied in the
 * writer's turn, however fast the disk. */
enum { WAL_PRESSING_PAGES = 4000, WAL_MAX_IN_TURN = 4000 };

/* The result of sqlite3_wal_checkpoint_v2. */
struct checkpoint_run {
    int rc;
    int frames; /* in the log; -1: not known, nothing was done */
    int copied;
    bool waits; /* for readers */
    int64_t us;
    int64_t waited_us; /* of these */
};

/* With the lock: records a run. True if it has copied something. */
SESLITE_PRIVATE bool ses__wal_account(struct sqlite *storage, const struct checkpoint_run *run);
/* With the lock: true if the rest is short enough to be copied in the writer's turn. */
SESLITE_PRIVATE bool ses__wal_fits_turn(const struct checkpointer *own);
/* With the lock, after a commit: decides whether a checkpoint is due. */
SESLITE_PRIVATE void ses__wal_note_commit(struct sqlite *storage);
/* Called before a transaction by the thread that has the turn: pauses if writers are faster than the
 * copying. */
SESLITE_PRIVATE void ses__wal_slow_down(struct sqlite *storage);

/* ---- wal/checkpoint.c, wal/checkpoint_concurrent.c */

SESLITE_PRIVATE int ses__checkpoint_setup(struct sqlite *storage, ses_error *error);
/* After a write, without the lock: starts the thread for the first checkpoint. */
SESLITE_PRIVATE void ses__checkpoint_start(struct sqlite *storage);
/* Ends the thread. Without the lock. */
SESLITE_PRIVATE void ses__checkpoint_stop(struct sqlite *storage);
/* By the checkpointer's thread, without the lock and without the turn. */
SESLITE_PRIVATE void ses__checkpoint_concurrently(struct sqlite *storage);

/* ---- erase.c */

/* For the connection that writes, when it is opened. */
SESLITE_PRIVATE int ses__erase_setup(struct connection *db, ses_error *error);
/* As the engine's run_delete. */
SESLITE_PRIVATE int ses__sqlite_run_delete(struct storage *storage, struct erasure *erasure, storage_job *job,
                                           void *context, ses_error *error);

/* ---- sweep.c */

/*
 * Overwrites the bytes of the file that belong to no row, and to no page that is free. The log must be empty,
 * and `*wrote` says whether it has a commit afterwards. SES_MORE: the log was not empty, since another
 * process has written, or the limits are passed.
 */
SESLITE_PRIVATE int ses__sweep(struct sqlite *storage, const struct limits *limits, bool *wrote,
                               ses_error *error);

/* ---- journal.c */

/* Sets the journal that the options or the file ask for, and notes its mode and the reason in the storage. */
SESLITE_PRIVATE int ses__journal_set(struct sqlite *storage, ses_error *error);

/* ---- js_lock.c */

/* BUSY: a process of Node has the file open, as the lock of that package says. */
SESLITE_PRIVATE int ses__file_check_js_lock(const ses_allocator *allocator, const char *path,
                                            ses_error *error);

/* ---- engine.c */

/* A read that belongs to no call: it is not counted, not interrupted, and BUSY after a moment. */
SESLITE_PRIVATE int ses__sqlite_run_watch(struct storage *storage, storage_job *job, void *context,
                                          ses_error *error);
/* Refuses a file of that kind that may not be opened as a store. MISUSE in a forked process that had it open;
 * BUSY (Node), CANTOPEN, NOTASTORE, TOONEW. */
SESLITE_PRIVATE int ses__sqlite_check_file(const struct sqlite_config *config, enum file_kind kind,
                                           ses_error *error);

/* ---- check.c, maintain.c, watch.c, engine.c: the engine's operations, for door.c */

SESLITE_PRIVATE int ses__sqlite_check(struct storage *storage, struct check *check);
SESLITE_PRIVATE int ses__sqlite_maintain(struct storage *storage, struct maintain_op *op, ses_error *error);
SESLITE_PRIVATE int ses__sqlite_space(struct storage *storage, struct space_op *op, ses_error *error);
SESLITE_PRIVATE int ses__sqlite_watch(struct storage *storage, struct watch_op *op, ses_error *error);
SESLITE_PRIVATE void ses__sqlite_interrupt(struct storage *storage);
SESLITE_PRIVATE void ses__sqlite_describe(const struct storage *storage, ses_info *info);
SESLITE_PRIVATE void ses__sqlite_count(struct storage *storage, ses_stats *stats);

/* ---- wal/wal_empty.c */

/* Copies the whole log and makes its file empty. SES_MORE: a reader, or another process, kept it from that
 * for as long as a call waits; or the log is another program's (SES_CHECKPOINT_EXTERNAL). */
SESLITE_PRIVATE int ses__wal_empty(struct sqlite *storage, const struct limits *limits, ses_error *error);

/* ---- wal/wal_file.c: called by the thread that has the turn, without the lock */

enum { WAL_FILE_AS_IT_IS = -1 };
/* When the log starts again, a file that is too long becomes shorter, however long that takes. */
SESLITE_PRIVATE void ses__wal_file_bound(struct sqlite *storage);
/* When the log starts again, the file keeps its length. */
SESLITE_PRIVATE void ses__wal_file_keep(struct sqlite *storage);
/* When the log starts again, a file that is too long becomes somewhat shorter. */
SESLITE_PRIVATE void ses__wal_file_cut(struct sqlite *storage);
/* The length of the log's file now. */
SESLITE_PRIVATE int64_t ses__wal_file_bytes(const struct sqlite *storage);
/* At the end of a write transaction: if the log has WAL_PRESSING_PAGES, makes its file longer ahead of
 * need. */
SESLITE_PRIVATE void ses__wal_file_extend(struct sqlite *storage);

/* ---- private_connection.c: a connection outside the pool, for a read that takes long */

/* Only one connection sees a store in memory, so there this is a connection to a copy. */
struct private_connection {
    struct sqlite *storage;
    struct sqlite_config config; /* of the copy */
    struct sqlite_file file;
    struct connection *db; /* ses_store_interrupt reaches it */
};

/* To be closed only after success. */
SESLITE_PRIVATE int ses__private_connection_open(struct storage *storage, const struct limits *limits,
                                                 struct private_connection *private, ses_error *error);
SESLITE_PRIVATE void ses__private_connection_close(struct private_connection *private);
/* Runs a job that reads on such a connection. */
SESLITE_PRIVATE int ses__private_connection_run(struct storage *storage, const struct limits *limits,
                                                storage_job *job, void *context, ses_error *error);
/* The settings of a connection to another file, with the timeout of the store. Path and file are borrowed. */
SESLITE_PRIVATE struct sqlite_config ses__config_for_file(const struct storage *storage, const char *path,
                                                          const struct sqlite_file *file);

/* ---- words.c */

extern SESLITE_PRIVATE const struct words_engine ses__sqlite_words;

#endif
