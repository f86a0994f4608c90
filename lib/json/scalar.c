/* Reads strings, numbers and words. */
#include <string.h>

#include "base/utf8.h"
#include "json/scalar.h"

#if defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define FIRST_MARKED(high_bits) ((size_t)__builtin_ctzll(high_bits) / 8)
#else
#define FIRST_MARKED(high_bits) 0 /* fewer may be marked */
#endif

/* Returns how many of the next eight bytes, from the first, are ordinary ASCII characters, neither quotes nor
 * backslashes. */
static ALWAYS_INLINE size_t plain_bytes(const char *p)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t high = ones * 0x80;
    uint64_t bytes;
    memcpy(&bytes, p, sizeof bytes);
    uint64_t quote = bytes ^ ones * '"';
    uint64_t backslash = bytes ^ ones * '\\';
    uint64_t special = bytes | (bytes - ones * 0x20) | (quote - ones) | (backslash - ones);
    special &= high; /* right up to the first; a borrow from it may mark others */
    return special == 0 ? 8 : FIRST_MARKED(special);
}

/* Returns the length of the escape that begins with the backslash at `p`, or 0. */
static size_t escape_length(const char *p, const char *end)
{
    if (end - p >= 2 && p[1] != '\0' && strchr("\"\\/bfnrt", p[1]))
        return 2;
    return end - p >= 6 && p[1] == 'u' && ses__json_hex4(p + 2) >= 0 ? 6 : 0;
}

bool ses__json_read_string(struct json_reader *reader, struct json_string *string)
{
    const char *p = reader->at + 1; /* after the quote that the caller saw */
    const char *end = reader->end;

    string->raw.ptr = p;
    string->escaped = false;
    for (;;) {
        size_t plain = 8;
        while (plain == 8 && end - p >= 8) {
            plain = plain_bytes(p);
            p += plain;
        }
        if (p >= end)
            return ses__json_refuse(reader, end, "unterminated string");
        unsigned char byte = (unsigned char)*p;
        if (byte == '"')
            break;
        size_t step = 1;
        if (byte == '\\') {
            step = escape_length(p, end);
            string->escaped = true;
            if (step == 0)
                return ses__json_refuse(reader, p, "invalid escape in a string");
        } else if (byte < 0x20) {
            return ses__json_refuse(reader, p, "unescaped control character in a string");
        } else if (byte >= 0x80) {
            step = ses__utf8_character(p, end);
            if (step == 0)
                return ses__json_refuse(reader, p, "invalid UTF-8");
        }
        p += step;
    }
    string->raw.len = (size_t)(p - string->raw.ptr);
    reader->at = p + 1;
    return true;
}

static const char *skip_digits(const char *p, const char *end)
{
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return p;
}

static bool skip_number(struct json_reader *reader)
{
    const char *end = reader->end;
    const char *p = reader->at;
    const char *digits;

    if (*p == '-')
        p++;
    digits = p;
    p = skip_digits(p, end);
    if (p == digits)
        return ses__json_refuse(reader, p, "a number without digits");
    if (*digits == '0' && p - digits > 1)
        return ses__json_refuse(reader, digits, "a number with a leading zero");
    if (p < end && *p == '.') {
        digits = p + 1;
        p = skip_digits(digits, end);
        if (p == digits)
            return ses__json_refuse(reader, p, "a number without digits after its decimal point");
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        digits = p + 1;
        if (digits < end && (*digits == '+' || *digits == '-'))
            digits++;
        p = skip_digits(digits, end);
        if (p == digits)
            return ses__json_refuse(reader, p, "a number without digits in its exponent");
    }
    reader->at = p;
    return true;
}

static bool skip_word(struct json_reader *reader, const char *word)
{
    size_t len = strlen(word);
    if ((size_t)(reader->end - reader->at) < len || memcmp(reader->at, word, len) != 0)
        return ses__json_refuse(reader, reader->at, "a word that is not true, false or null");
    reader->at += len;
    return true;
}

bool ses__json_skip_scalar(struct json_reader *reader, enum json_type type)
{
    struct json_string string;

    switch (type) {
    case JSON_STRING:
        return ses__json_read_string(reader, &string);
    case JSON_NUMBER:
        return skip_number(reader);
    case JSON_BOOL:
        return skip_word(reader, *reader->at == 't' ? "true" : "false");
    case JSON_NULL:
        return skip_word(reader, "null");
    default:
        return ses__json_refuse(reader, reader->at,
                                reader->at < reader->end ? "expected a JSON value"
                                                         : "the text ends where a value is expected");
    }
}
