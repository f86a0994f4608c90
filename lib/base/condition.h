/* Conditions whose waits follow the steady clock. */
#ifndef SESLITE_BASE_CONDITION_H
#define SESLITE_BASE_CONDITION_H

#include <pthread.h>

#include "base/common.h"

SESLITE_PRIVATE bool ses__condition_init(pthread_cond_t *condition);
/* Waits for the condition, with the lock held. False once the deadline (steady clock; INT64_MAX: none) has
 * passed. */
SESLITE_PRIVATE bool ses__condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock,
                                         int64_t deadline_us);

#endif
