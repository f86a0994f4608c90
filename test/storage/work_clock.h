/*
 * A steady clock that counts the work of a thread: the processor's time that it used, and the time for which
 * it asked to sleep. While it is on, the library goes by it (the test is linked with --wrap). So how late a
 * call returns depends on what the call does, and not on what else the machine does. It stands still during
 * what SQLite does not interrupt, for which every call waits (see Limits in seslite.h): commits, copying the
 * write-ahead log, and before SQLite 3.41 the check of the file's pages.
 */
#ifndef SESLITE_TEST_WORK_CLOCK_H
#define SESLITE_TEST_WORK_CLOCK_H

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
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

int __real_sqlite3_step(sqlite3_stmt *statement);
int __real_sqlite3_wal_checkpoint_v2(sqlite3 *db, const char *name, int mode, int *frames, int *copied);
int __wrap_sqlite3_step(sqlite3_stmt *statement);
int __wrap_sqlite3_wal_checkpoint_v2(sqlite3 *db, const char *name, int mode, int *frames, int *copied);

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

/* Takes back what the thread has worked since. */
static inline void work_clock_skip(int64_t since_ns)
{
    struct timespec now;

    (void)__real_clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    work_clock_slept_ns -= work_clock_ns(&now) - since_ns;
}

int __wrap_sqlite3_step(sqlite3_stmt *statement)
{
    const char *sql = sqlite3_sql(statement);
    const bool checks_pages = sql && strncmp(sql, "PRAGMA main.", 12) == 0 && strstr(sql, "_check(");
    const bool is_waited_for =
        (sql && strncmp(sql, "COMMIT", 6) == 0) || (checks_pages && sqlite3_libversion_number() < 3041000);
    struct timespec now = {.tv_sec = 0};

    if (is_waited_for)
        (void)__real_clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    const int result = __real_sqlite3_step(statement);
    if (is_waited_for)
        work_clock_skip(work_clock_ns(&now));
    return result;
}

int __wrap_sqlite3_wal_checkpoint_v2(sqlite3 *db, const char *name, int mode, int *frames, int *copied)
{
    struct timespec now;

    (void)__real_clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    const int result = __real_sqlite3_wal_checkpoint_v2(db, name, mode, frames, copied);
    work_clock_skip(work_clock_ns(&now));
    return result;
}

#endif
