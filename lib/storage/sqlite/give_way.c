/*
 * Fairness between processes. A process that waits for another one's lock can only check from time to time
 * whether the lock is free. Where commits are slow, a process that writes without a pause leaves the lock
 * free only for moments, which the others nearly always miss. So from time to time it leaves the lock free
 * for longer. It does so often while it knows that others want the lock, because it had to wait for them
 * itself, and less and less often while no other process takes it.
 */
#include <time.h>

#include "base/clock.h"
#include "storage/sqlite/parts.h"

/* Long enough for every waiting process to check once. */
static const int64_t LEFT_FREE_US = CONNECTION_LONGEST_PAUSE_US + 200;

/* A process with faster commits leaves the lock free often enough. */
static const int64_t SLOW_COMMIT_US = 500;

/* At the longest interval a process that writes alone loses less than half a percent of its time. */
static const int64_t SHORTEST_INTERVAL_US = 10000;
static const int64_t LONGEST_INTERVAL_US = 320000;

void ses__give_way(struct writer *writer)
{
    int64_t now = ses__clock_steady_us();
    int64_t left = writer->last_commit_us + LEFT_FREE_US - now;

    if (left <= 0) {
        writer->kept_since_us = now; /* the lock was free for long enough */
    } else if (writer->commit_us >= SLOW_COMMIT_US &&
               now - writer->kept_since_us >= writer->give_way_interval_us) {
        const struct timespec time = {0, (long)(left * 1000)};
        int64_t interval = writer->give_way_interval_us * 2;
        (void)nanosleep(&time, NULL); /* a signal may cut it short: the others get another chance later */
        if (interval < SHORTEST_INTERVAL_US)
            interval = SHORTEST_INTERVAL_US;
        writer->give_way_interval_us = interval < LONGEST_INTERVAL_US ? interval : LONGEST_INTERVAL_US;
        writer->kept_since_us = ses__clock_steady_us();
    }
}

void ses__give_way_others_seen(struct writer *writer)
{
    writer->kept_since_us = ses__clock_steady_us();
    writer->give_way_interval_us = SHORTEST_INTERVAL_US;
}
