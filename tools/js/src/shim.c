/* The functions of shim.h, on the host's. */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "host.h"
#include "shim.h"

#undef stat
#undef statvfs
#undef access
#undef link
#undef rename

static int fail(int number)
{
    errno = number;
    return -1;
}

static int errno_of(int failure)
{
    static const int numbers[] = {[-HOST_FAILED] = EIO,   [-HOST_ABSENT] = ENOENT, [-HOST_BUSY] = EBUSY,
                                  [-HOST_FULL] = ENOSPC,  [-HOST_DENIED] = EACCES, [-HOST_READ_ONLY] = EROFS,
                                  [-HOST_EXISTS] = EEXIST};
    const size_t count = sizeof numbers / sizeof numbers[0];
    return failure < 0 && (size_t)-failure < count ? numbers[-failure] : EIO;
}

int js_stat(const char *path, struct stat *status)
{
    int64_t facts[4] = {0, 0, 0, 0};
    const int result = host_stat(path, facts);

    if (result < 0)
        return fail(errno_of(result));
    memset(status, 0, sizeof *status);
    status->st_mode = S_IFREG;
    status->st_size = facts[0];
    status->st_dev = (dev_t)facts[1];
    status->st_ino = (ino_t)facts[2];
    status->st_nlink = (nlink_t)facts[3];
    return 0;
}

/* The host has resolved the path before it was opened. */
char *js_realpath(const char *path, char *resolved)
{
    const size_t bytes = strlen(path) + 1;

    if (bytes > PATH_MAX) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    memcpy(resolved, path, bytes);
    return resolved;
}

ssize_t js_readlink(const char *path, char *target, size_t size)
{
    (void)path;
    (void)target;
    (void)size;
    return fail(EINVAL); /* it is not a link */
}

int js_statvfs(const char *path, struct statvfs *status)
{
    (void)path;
    (void)status;
    return fail(ENOSYS);
}

/*
 * The library makes a file under another name and links it into place, because closing a file drops the locks
 * that its process has on it. Here there are no such locks: only the second step makes the file.
 */
int js_mkstemp(char *pattern)
{
    (void)pattern;
    return 0;
}

int js_fchmod(int descriptor, mode_t mode)
{
    (void)descriptor;
    (void)mode;
    return 0;
}

int js_link(const char *from, const char *to)
{
    const int handle = host_open(to, HOST_WRITE | HOST_CREATE | HOST_EXCLUSIVE);

    (void)from;
    if (handle < 0)
        return fail(errno_of(handle));
    const int closed = host_close(handle);
    return closed < 0 ? fail(errno_of(closed)) : 0;
}

/* The library removes and renames only temporary files, and js_mkstemp makes none. */
int js_unlink(const char *path)
{
    (void)path;
    return fail(ENOENT);
}

int js_rename(const char *from, const char *to)
{
    (void)from;
    (void)to;
    return fail(errno); /* as linking failed */
}

int js_access(const char *path, int mode)
{
    struct stat status;

    (void)mode;
    return js_stat(path, &status);
}

int js_clock_gettime(clockid_t id, struct timespec *now)
{
    const int64_t us = (int64_t)(id == CLOCK_REALTIME ? host_wall() : host_steady());

    now->tv_sec = (time_t)(us / 1000000);
    now->tv_nsec = (long)(us % 1000000 * 1000);
    return 0;
}

int js_nanosleep(const struct timespec *time, struct timespec *left)
{
    (void)left;
    host_sleep((double)time->tv_sec * 1e6 + (double)time->tv_nsec / 1e3);
    return 0;
}

int js_getentropy(void *bytes, size_t count)
{
    host_random(bytes, (int)count);
    return 0;
}
