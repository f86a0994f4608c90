/* The time, random bytes, and ids made of both. */
#ifndef SESLITE_BASE_CLOCK_H
#define SESLITE_BASE_CLOCK_H

#include <pthread.h>

#include "base/common.h"

/* Microseconds since 1970 UTC, by the system's clock. `context` is not used (the shape of the option). */
SESLITE_PRIVATE int64_t ses__clock_wall_us(void *context);
/* Microseconds of a clock that is never set, for measuring time spent. */
SESLITE_PRIVATE int64_t ses__clock_steady_us(void);
/* Processor time of the calling thread, in microseconds. */
SESLITE_PRIVATE int64_t ses__clock_thread_us(void);

/* Fills `out` with `count` unpredictable bytes, at most 256. False: the system provides none. */
SESLITE_PRIVATE bool ses__random_bytes(void *out, size_t count);

/*
 * Makes UUIDs of version 7 (RFC 9562, section 6.2, method 1): milliseconds, a counter of 12 bits that makes
 * them ascend, and 62 random bits.
 */
struct uuid_source {
    pthread_mutex_t lock;
    int64_t last_ms;
    unsigned counter;
    unsigned char random[256]; /* drawn ahead from the system */
    size_t random_left;
};

enum { UUID_ROOM = 37 };

SESLITE_PRIVATE bool ses__uuid_source_init(struct uuid_source *source);
SESLITE_PRIVATE void ses__uuid_source_free(struct uuid_source *source);
/* Writes 36 characters and a NUL. False: the system provides no random bytes. */
SESLITE_PRIVATE bool ses__uuid_make(struct uuid_source *source, int64_t now_us, char out[UUID_ROOM]);

#endif
