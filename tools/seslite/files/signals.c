#include "files/signals.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { SIGNALS = sizeof signals / sizeof signals[0] };

static struct sigaction before[SIGNALS];

static void handle_signals(void (*handler)(int number), int flags)
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    (void)sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < SIGNALS; i++)
        if (sigaction(signals[i], NULL, &before[i]) == 0 && before[i].sa_handler != SIG_IGN)
            (void)sigaction(signals[i], &action, NULL);
}

/* ---------------------------------------------------------------------------------------------- stopping */

static volatile sig_atomic_t asked; /* the signal; 0 if none arrived */

static void ask(int number)
{
    asked = number;
}

void stop_watch(void)
{
    handle_signals(ask, SA_RESTART | (int)SA_RESETHAND);
}

bool stop_is_asked(void)
{
    return asked != 0;
}

void stop_now(void)
{
    if (asked)
        (void)raise((int)asked); /* SA_RESETHAND: it ends the program now */
}

/* --------------------------------------------------------------------------------------------- leftovers */

static char leftover[4096]; /* the file that a signal has to remove */

static void remove_leftover(int number)
{
    if (leftover[0])
        (void)unlink(leftover);
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

void leftover_watch(const char *path)
{
    if (strlen(path) >= sizeof leftover)
        return;
    memcpy(leftover, path, strlen(path) + 1);
    handle_signals(remove_leftover, 0);
}

void leftover_forget(void)
{
    if (!leftover[0])
        return;
    for (size_t i = 0; i < SIGNALS; i++)
        (void)sigaction(signals[i], &before[i], NULL);
    leftover[0] = '\0';
}
