#include "json/base64.h"

void ses__base64_encode(char *text, const char *from, size_t len)
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *bytes = (const unsigned char *)from;

    for (size_t i = 0; i < len; i += 3, text += 4) {
        const size_t left = len - i;
        const uint32_t bits = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                              (left > 2 ? bytes[i + 2] : 0);
        text[0] = alphabet[bits >> 18];
        text[1] = alphabet[bits >> 12 & 63];
        text[2] = left > 1 ? alphabet[bits >> 6 & 63] : '=';
        text[3] = left > 2 ? alphabet[bits & 63] : '=';
    }
}

/* The values of both alphabets: the ADK for Python writes the one for URLs. -1: the character is in none. */
static int sextet_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

bool ses__base64_decode(struct span text, char *out, size_t *len)
{
    uint32_t bits = 0;
    size_t count = text.len;

    while (count > 0 && text.len - count < 2 && text.ptr[count - 1] == '=')
        count--;
    *len = 0;
    for (size_t i = 0; i < count; i++) {
        const int sextet = sextet_of(text.ptr[i]);
        if (sextet < 0)
            return false;
        bits = bits << 6 | (uint32_t)sextet;
        if (i % 4 != 0)
            out[(*len)++] = (char)(unsigned char)(bits >> (6 - 2 * (i % 4)));
    }
    return count % 4 != 1 && (count == text.len || text.len % 4 == 0);
}
