#include "base/clock.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(__APPLE__)
#include <sys/random.h> /* getentropy, which is in unistd.h elsewhere */
#endif

static int64_t read_clock(clockid_t id)
{
    struct timespec now = {0, 0};
    /* Cannot fail: both clocks exist on every POSIX system with threads, and `now` is a valid address. */
    (void)clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t ses__clock_wall_us(void *context)
{
    (void)context;
    return read_clock(CLOCK_REALTIME);
}

int64_t ses__clock_steady_us(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

int64_t ses__clock_thread_us(void)
{
#if defined(CLOCK_THREAD_CPUTIME_ID)
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
#else /* WASI: the time that passes is at least that of the thread */
    return read_clock(CLOCK_MONOTONIC);
#endif
}

bool ses__uuid_source_init(struct uuid_source *source)
{
    memset(source, 0, sizeof *source);
    return pthread_mutex_init(&source->lock, NULL) == 0;
}

void ses__uuid_source_free(struct uuid_source *source)
{
    (void)pthread_mutex_destroy(&source->lock);
}

bool ses__random_bytes(void *out, size_t count)
{
    return getentropy(out, count) == 0;
}

static bool take_random(struct uuid_source *source, unsigned char *out, size_t count)
{
    if (source->random_left < count) {
        if (!ses__random_bytes(source->random, sizeof source->random))
            return false;
        source->random_left = sizeof source->random;
    }
    source->random_left -= count;
    memcpy(out, source->random + source->random_left, count);
    return true;
}

/* Sets the time and the counter of the next id, later than all before. */
static bool advance(struct uuid_source *source, int64_t now_ms)
{
    unsigned char start[2] = {0, 0};

    if (now_ms > source->last_ms) {
        source->last_ms = now_ms;
        if (!take_random(source, start, sizeof start))
            return false;
        source->counter =
            ((unsigned)start[0] << 8 | start[1]) & 0x7FF; /* half of the range is left for counting */
    } else if (++source->counter > 0xFFF) {
        source->last_ms++; /* runs ahead of the clock, as the RFC allows */
        source->counter = 0;
    }
    return true;
}

bool ses__uuid_make(struct uuid_source *source, int64_t now_us, char out[UUID_ROOM])
{
    static const char hex[] = "0123456789abcdef";
    unsigned char bytes[16];
    char *p = out;

    if (pthread_mutex_lock(&source->lock) != 0)
        return false;
    const bool ok = advance(source, now_us > 0 ? now_us / 1000 : 0) && take_random(source, bytes + 8, 8);
    for (int i = 0; i < 6; i++)
        bytes[i] = (unsigned char)(source->last_ms >> (40 - 8 * i));
    bytes[6] = (unsigned char)(0x70 | source->counter >> 8);
    bytes[7] = (unsigned char)source->counter;
    (void)pthread_mutex_unlock(&source->lock);
    if (!ok)
        return false;
    bytes[8] = (unsigned char)((bytes[8] & 0x3F) | 0x80);
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *p++ = '-';
        *p++ = hex[bytes[i] >> 4];
        *p++ = hex[bytes[i] & 15];
    }
    *p = '\0';
    return true;
}
