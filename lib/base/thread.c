#include "base/thread.h"

#include <signal.h>

bool ses__thread_start(pthread_t *thread, void *(*work)(void *context), void *context)
{
    const size_t stack_bytes = 256 * 1024;
    pthread_attr_t attributes;
    sigset_t all;
    sigset_t before;
    bool ok = pthread_attr_init(&attributes) == 0;

    if (ok) {
        (void)pthread_attr_setstacksize(&attributes, stack_bytes); /* if refused, the default serves */
        (void)sigfillset(&all);
        ok = pthread_sigmask(SIG_SETMASK, &all, &before) == 0;
        if (ok) {
            ok = pthread_create(thread, &attributes, work, context) == 0;
            (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
        }
        (void)pthread_attr_destroy(&attributes);
    }
    return ok;
}
