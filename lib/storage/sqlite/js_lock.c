/*
 * The lock of the package for JavaScript in Node, which has no locks on files: FILE.js-lock names the process
 * that has the file open, as "PID BEGINNING ...", and from 0.3.0 on also the namespace of its id. A program
 * that writes to the file at the same time as such a process loses acknowledged events.
 */
#include "storage/sqlite/parts.h"

#include "base/error.h"
#include "base/memory.h"

#if defined(__wasi__)
/* This is that package. */
int ses__file_check_js_lock(const ses_allocator *allocator, const char *path, ses_error *error)
{
    (void)allocator;
    (void)path;
    (void)error;
    return SES_OK;
}
#else
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum { TEXT_BYTES = 1024, WORD_BYTES = 64 };

/* The namespace of the first process of the machine, in which all others are visible. */
static const char ALL_PROCESSES[] = "pid:[4026531836]";

struct js_holder {
    long pid;
    char beginning[WORD_BYTES];
    char pids[WORD_BYTES]; /* the namespace; "": not known */
};

/* The beginning of a small file. False if it cannot be read. */
static bool read_text(const char *path, char text[TEXT_BYTES])
{
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t len = -1;

    if (descriptor >= 0) {
        len = read(descriptor, text, TEXT_BYTES - 1);
        (void)close(descriptor);
    }
    text[len > 0 ? len : 0] = '\0';
    return len >= 0;
}

/* True if the process of that name in /proc has begun that many ticks after the system. */
static bool began_at(const char *pid, unsigned long long ticks, bool *is_there)
{
    enum { SPACES_BEFORE_BEGINNING = 20 }; /* after the name of its program, which may have spaces too */
    char path[WORD_BYTES];
    char text[TEXT_BYTES];
    unsigned long long began = 0;

    (void)snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    *is_there = read_text(path, text);
    const char *at = *is_there ? strrchr(text, ')') : NULL;
    for (int i = 0; at && i < SPACES_BEFORE_BEGINNING; i++)
        at = strchr(at + 1, ' ');
    return at && sscanf(at, " %llu", &began) == 1 && began == ticks;
}

static bool any_began_at(unsigned long long ticks)
{
    DIR *processes = opendir("/proc");
    const struct dirent *entry;
    bool found = false;
    bool is_there;

    while (processes && !found && (entry = readdir(processes)) != NULL) {
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
            found = began_at(entry->d_name, ticks, &is_there);
    }
    if (processes)
        (void)closedir(processes);
    return found;
}

static bool is_alive(long pid)
{
    return kill((pid_t)pid, 0) == 0 || errno == EPERM;
}

/* True if the process lives, or may live in another container, whose process ids mean nothing here. */
static bool may_live(const struct js_holder *holder)
{
    char pids[WORD_BYTES] = "";
    char pid[WORD_BYTES];
    unsigned long long ticks = 0;
    bool is_there = false;

    if (sscanf(holder->beginning, "ticks:%19llu", &ticks) != 1 ||
        readlink("/proc/self/ns/pid", pids, sizeof pids - 1) <= 0)
        return is_alive(holder->pid);
    (void)snprintf(pid, sizeof pid, "%ld", holder->pid);
    if (began_at(pid, ticks, &is_there))
        return true;
    if (strcmp(holder->pids, pids) == 0)
        return !is_there && is_alive(holder->pid); /* another user's, and hidden */
    return strcmp(pids, ALL_PROCESSES) == 0 ? any_began_at(ticks) : true;
}

int ses__file_check_js_lock(const ses_allocator *allocator, const char *path, ses_error *error)
{
    struct js_holder holder = {.pid = 0};
    char text[TEXT_BYTES];
    char *lock = ses__file_join(allocator, path, ".js-lock", "");
    int code = SES_OK;

    if (!lock)
        return ses__error_nomem(error);
    /* A text of another form was cut short by a power failure. */
    if (read_text(lock, text) &&
        sscanf(text, "%9ld %63s %*s %*s %63s", &holder.pid, holder.beginning, holder.pids) >= 2 &&
        holder.pid > 0 && may_live(&holder))
        code = ses__error_set(
            error, SES_BUSY,
            "%s: process %ld of Node has the store open, with which no other program can share it: close it there; if that process has ended (in another container, say), remove %s",
            path, holder.pid, lock);
    ses__memory_free(allocator, lock);
    return code;
}
#endif
