/*
 * The functions that the host gives: JavaScript, through tools/js/lib/engine.js. Those that return an int
 * return a negative HOST_* if they fail. Paths are UTF-8 and end in a NUL; offsets and sizes are whole
 * numbers below 2^53.
 */
#ifndef SESLITE_JS_HOST_H
#define SESLITE_JS_HOST_H

#include <stdint.h>

#define HOST_CALL(name) __attribute__((import_module("host"), import_name(#name)))

enum {
    HOST_FAILED = -1,
    HOST_ABSENT = -2,
    HOST_BUSY = -3,
    HOST_FULL = -4,
    HOST_DENIED = -5,
    HOST_READ_ONLY = -6,
    HOST_EXISTS = -7
};

/* Flags of host_open. */
enum { HOST_WRITE = 1, HOST_CREATE = 2, HOST_EXCLUSIVE = 4 };

/* Returns a handle, which is 0 or more. */
HOST_CALL(open) int host_open(const char *path, int flags);
HOST_CALL(close) int host_close(int handle);
/* Returns the number of bytes, which is less than `count` only at the end of the file. */
HOST_CALL(read) int host_read(int handle, void *bytes, int count, double offset);
HOST_CALL(write) int host_write(int handle, const void *bytes, int count, double offset);
HOST_CALL(truncate) int host_truncate(int handle, double size);
/* Returns once the file is on the disk, and with `folder` also its name. */
HOST_CALL(sync) int host_sync(int handle, int folder);
/* Negative: it failed. */
HOST_CALL(size) double host_size(int handle);
HOST_CALL(delete) int host_delete(const char *path, int sync_folder);
/* Sets the size, two numbers that tell files apart, and how many names the file has. */
HOST_CALL(stat) int host_stat(const char *path, int64_t facts[4]);

/* Microseconds since 1970, and since some moment. */
HOST_CALL(wall) double host_wall(void);
HOST_CALL(steady) double host_steady(void);
HOST_CALL(sleep) void host_sleep(double us);
HOST_CALL(random) void host_random(void *bytes, int count);

/* A follower has something to give. It must not call the library. */
HOST_CALL(notify) void host_notify(int id);
/* A piece of an export. Returns 0, or a negative code of the library. */
HOST_CALL(give) int host_give(const char *bytes, int count);
/* The items that an export leaves out, and why. Returns 0, or a negative code of the library. */
HOST_CALL(left_out) int host_left_out(int code, const char *message);
/*
 * Fills the buffer with a piece of an import, and returns its length; 0 at the end, or a negative code of the
 * library.
 */
HOST_CALL(take) int host_take(char *bytes, int capacity);

#endif
