#include "output/progress.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_MS = 1000, NEXT_MS = 100, BAR = 30 };

/* The terminal is one for the whole program, and so is the bar on it. */
static struct {
    const char *what; /* NULL if no operation is running */
    int64_t next_ms;  /* the time of the next drawing */
    bool shown;
} bar;

static int64_t steady_ms(void)
{
    struct timespec now;

    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0)
        return 0;
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void progress_begin(const char *what)
{
    bar.what = isatty(STDERR_FILENO) == 1 ? what : NULL;
    bar.next_ms = steady_ms() + FIRST_MS;
}

static void draw(int64_t done, int64_t total)
{
    static const char full[] = "##############################";
    static const char rest[] = "..............................";

    if (total > 0) {
        int filled = (int)((double)(done < total ? done : total) / (double)total * (double)BAR);
        fprintf(stderr, "\r%s [%.*s%.*s] %3d%%\033[K", bar.what, filled, full, BAR - filled, rest,
                filled * 100 / BAR);
    } else {
        fprintf(stderr, "\r%s %" PRId64 " ...\033[K", bar.what, done);
    }
    (void)fflush(stderr);
    bar.shown = true;
}

void progress_set(int64_t done, int64_t total)
{
    if (!bar.what)
        return;
    int64_t now = steady_ms();
    if (now >= bar.next_ms) {
        draw(done, total);
        bar.next_ms = now + NEXT_MS;
    }
}

int progress_report(void *context, int64_t done, int64_t total)
{
    (void)context;
    progress_set(done, total);
    return 0;
}

void progress_hide(void)
{
    if (bar.shown) {
        fputs("\r\033[K", stderr);
        (void)fflush(stderr);
        bar.shown = false;
    }
}

void progress_end(void)
{
    progress_hide();
    bar.what = NULL;
}
