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

/* With the lock held, and with the turn, which it hands on. */
static void copy_in_turn(struct sqlite *storage)
{
    struct connection *db = storage->writer.db;
    struct checkpointer *own = &storage->checkpointer;
    struct checkpoint_run run = {.frames = -1, .copied = -1};
    const int64_t start = ses__clock_steady_us();
    const int64_t waited_before = db->busy_us;

    run.waits = db->wal_pages >= WAL_PRESSING_PAGES && start >= own->waiting.not_before_us;
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
    own->finishes = false;
    own->work = CHECKPOINT_NONE;
    ses__writer_hand_on(storage);
}

/* With the lock held, and with the turn, which it hands on before the long copy. The rest is copied in the
 * writer's turn. */
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
            copy_in_turn(storage);
        else if (own->work == CHECKPOINT_CONCURRENT)
            copy_concurrently(storage);
        else
            (void)ses__condition_wait(&own->wake, &storage->lock, INT64_MAX);
    }
    (void)pthread_mutex_unlock(&storage->lock);
    return NULL;
}

void ses__checkpoint_start(struct sqlite *storage)
{
    struct checkpointer *own = &storage->checkpointer;
    struct writer *writer = &storage->writer;

    if (LIKELY(!atomic_load_explicit(&own->wants_thread, memory_order_relaxed)))
        return;
    (void)pthread_mutex_lock(&storage->lock);
    atomic_store_explicit(&own->wants_thread, false, memory_order_relaxed);
    if (own->due && !own->stops) {
        own->started = own->started || ses__thread_start(&own->thread, checkpoint_loop, storage);
        /* If the turn is taken, the thread gets it when it is next handed on. */
        if (own->started && !writer->taken) {
            ses__writer_hand_on(storage);
        } else if (!writer->taken) { /* no thread could be started, so the caller does the work */
            writer->taken = true;
            own->due = false;
            copy_in_turn(storage);
        }
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
