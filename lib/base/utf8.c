#include "base/utf8.h"

#include <string.h>

static bool continues(unsigned char byte)
{
    return (byte & 0xC0) == 0x80;
}

size_t ses__utf8_character(const char *text, const char *end)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t left = (size_t)(end - text);
    size_t len = 0;

    if (left >= 1 && p[0] < 0x80)
        len = 1;
    else if (left >= 2 && p[0] >= 0xC2 && p[0] <= 0xDF && continues(p[1]))
        len = 2;
    else if (left >= 3 && (p[0] & 0xF0) == 0xE0 && continues(p[1]) && continues(p[2]) &&
             !(p[0] == 0xE0 && p[1] < 0xA0) && !(p[0] == 0xED && p[1] > 0x9F))
        len = 3;
    else if (left >= 4 && p[0] >= 0xF0 && p[0] <= 0xF4 && continues(p[1]) && continues(p[2]) &&
             continues(p[3]) && !(p[0] == 0xF0 && p[1] < 0x90) && !(p[0] == 0xF4 && p[1] > 0x8F))
        len = 4;
    return len;
}

/* Returns the end of a run of ASCII characters, found 32 at a time. */
static const char *skip_ascii(const char *p, const char *end)
{
    const uint64_t high = UINT64_C(0x8080808080808080);
    uint64_t words[4] = {0};

    while (end - p >= (ptrdiff_t)sizeof words && ((words[0] | words[1] | words[2] | words[3]) & high) == 0) {
        memcpy(words, p, sizeof words);
        p += sizeof words;
    }
    return ((words[0] | words[1] | words[2] | words[3]) & high) == 0 ? p : p - sizeof words;
}

size_t ses__utf8_valid_part(const char *text, size_t len)
{
    enum { STRETCH = 32 };
    const char *end = text + len;
    const char *p = text;
    size_t step = 1;

    while (p < end && step > 0) {
        p = skip_ascii(p, end);
        const char *stop = end - p > STRETCH ? p + STRETCH : end;
        while (p < stop && step > 0) {
            step = ses__utf8_character(p, end);
            p += step;
        }
    }
    return (size_t)(p - text);
}

uint32_t ses__utf8_decode(const char *text, size_t len)
{
    const unsigned char first = (unsigned char)text[0];
    uint32_t character = len == 1 ? first : first & (0xffu >> (len + 1));

    for (size_t i = 1; i < len; i++)
        character = character << 6 | ((unsigned char)text[i] & 0x3fu);
    return character;
}

bool ses__utf8_valid(const char *text, size_t len)
{
    return ses__utf8_valid_part(text, len) == len;
}

size_t ses__utf8_encode(uint32_t character, char *out)
{
    static const unsigned char leads[] = {0, 0, 0xC0, 0xE0, 0xF0};
    const size_t len = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;

    for (size_t i = len; i > 1; i--) {
        out[i - 1] = (char)(0x80 | (character & 0x3F));
        character >>= 6;
    }
    out[0] = (char)(leads[len] | character);
    return len;
}

size_t ses_text_cut(const char *text, size_t len, size_t limit, int *was_cut)
{
    const size_t whole = len == SES_NUL ? strlen(text) : len;
    const size_t kept = ses__utf8_valid_part(text, whole < limit ? whole : limit);

    if (was_cut)
        *was_cut = kept < whole;
    return kept;
}
