/*
 * A checkpoint copies the write-ahead log into the database, so that the log can start again. A thread does
 * this, so that no caller waits for a checkpoint in addition to its own commit. It is started for the first
 * checkpoint. A short log is copied on the writing connection, in the writer's turn, like any job. A long log
 * is first copied concurrently with the writers (see checkpoint_concurrent.c).
 *
 * Readers, in this process or another, keep the log from being copied and from starting again until they end.
 * Attempts that fail because of them are made less and less often.
 */
#include "base/clock.h"
#include "base/thread.h"
#include "storage/sqlite/parts.h"

/* How long a checkpoint waits for readers. Writers wait with it. */
static const int64_t WAITING_US = 100000;

static int note_pages(void *context, sqlite3 *handle, const char *name, int pages)
{
    struct connection *db = context;
    (void)handle;
    (void)name;
    db->wal_pages = pages;
    return SQLITE_OK;
}

int ses__checkpoint_setup(struct sqlite *storage, ses_error *error)
{
    struct connection *db = storage->writer.db;
    int code = SES_OK;

    /* This replaces SQLite's own hook, which makes a checkpoint at every thousandth page. */
    (void)sqlite3_wal_hook(db->handle, note_pages, db);
    atomic_init(&storage->checkpointer.slowed, 0);
    atomic_init(&storage->checkpointer.wants_thread, false);
    storage->wal_file.limit = WAL_FILE_AS_IT_IS;
    if (storage->config.checkpoint == SES_CHECKPOINT_EXTERNAL) {
        int rc = sqlite3_db_config(db->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        if (rc != SQLITE_OK)
            code = ses__connection_error(db, rc, "leaving checkpoints to others", error);
        ses__wal_file_bound(storage);
    }
    return code;
}

/* ------------------------------------------------------------------------------------------ the thread */

/* Called by the thread that has the turn, without the lock. */
static void run_in_turn(struct sqlite *storage)
{
    struct connection *db = storage->writer.db;
    struct checkpoint_run run = {.frames = -1, .copied = -1};
    int64_t start = ses__clock_steady_us();
    int64_t waited_before = db->busy_us;

    (void)pthread_mutex_lock(&storage->lock);
    run.waits = db->wal_pages >= WAL_PRESSING_PAGES && start >= storage->checkpointer.waiting.not_before_us;
    (void)pthread_mutex_unlock(&storage->lock);
    ses__wal_file_cut(storage);
    ses__connection_start_call(db, run.waits ? start + WAITING_US : start, false, NULL);
    /* If readers or another process are in the way, a later checkpoint does the rest. */
    run.rc = sqlite3_wal_checkpoint_v2(db->handle, "main",
                                       run.waits ? SQLITE_CHECKPOINT_RESTART : SQLITE_CHECKPOINT_PASSIVE,
                                       &run.frames, &run.copied);
    ses__connection_end_call(db);
    run.us = ses__clock_steady_us() - start;
    run.waited_us = db->busy_us - waited_before;

    (void)pthread_mutex_lock(&storage->lock);
    storage->counts.sqlite.checkpoint_turn_us += run.us;
    (void)ses__wal_account(storage, &run);
    storage->checkpointer.finishes = false;
    (void)pthread_mutex_unlock(&storage->lock);
}

/* With the lock held, and with the turn, which it hands on. */
static void work_in_turn(struct sqlite *storage)
{
    (void)pthread_mutex_unlock(&storage->lock);
    run_in_turn(storage);
    (void)pthread_mutex_lock(&storage->lock);
    storage->checkpointer.work = CHECKPOINT_NONE;
    ses__writer_hand_on(storage);
}

/* The same, concurrently with the writers. The writer's turn copies the rest. */
static void copy_concurrently(struct sqlite *storage)
{
    struct checkpointer *own = &storage->checkpointer;

    (void)pthread_mutex_unlock(&storage->lock);
    ses__wal_file_keep(storage); /* any commit may be the one that starts the log again */
    (void)pthread_mutex_lock(&storage->lock);
    ses__writer_hand_on(storage);
    (void)pthread_mutex_unlock(&storage->lock);
    ses__checkpoint_concurrently(storage);
    (void)pthread_mutex_lock(&storage->lock);
    own->work = CHECKPOINT_NONE;
    if (own->finishes && !own->stops) {
        if (storage->writer.taken) {
            own->due = true;
        } else {
            storage->writer.taken = true;
            own->work = CHECKPOINT_IN_TURN;
        }
    }
}

static void *checkpoint_loop(void *context)
{
    struct sqlite *storage = context;
    struct checkpointer *own = &storage->checkpointer;

    (void)pthread_mutex_lock(&storage->lock);
    while (!own->stops || own->work != CHECKPOINT_NONE) {
        if (own->work == CHECKPOINT_IN_TURN)
            work_in_turn(storage);
        else if (own->work == CHECKPOINT_CONCURRENT)
            copy_concurrently(storage);
        else
            (void)ses__condition_wait(&own->wake, &storage->lock, INT64_MAX);
    }
    (void)pthread_mutex_unlock(&storage->lock);
    return NULL;
}

/* With the lock held. */
static bool start_thread(struct sqlite *storage)
{
    struct checkpointer *own = &storage->checkpointer;

    own->started = ses__thread_start(&own->thread, checkpoint_loop, storage);
    return own->started;
}

/* With the lock held. The checkpointer gets the turn now if it is free, or else when it is next handed on. */
static void begin_now(struct sqlite *storage)
{
    if (!storage->writer.taken)
        ses__writer_hand_on(storage);
}

/* With the lock held. No thread could be started, so the caller does the work, if the turn is free. */
static void work_without_thread(struct sqlite *storage)
{
    if (!storage->writer.taken) {
        storage->writer.taken = true;
        storage->checkpointer.due = false;
        work_in_turn(storage);
    }
}

void ses__checkpoint_start(struct sqlite *storage)
{
    struct checkpointer *own = &storage->checkpointer;

    if (LIKELY(!atomic_load_explicit(&own->wants_thread, memory_order_relaxed)))
        return;
    (void)pthread_mutex_lock(&storage->lock);
    atomic_store_explicit(&own->wants_thread, false, memory_order_relaxed);
    if (own->due && !own->stops) {
        if (own->started || start_thread(storage))
            begin_now(storage);
        else
            work_without_thread(storage);
    }
    (void)pthread_mutex_unlock(&storage->lock);
}

void ses__checkpoint_stop(struct sqlite *storage)
{
    struct checkpointer *own = &storage->checkpointer;

    (void)pthread_mutex_lock(&storage->lock);
    own->stops = true;
    if (own->copier)
        ses__connection_interrupt(own->copier);
    (void)pthread_cond_signal(&own->wake);
    (void)pthread_mutex_unlock(&storage->lock);
    if (own->started)
        (void)pthread_join(own->thread, NULL);
    own->started = false;
}
