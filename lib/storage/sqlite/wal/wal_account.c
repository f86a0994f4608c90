/*
 * Keeps account of the write-ahead log: how long it is, how much of it has been copied, how long copying
 * takes, and which attempts failed. This decides when a checkpoint runs and when writers are slowed down.
 */
#include <time.h>

#include "base/clock.h"
#include "storage/sqlite/parts.h"

/* A checkpoint runs once this many pages have not been copied yet. */
static const int64_t DUE_PAGES = 1000;

/* How long copying in the writer's turn may take, by estimate. A writer waits for it. */
static const int64_t COPYING_US = 80000;

/* A run over fewer pages says little about the time that one page takes. */
static const int64_t PAGES_TO_MEASURE = 250;

/* A failed attempt is followed by a pause, which doubles each time. After QUICK_ATTEMPTS in a row the pause
 * is also at least PAUSE_TIMES as long as the attempt, so that in the long run failed attempts take three
 * percent of the time. */
static const int64_t FIRST_PAUSE_US = 10000;
enum { MAX_DOUBLINGS = 7, QUICK_ATTEMPTS = 2, PAUSE_TIMES = 32 };

/* The longest pause of a writer before a commit. */
static const int64_t LONGEST_PAUSE_US = 20000;

/* Records an attempt that took `us`. */
static void account_attempt(struct checkpoint_attempts *attempts, bool failed, int64_t us)
{
    if (failed) {
        int64_t pause = FIRST_PAUSE_US << attempts->failed;
        if (attempts->failed >= QUICK_ATTEMPTS && pause < us * PAUSE_TIMES)
            pause = us * PAUSE_TIMES;
        if (attempts->failed < MAX_DOUBLINGS)
            attempts->failed++;
        attempts->not_before_us = ses__clock_steady_us() + pause;
    } else {
        *attempts = (struct checkpoint_attempts){0};
    }
}

bool ses__wal_account(struct sqlite *storage, const struct checkpoint_run *run)
{
    struct checkpointer *own = &storage->checkpointer;
    bool known = run->frames >= 0; /* else another process was copying, or something failed */
    bool anew = known && run->frames < own->copied_pages;
    int64_t news = known ? run->copied - (anew ? 0 : own->copied_pages) : 0;

    storage->counts.sqlite.checkpoints++;
    storage->counts.sqlite.checkpoint_us += run->us;
    if (known) {
        own->copied_pages = run->copied;
        if (anew || own->wal_pages < run->frames)
            own->wal_pages = run->frames;
    }
    if (news >= PAGES_TO_MEASURE)
        own->page_ns = (run->us - run->waited_us) * 1000 / news;
    account_attempt(&own->copying, !known || (news <= 0 && run->copied < run->frames),
                    run->us - run->waited_us);
    if (run->waits)
        account_attempt(&own->waiting, run->rc != SQLITE_OK, run->waited_us);
    return news > 0;
}

bool ses__wal_fits_turn(const struct checkpointer *own)
{
    int64_t left = own->wal_pages - own->copied_pages;

    return left <= WAL_MAX_IN_TURN && left * own->page_ns / 1000 <= COPYING_US;
}

void ses__wal_note_commit(struct sqlite *storage)
{
    struct checkpointer *own = &storage->checkpointer;
    int64_t pages = storage->writer.db->wal_pages;

    if (pages < own->wal_pages)
        own->copied_pages = 0; /* the log has started again */
    own->wal_pages = pages;
    if (storage->config.checkpoint == SES_CHECKPOINT_AUTO && own->work == CHECKPOINT_NONE &&
        pages - own->copied_pages >= DUE_PAGES &&
        storage->writer.last_commit_us >= own->copying.not_before_us)
        own->due = true;
    if (own->due && !own->started)
        atomic_store_explicit(&own->wants_thread, true, memory_order_relaxed);
}

void ses__wal_slow_down(struct sqlite *storage)
{
    int64_t times = atomic_load_explicit(&storage->checkpointer.slowed, memory_order_relaxed);

    if (UNLIKELY(times > 0)) {
        int64_t pause = storage->writer.commit_us * times;
        if (pause > LONGEST_PAUSE_US)
            pause = LONGEST_PAUSE_US;
        const struct timespec time = {0, (long)(pause * 1000)};
        (void)nanosleep(&time, NULL); /* a signal may cut it short: it is one pause of many */
    }
}
