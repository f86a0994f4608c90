/*
 * A steady clock that counts the work of a thread: the processor's time that it used, and the time for which it asked
 * to sleep. While it is on, the library goes by it (the test is linked with --wrap). So how late a call returns depends
 * on what the call does, and not on what else the machine does.
 */
#ifndef SESLITE_TEST_WORK_CLOCK_H
#define SESLITE_TEST_WORK_CLOCK_H

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

static atomic_bool work_clock_on;
static _Thread_local int64_t work_clock_slept_ns;

int __real_clock_gettime(clockid_t id, struct timespec *time);
int __real_nanosleep(const struct timespec *time, struct timespec *left);
int __real_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *lock,
                                  const struct timespec *until);
int __wrap_clock_gettime(clockid_t id, struct timespec *time);
int __wrap_nanosleep(const struct timespec *time, struct timespec *left);
int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *lock,
                                  const struct timespec *until);

static inline int64_t work_clock_ns(const struct timespec *time)
{
    return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

static inline struct timespec work_clock_time(int64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
}

int __wrap_clock_gettime(clockid_t id, struct timespec *time)
{
    if (id != CLOCK_MONOTONIC || !atomic_load(&work_clock_on))
        return __real_clock_gettime(id, time);
    const int result = __real_clock_gettime(CLOCK_THREAD_CPUTIME_ID, time);
    *time = work_clock_time(work_clock_ns(time) + work_clock_slept_ns);
    return result;
}

/* It sleeps really, since it may be waiting for another thread. */
int __wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
    work_clock_slept_ns += work_clock_ns(time);
    return __real_nanosleep(time, left);
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *lock,
                                  const struct timespec *until)
{
    struct timespec now;

    if (!atomic_load(&work_clock_on))
        return __real_pthread_cond_timedwait(condition, lock, until);
    (void)__wrap_clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t left_ns = work_clock_ns(until) - work_clock_ns(&now);
    if (left_ns < 0)
        left_ns = 0;
    (void)__real_clock_gettime(CLOCK_MONOTONIC, &now);
    const struct timespec real = work_clock_time(work_clock_ns(&now) + left_ns);
    const int result = __real_pthread_cond_timedwait(condition, lock, &real);
    if (result == ETIMEDOUT)
        work_clock_slept_ns += left_ns;
    return result;
}

#endif
