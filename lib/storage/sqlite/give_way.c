/*
 * Fairness between processes. Who waits for another process's lock can only look now and then whether it is free;
 * and where commits are slow, a process that writes without a pause leaves it free for moments that are hardly ever
 * looked at. So now and then it leaves it for longer: often while it is known that others want the lock, as it had
 * to wait for them itself, and ever less often while no process takes it.
 */
#include <time.h>

#include "base/clock.h"
#include "storage/sqlite/parts.h"

/* Long enough for every waiting process to look once. */
static const int64_t LEFT_FREE_US = CONNECTION_LONGEST_PAUSE_US + 200;

/* Quicker commits leave the lock free about as often as they take it. */
static const int64_t SLOW_COMMIT_US = 500;

/* With the longest, one that is alone loses less than half a percent. */
static const int64_t SHORTEST_INTERVAL_US = 10000;
static const int64_t LONGEST_INTERVAL_US = 320000;

static int64_t longer_interval(int64_t interval)
{
    int64_t longer = interval * 2;

    if (longer < SHORTEST_INTERVAL_US)
        longer = SHORTEST_INTERVAL_US;
    return longer < LONGEST_INTERVAL_US ? longer : LONGEST_INTERVAL_US;
}

void ses__give_way(struct writer *writer)
{
    int64_t now = ses__clock_steady_us();
    int64_t left = writer->last_commit_us + LEFT_FREE_US - now;

    if (left <= 0) {
        writer->kept_since_us = now; /* it was free for long enough */
    } else if (writer->commit_us >= SLOW_COMMIT_US &&
               now - writer->kept_since_us >= writer->give_way_interval_us) {
        const struct timespec time = {0, (long)(left * 1000)};
        (void)nanosleep(&time,
                        NULL); /* a signal may cut it short: then they have their chance another time */
        writer->kept_since_us = ses__clock_steady_us();
        writer->give_way_interval_us = longer_interval(writer->give_way_interval_us);
    }
}

void ses__give_way_others_seen(struct writer *writer)
{
    writer->kept_since_us = ses__clock_steady_us();
    writer->give_way_interval_us = SHORTEST_INTERVAL_US;
}
