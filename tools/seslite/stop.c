#include "stop.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>

static volatile sig_atomic_t asked; /* the signal; 0 if none arrived */

static void ask(int number)
{
    asked = number;
}

/* An ignored signal stays ignored: nohup and background jobs of a shell rely on that. */
void stop_watch(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction before;
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = ask;
    action.sa_flags = SA_RESTART | (int)SA_RESETHAND;
    (void)sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            (void)sigaction(signals[i], &action, NULL);
}

bool stop_is_asked(void)
{
    return asked != 0;
}

void stop_now(void)
{
    if (asked)
        (void)raise(asked); /* SA_RESETHAND: it ends the program now */
}
