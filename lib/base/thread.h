/* The library's own threads, and conditions whose waits follow the steady clock. */
#ifndef SESLITE_BASE_THREAD_H
#define SESLITE_BASE_THREAD_H

#include <pthread.h>

#include "base/common.h"

/* Whether a program may have more than one thread. WebAssembly for WASI may not, unless it is compiled with
 * -pthread. */
#if defined(__wasi__) && !defined(_REENTRANT)
#define HAS_THREADS 0
#else
#define HAS_THREADS 1
#endif

/* The thread has a small stack, and blocks all signals, which belong to the application. False: the system
 * could not start it. */
SESLITE_PRIVATE bool ses__thread_start(pthread_t *thread, void *(*work)(void *context), void *context);

SESLITE_PRIVATE bool ses__condition_init(pthread_cond_t *condition);
/* Waits for the condition, with the lock held. False once the deadline (steady clock; INT64_MAX: none) has
 * passed. */
SESLITE_PRIVATE bool ses__condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock,
                                         int64_t deadline_us);

#endif
