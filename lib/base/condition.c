#include "base/condition.h"

#include <time.h>

#include "base/clock.h"

bool ses__condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    bool ok = pthread_condattr_init(&attributes) == 0;
    if (ok) {
#if !defined(__APPLE__) /* macOS has no such clock for conditions, so waits follow the wall clock there */
        ok = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0;
#endif
        ok = ok && pthread_cond_init(condition, &attributes) == 0;
        (void)pthread_condattr_destroy(&attributes);
    }
    return ok;
}

bool ses__condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t deadline_us)
{
    bool in_time = true;

    if (deadline_us == INT64_MAX) {
        (void)pthread_cond_wait(condition, lock);
    } else {
        struct timespec deadline;
        int64_t at = deadline_us;
#if defined(__APPLE__)
        at += ses__clock_wall_us(NULL) - ses__clock_steady_us();
#endif
        deadline.tv_sec = (time_t)(at / 1000000);
        deadline.tv_nsec = (long)(at % 1000000 * 1000);
        in_time =
            pthread_cond_timedwait(condition, lock, &deadline) == 0 || ses__clock_steady_us() < deadline_us;
    }
    return in_time;
}
