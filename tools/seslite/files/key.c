#include "files/key.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { DIGITS = 2 * SES_KEY_BYTES, ROOM = DIGITS + 2 };

void key_wipe(void *memory, size_t bytes)
{
    volatile unsigned char *at = memory; /* which the compiler may not leave out */

    while (bytes > 0)
        at[--bytes] = 0;
}

/* At most `ROOM` bytes. Returns -1 if it cannot be read. */
static ssize_t read_all(int fd, char text[ROOM])
{
    size_t len = 0;
    ssize_t got = 1;

    while (got > 0 && len < ROOM) {
        got = read(fd, text + len, ROOM - len);
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got > 0)
            len += (size_t)got;
    }
    return got < 0 ? -1 : (ssize_t)len;
}

static int digit_of(char c)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *at = c ? strchr(digits, c) : NULL;

    return at ? (int)((at - digits) % 16) : -1;
}

static bool take_digits(const char *text, unsigned char key[SES_KEY_BYTES])
{
    bool good = true;

    for (size_t i = 0; i < SES_KEY_BYTES; i++) {
        const int high = digit_of(text[2 * i]);
        const int low = digit_of(text[2 * i + 1]);
        good = good && high >= 0 && low >= 0;
        key[i] = (unsigned char)(good ? high * 16 + low : 0);
    }
    return good;
}

bool key_read(int fd, unsigned char key[SES_KEY_BYTES])
{
    char text[ROOM];
    const ssize_t len = read_all(fd, text);
    const bool has_digits = len == DIGITS || (len == DIGITS + 1 && text[DIGITS] == '\n');
    bool good = len == SES_KEY_BYTES;

    if (good)
        memcpy(key, text, SES_KEY_BYTES);
    else if (has_digits)
        good = take_digits(text, key);
    key_wipe(text, sizeof text);
    return good;
}
