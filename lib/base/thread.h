/* Starts the library's own threads. */
#ifndef SESLITE_BASE_THREAD_H
#define SESLITE_BASE_THREAD_H

#include <pthread.h>

#include "base/common.h"

/* The thread has a small stack, and blocks all signals, which belong to the application. False: the system
 * could not start it. */
SESLITE_PRIVATE bool ses__thread_start(pthread_t *thread, void *(*work)(void *context), void *context);

#endif
