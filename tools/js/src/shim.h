/*
 * Comes before the library (-include). WASI lacks these functions, or would ask a file system of its own,
 * where the library is to have the host's files.
 */
#ifndef SESLITE_JS_SHIM_H
#define SESLITE_JS_SHIM_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

int js_stat(const char *path, struct stat *status);
char *js_realpath(const char *path, char *resolved);
ssize_t js_readlink(const char *path, char *target, size_t size);
int js_statvfs(const char *path, struct statvfs *status);
int js_mkstemp(char *pattern);
int js_link(const char *from, const char *to);
int js_access(const char *path, int mode);
int js_unlink(const char *path);
int js_rename(const char *from, const char *to);
int js_close(int descriptor);
int js_fchmod(int descriptor, mode_t mode);
int js_clock_gettime(clockid_t id, struct timespec *now);
int js_nanosleep(const struct timespec *time, struct timespec *left);
int js_getentropy(void *bytes, size_t count);

#define stat(path, status) js_stat(path, status)
#define realpath(path, resolved) js_realpath(path, resolved)
#define readlink(path, target, size) js_readlink(path, target, size)
#define statvfs(path, status) js_statvfs(path, status)
#define mkstemp(pattern) js_mkstemp(pattern)
#define link(from, to) js_link(from, to)
#define access(path, mode) js_access(path, mode)
#define unlink(path) js_unlink(path)
#define rename(from, to) js_rename(from, to)
#define fchmod(descriptor, mode) js_fchmod(descriptor, mode)
#define clock_gettime(id, now) js_clock_gettime(id, now)
#define nanosleep(time, left) js_nanosleep(time, left)
#define getentropy(bytes, count) js_getentropy(bytes, count)
/* One process, which is never forked. */
#define getpid() 1

#endif
