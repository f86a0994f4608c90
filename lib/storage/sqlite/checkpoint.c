/*
 * Checkpoints: copying what the write-ahead file holds into the database, so that the file can begin anew.
 * Only the writing connection does it, in its turn like any job, from a thread that is started when the
 * first is due: no caller waits for its own commit and a checkpoint.
 */
#include <limits.h>
#include <signal.h>

#include "base/clock.h"
#include "base/error.h"
#include "storage/sqlite/engine.h"

/* Pages in the write-ahead file (of 4 KiB) from which a checkpoint is due; and from which it also waits a
 * little for readers, so that the file begins anew even when there always are some. */
static const int64_t DUE_PAGES = 1000;
static const int64_t PRESSING_PAGES = 4000;
static const int64_t PRESSING_WAIT_US = 200000;

static int note_pages(void *context, sqlite3 *handle, const char *name, int pages)
{
    struct db *db = context;
    (void)handle;
    (void)name;
    db->wal_pages = pages;
    return SQLITE_OK;
}

int ses__checkpoint_setup(struct sqlite *storage, ses_error *error)
{
    struct db *db = storage->writer.db;
    int code = SES_OK;

    /* The hook takes the place of SQLite's own checkpoints at every thousandth page. */
    (void)sqlite3_wal_hook(db->handle, note_pages, db);
    storage->checkpointer.due_pages = DUE_PAGES;
    if (storage->config.checkpoint == SES_CHECKPOINT_EXTERNAL) {
        int rc = sqlite3_db_config(db->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        if (rc != SQLITE_OK)
            code = ses__connection_error(db, rc, "leaving checkpoints to others", error);
    }
    return code;
}

/* By whoever has the turn, without the lock. */
static void run_checkpoint(struct sqlite *storage)
{
    struct db *db = storage->writer.db;
    bool pressing = db->wal_pages >= PRESSING_PAGES;
    int64_t start = ses__clock_steady_us();
    int frames = 0;
    int copied = 0;

    ses__connection_start_call(db, pressing ? start + PRESSING_WAIT_US : start, false);
    /* When readers or another process are in the way, what could not be done is done next time. */
    int rc = sqlite3_wal_checkpoint_v2(db->handle, "main",
                                       pressing ? SQLITE_CHECKPOINT_RESTART : SQLITE_CHECKPOINT_PASSIVE,
                                       &frames, &copied);
    ses__connection_end_call(db);

    (void)pthread_mutex_lock(&storage->lock);
    storage->counts.checkpoints++;
    storage->counts.checkpoint_us += ses__clock_steady_us() - start;
    /* All copied: the next commit begins the file anew, so its pages count from zero again. */
    storage->checkpointer.due_pages =
        rc == SQLITE_OK && frames == copied ? DUE_PAGES : db->wal_pages + DUE_PAGES;
    if (storage->checkpointer.due_pages == DUE_PAGES)
        db->wal_pages = 0;
    storage->counts.wal_pages = db->wal_pages;
    (void)pthread_mutex_unlock(&storage->lock);
}

static void *checkpoint_loop(void *context)
{
    struct sqlite *storage = context;
    struct checkpointer *own = &storage->checkpointer;

    (void)pthread_mutex_lock(&storage->lock);
    while (!own->stops || own->has_turn) {
        if (own->has_turn) {
            (void)pthread_mutex_unlock(&storage->lock);
            run_checkpoint(storage);
            (void)pthread_mutex_lock(&storage->lock);
            own->has_turn = false;
            ses__writer_hand_on(storage);
        } else {
            (void)ses__condition_wait(&own->wake, &storage->lock, INT64_MAX);
        }
    }
    (void)pthread_mutex_unlock(&storage->lock);
    return NULL;
}

/* With the lock held. A small stack, and no signals: those are the application's. */
static bool start_thread(struct sqlite *storage)
{
    const size_t stack_bytes = 256 * 1024;
    pthread_attr_t attributes;
    sigset_t all;
    sigset_t before;
    bool ok = pthread_attr_init(&attributes) == 0;

    if (ok) {
        (void)pthread_attr_setstacksize(&attributes, stack_bytes); /* refused: the default does as well */
        (void)sigfillset(&all);
        ok = pthread_sigmask(SIG_SETMASK, &all, &before) == 0;
        if (ok) {
            ok = pthread_create(&storage->checkpointer.thread, &attributes, checkpoint_loop, storage) == 0;
            (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
        }
        (void)pthread_attr_destroy(&attributes);
    }
    storage->checkpointer.started = ok;
    return ok;
}

void ses__checkpoint_note(struct sqlite *storage)
{
    struct checkpointer *own = &storage->checkpointer;
    own->due =
        storage->config.checkpoint == SES_CHECKPOINT_AUTO && storage->writer.db->wal_pages >= own->due_pages;
}

bool ses__checkpoint_take_turn(struct sqlite *storage)
{
    struct checkpointer *own = &storage->checkpointer;
    bool takes = own->due && !own->stops;

    own->due = false;
    if (takes && !own->started && !start_thread(storage)) {
        /* No thread to be had: whoever has the turn does it. */
        (void)pthread_mutex_unlock(&storage->lock);
        run_checkpoint(storage);
        (void)pthread_mutex_lock(&storage->lock);
        takes = false;
    }
    if (takes) {
        own->has_turn = true;
        (void)pthread_cond_signal(&own->wake);
    }
    return takes;
}

void ses__checkpoint_stop(struct sqlite *storage)
{
    struct checkpointer *own = &storage->checkpointer;

    (void)pthread_mutex_lock(&storage->lock);
    own->stops = true;
    (void)pthread_cond_signal(&own->wake);
    (void)pthread_mutex_unlock(&storage->lock);
    if (own->started)
        (void)pthread_join(own->thread, NULL);
    own->started = false;
}
