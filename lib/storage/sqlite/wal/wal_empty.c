/*
 * Emptying the log on request: a TRUNCATE checkpoint on the writing connection, in the writer's turn. (On
 * another connection it could coincide with a commit; see WAL_RESET in engine.c.) Readers may have to end
 * first, so it is tried repeatedly, and between the attempts the turn is free for writers.
 */
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "storage/sqlite/parts.h"

/* How long an attempt waits for readers, with the turn; and how long it leaves the turn to others. */
static const int64_t ATTEMPT_US = 50000;
static const int64_t BETWEEN_US = 50000;

static int run_emptying(struct db *base, void *context, ses_error *error)
{
    struct connection *db = ses__connection_of(base);
    struct sqlite *storage = context;
    struct checkpoint_run run = {.frames = -1, .copied = -1, .waits = true};
    int64_t start = ses__clock_steady_us();
    int64_t waited_before = db->busy_us;

    if (db->base.deadline_us > start + ATTEMPT_US)
        db->base.deadline_us = start + ATTEMPT_US;
    run.rc =
        sqlite3_wal_checkpoint_v2(db->handle, "main", SQLITE_CHECKPOINT_TRUNCATE, &run.frames, &run.copied);
    run.us = ses__clock_steady_us() - start;
    run.waited_us = db->busy_us - waited_before;
    if (run.rc == SQLITE_OK) {
        storage->wal_file.bytes = 0;
        db->wal_pages = 0;
    }
    (void)pthread_mutex_lock(&storage->lock);
    storage->counts.sqlite.checkpoint_turn_us += run.us;
    (void)ses__wal_account(storage, &run);
    (void)pthread_mutex_unlock(&storage->lock);
    if ((run.rc & 0xFF) == SQLITE_BUSY)
        return SES_MORE;
    return run.rc == SQLITE_OK ? SES_OK : ses__connection_error(db, run.rc, "emptying the log", error);
}

/* If the log is left to another program, it is looked at, but not touched. */
static int look_at_log(struct db *db, void *storage, ses_error *error)
{
    (void)db;
    (void)error;
    return ses__wal_file_bytes(storage) > 0 ? SES_MORE : SES_OK;
}

int ses__wal_empty(struct sqlite *storage, const struct limits *limits, ses_error *error)
{
    const int64_t deadline =
        ses__limits_until(limits, ses__clock_steady_us() + storage->config.busy_timeout_us);
    const struct timespec pause = {0, (long)(BETWEEN_US * 1000)};

    if (strcmp(storage->journal_mode, "wal") != 0)
        return SES_OK;
    if (storage->config.checkpoint == SES_CHECKPOINT_EXTERNAL)
        return ses__writer_run(storage, look_at_log, storage, 0, JOB_ALONE, limits, error);
    while (true) {
        const int result = ses__writer_run(storage, run_emptying, storage, 0, JOB_ALONE, limits, error);
        if (result != SES_MORE || ses__clock_steady_us() + BETWEEN_US >= deadline ||
            ses__limits_cancelled(limits))
            return result;
        (void)nanosleep(&pause, NULL); /* a signal may cut it short: then the next attempt comes sooner */
    }
}
