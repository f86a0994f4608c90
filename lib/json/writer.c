#include "json/writer.h"

#include <string.h>

/* The escape of a byte that a string cannot hold as it is: its length; 0 for any other byte. */
static size_t escape_byte(unsigned char byte, char escape[6])
{
    static const char hex[] = "0123456789abcdef";
    const char *named = byte < 0x20 ? memchr("\bb\ff\nn\rr\tt", byte, 10) : NULL;
    size_t len = 0;

    if (named || byte == '"' || byte == '\\') {
        escape[0] = '\\';
        escape[1] = named ? named[1] : (char)byte;
        len = 2;
    } else if (byte < 0x20) {
        memcpy(escape, "\\u00", 4);
        escape[4] = hex[byte >> 4];
        escape[5] = hex[byte & 15];
        len = 6;
    }
    return len;
}

/* Returns where the next piece goes. */
static size_t write_piece(char *to, size_t at, const char *piece, size_t len)
{
    if (to && len)
        memcpy(to + at, piece, len);
    return at + len;
}

size_t ses__json_write_string(char *to, const char *text, size_t len)
{
    const char *run = text; /* of bytes that stay as they are */
    const char *end = text + len;
    size_t at = write_piece(to, 0, "\"", 1);

    for (const char *p = text; p < end; p++) {
        char escape[6];
        size_t escape_len = escape_byte((unsigned char)*p, escape);
        if (escape_len > 0) {
            at = write_piece(to, at, run, (size_t)(p - run));
            at = write_piece(to, at, escape, escape_len);
            run = p + 1;
        }
    }
    at = write_piece(to, at, run, (size_t)(end - run));
    return write_piece(to, at, "\"", 1);
}
