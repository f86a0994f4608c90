/*
 * Copies a log concurrently with the writers. This is for a log that has become too long to be copied in the
 * writer's turn, because a reader kept it from being copied earlier.
 *
 * A passive checkpoint takes no lock that a writer needs, so it runs on a connection of its own while the
 * writers go on. It copies the frames that are in the log when it begins. The log grows meanwhile, so another
 * checkpoint follows, with less to copy, until the rest is small enough for the writing connection to copy in
 * its turn.
 *
 * SQLite before 3.51.3 can damage a file if a commit resets the log after a checkpoint of another connection
 * has read the log's header (its "WAL-reset" bug). To prevent this, a second connection holds a read
 * transaction during each checkpoint. There are two cases:
 *  - It reads from the log. It then holds a shared lock on one of the read marks 1 to 4. Resetting the log
 *    (by a commit, in walRestartLog(), or by a RESTART or TRUNCATE checkpoint) needs an exclusive lock on all
 *    of them, so no process can reset it.
 *  - All of the log was copied before. It then reads only from the database file, and holds a shared lock on
 *    read mark 0. walCheckpoint() needs that lock exclusively before it copies or counts anything, so the
 *    checkpoint does nothing.
 */

#include "base/clock.h"
#include "storage/sqlite/parts.h"

/* If a step leaves more than this share of what the step before it left, the writers are about as fast as
 * the copying. They are then slowed down until the log grows by less than half of what is copied in the
 * same time: before each commit they pause for a multiple, up to SLOWEST, of the time that the last commit
 * took. */
static const int64_t SHRINKS_TO_PERCENT = 75;
enum { SLOWEST = 64, TRIES_AT_SLOWEST = 3 };

struct log_copy {
    struct sqlite *storage;
    struct connection *marker; /* keeps the log from being reset */
    struct connection *copier;
    int64_t copied;
    int64_t left; /* pages still to be copied after the last step */
    int tries_at_slowest;
};

static int open_and_read(struct sqlite *storage, struct connection **db)
{
    int64_t version;
    int code = ses__connection_open(&storage->config, CONNECTION_READER, NULL, db, NULL);

    /* A connection learns of the log when it first reads. */
    return code == SES_OK ? ses__connection_read_int(*db, "PRAGMA user_version", &version, NULL) : code;
}

/* True if both connections are ready and the store is not closing. */
static bool log_copy_begin(struct log_copy *copy)
{
    struct checkpointer *own = &copy->storage->checkpointer;
    bool ready = open_and_read(copy->storage, &copy->marker) == SES_OK &&
                 open_and_read(copy->storage, &copy->copier) == SES_OK;

    if (ready) {
        ses__connection_start_call(copy->marker, 0, false, NULL);
        ses__connection_start_call(copy->copier, 0, true, NULL);
        (void)pthread_mutex_lock(&copy->storage->lock);
        own->copier = copy->copier;
        atomic_store(&own->slowed, own->slowed_last / 2); /* needed last time, so likely to be needed again */
        copy->copied = own->copied_pages;
        copy->left = own->wal_pages - own->copied_pages;
        ready = !own->stops;
        (void)pthread_mutex_unlock(&copy->storage->lock);
    }
    return ready;
}

static void copy_step(struct log_copy *copy, struct checkpoint_run *run)
{
    struct connection *marker = copy->marker;
    int64_t start = ses__clock_steady_us();
    int64_t version;

    *run = (struct checkpoint_run){.frames = -1, .copied = -1};
    if (ses__transaction_begin(marker, STATEMENT_BEGIN_READ, NULL) == SES_OK &&
        ses__connection_read_int(marker, "PRAGMA user_version", &version, NULL) == SES_OK)
        run->rc = sqlite3_wal_checkpoint_v2(copy->copier->handle, "main", SQLITE_CHECKPOINT_PASSIVE,
                                            &run->frames, &run->copied);
    ses__transaction_roll_back(marker);
    if (run->frames >= 0 && run->copied != copy->copied) {
        /* SQLite flushes the database file when a checkpoint has copied the whole log. Only the last step
         * does so, and writers wait for it. Every step before it therefore flushes here, so that little is
         * left to flush. A failure needs no report: the connection of the last step also has the file open,
         * so its own flush fails too. */
        sqlite3_file *file = ses__connection_file(copy->copier, SQLITE_FCNTL_FILE_POINTER);
        if (file)
            (void)file->pMethods->xSync(file, SQLITE_SYNC_NORMAL);
    }
    copy->copied = run->copied;
    run->us = ses__clock_steady_us() - start;
}

/* With the lock held, after a step that has copied something. If no step follows, the rest is copied in the
 * writer's turn, or at another time if other processes have made it too much for that. */
static bool step_follows(struct log_copy *copy)
{
    struct checkpointer *own = &copy->storage->checkpointer;
    const int64_t before = copy->left;
    bool follows = false;

    copy->left = own->wal_pages - own->copied_pages;
    if (!ses__wal_fits_turn(own)) {
        follows = copy->left <= before * SHRINKS_TO_PERCENT / 100;
        if (!follows) {
            const int64_t slowed = atomic_load(&own->slowed);
            const int64_t wanted = (slowed + 1) * copy->left * 2 / (before > 0 ? before : 1);
            if (slowed == SLOWEST)
                copy->tries_at_slowest++;
            atomic_store(&own->slowed, (int)(wanted < SLOWEST ? wanted : SLOWEST));
            follows = copy->tries_at_slowest < TRIES_AT_SLOWEST; /* else slowing them down has not helped */
        }
    }
    own->finishes = !follows && copy->left <= WAL_MAX_IN_TURN;
    return follows && !own->stops;
}

void ses__checkpoint_concurrently(struct sqlite *storage)
{
    struct checkpointer *own = &storage->checkpointer;
    struct log_copy copy = {.storage = storage};
    struct checkpoint_run run = {.frames = -1, .copied = -1};
    bool ready = log_copy_begin(&copy);
    bool on = true;

    while (on) {
        if (ready)
            copy_step(&copy, &run);
        (void)pthread_mutex_lock(&storage->lock);
        on = ses__wal_account(storage, &run) && step_follows(&copy);
        if (!on) {
            own->slowed_last = atomic_exchange(&own->slowed, 0);
            own->copier = NULL;
        }
        (void)pthread_mutex_unlock(&storage->lock);
    }
    ses__connection_close(copy.copier);
    ses__connection_close(copy.marker);
}
