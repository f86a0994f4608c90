#include "leftover.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { SIGNALS = sizeof signals / sizeof signals[0] };

static struct sigaction before[SIGNALS];
static char leftover[4096]; /* the file that a signal has to remove */

static void remove_leftover(int number)
{
    if (leftover[0])
        (void)unlink(leftover);
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

/* An ignored signal stays ignored: nohup and background jobs of a shell rely on that. */
void leftover_watch(const char *path)
{
    struct sigaction action;

    if (strlen(path) >= sizeof leftover)
        return;
    memcpy(leftover, path, strlen(path) + 1);
    memset(&action, 0, sizeof action);
    action.sa_handler = remove_leftover;
    (void)sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < SIGNALS; i++)
        if (sigaction(signals[i], NULL, &before[i]) == 0 && before[i].sa_handler != SIG_IGN)
            (void)sigaction(signals[i], &action, NULL);
}

void leftover_forget(void)
{
    if (!leftover[0])
        return;
    for (size_t i = 0; i < SIGNALS; i++)
        (void)sigaction(signals[i], &before[i], NULL);
    leftover[0] = '\0';
}
