#include "base/thread.h"

#if HAS_THREADS
#include <signal.h>
#endif
#include <time.h>

#include "base/clock.h"

#if HAS_THREADS
bool ses__thread_start(pthread_t *thread, void *(*work)(void *context), void *context)
{
    const size_t stack_bytes = 256 * 1024;
    pthread_attr_t attributes;
    sigset_t all;
    sigset_t before;

    if (pthread_attr_init(&attributes) != 0)
        return false;
    (void)pthread_attr_setstacksize(&attributes, stack_bytes); /* if refused, the default serves */
    (void)sigfillset(&all);
    bool ok = pthread_sigmask(SIG_SETMASK, &all, &before) == 0;
    if (ok) {
        ok = pthread_create(thread, &attributes, work, context) == 0;
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    (void)pthread_attr_destroy(&attributes);
    return ok;
}
#else
bool ses__thread_start(pthread_t *thread, void *(*work)(void *context), void *context)
{
    (void)thread;
    (void)work;
    (void)context;
    return false;
}
#endif

bool ses__condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    bool ok = true;

    if (pthread_condattr_init(&attributes) != 0)
        return false;
#if !defined(__APPLE__) /* macOS has no such clock for conditions, so waits follow the wall clock there */
    ok = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0;
#endif
    ok = ok && pthread_cond_init(condition, &attributes) == 0;
    (void)pthread_condattr_destroy(&attributes);
    return ok;
}

bool ses__condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t deadline_us)
{
    struct timespec deadline;
    int64_t at = deadline_us;

    if (deadline_us == INT64_MAX) {
        (void)pthread_cond_wait(condition, lock);
        return true;
    }
#if defined(__APPLE__)
    at += ses__clock_wall_us(NULL) - ses__clock_steady_us();
#endif
    deadline.tv_sec = (time_t)(at / 1000000);
    deadline.tv_nsec = (long)(at % 1000000 * 1000);
    return pthread_cond_timedwait(condition, lock, &deadline) == 0 || ses__clock_steady_us() < deadline_us;
}
