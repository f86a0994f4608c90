/* Threads of the library's own. */
#ifndef SESLITE_BASE_THREAD_H
#define SESLITE_BASE_THREAD_H

#include <pthread.h>

#include "base/common.h"

/* A small stack, and no signals: those are the application's. False: the system starts none. */
SESLITE_PRIVATE bool ses__thread_start(pthread_t *thread, void *(*work)(void *context), void *context);

#endif
