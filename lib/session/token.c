#include "session/token.h"

#include <string.h>

#include "base/hash.h"

enum { TOKEN_VERSION = 1, TOKEN_SUM = 4, TOKEN_HEAD = 1 + TOKEN_SUM };

/* The check sum in the form of the head. The bytes include the room for it. */
static void write_sum(char sum[TOKEN_SUM], uint32_t owner, const char *bytes, size_t len)
{
    const uint32_t hash = ses__hash32(owner, bytes + TOKEN_HEAD, len - TOKEN_HEAD);

    for (int i = 0; i < TOKEN_SUM; i++)
        sum[i] = (char)(unsigned char)(hash >> (24 - 8 * i));
}

/* ------------------------------------------------------------------------------------------- numbers */

void ses__token_put(struct buffer *bytes, uint64_t number)
{
    do {
        char byte = (char)(unsigned char)((number & 0x7F) | (number > 0x7F ? 0x80 : 0));
        ses__buffer_add(bytes, &byte, 1);
        number >>= 7;
    } while (number > 0);
}

/* Small numbers of either sign become small unsigned ones. */
void ses__token_put_signed(struct buffer *bytes, int64_t number)
{
    const uint64_t twice = (uint64_t)number << 1;
    ses__token_put(bytes, number < 0 ? ~twice : twice);
}

bool ses__token_get(struct span *content, uint64_t *number)
{
    *number = 0;
    for (unsigned shift = 0; shift < 64 && content->len > 0; shift += 7) {
        const unsigned char byte = (unsigned char)*content->ptr;
        content->ptr++;
        content->len--;
        *number |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80)
            return (byte > 0 || shift == 0) && (shift < 63 || byte == 1);
    }
    return false;
}

bool ses__token_get_signed(struct span *content, int64_t *number)
{
    uint64_t folded = 0;
    const bool ok = ses__token_get(content, &folded);

    *number = (int64_t)(folded & 1 ? ~(folded >> 1) : folded >> 1);
    return ok;
}

/* ------------------------------------------------------------------------------------------ base64url */

static const char token_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static char *encode(const ses_allocator *allocator, const char *bytes, size_t len)
{
    char *text = ses__memory_new(allocator, len / 3 * 4 + 5);
    char *to = text;
    uint32_t bits = 0;
    unsigned count = 0;

    if (!text)
        return NULL;
    for (size_t i = 0; i < len; i++) {
        bits = bits << 8 | (unsigned char)bytes[i];
        for (count += 8; count >= 6; count -= 6)
            *to++ = token_digits[bits >> (count - 6) & 63];
    }
    if (count > 0)
        *to++ = token_digits[bits << (6 - count) & 63];
    *to = '\0';
    return text;
}

/* False: there is an invalid character, or bits are left over. `bytes` has room for three quarters of the
 * text. */
static bool decode(const char *text, size_t len, char *bytes, size_t *bytes_len)
{
    uint32_t bits = 0;
    unsigned count = 0;

    *bytes_len = 0;
    for (size_t i = 0; i < len; i++) {
        const char *digit = strchr(token_digits, text[i]);
        if (!digit)
            return false;
        bits = bits << 6 | (uint32_t)(digit - token_digits);
        count += 6;
        if (count >= 8) {
            count -= 8;
            bytes[(*bytes_len)++] = (char)(unsigned char)(bits >> count & 0xFF);
        }
    }
    return count < 6 && (bits & ((UINT32_C(1) << count) - 1)) == 0;
}

/* --------------------------------------------------------------------------------------- whole tokens */

void ses__token_begin(struct buffer *bytes, const ses_allocator *allocator)
{
    const char head[TOKEN_HEAD] = {TOKEN_VERSION};

    ses__buffer_init(bytes, allocator);
    ses__buffer_add(bytes, head, sizeof head);
}

char *ses__token_end(struct buffer *bytes, uint32_t owner)
{
    char *text = NULL;

    if (!bytes->failed) {
        write_sum(bytes->data + 1, owner, bytes->data, bytes->len);
        text = encode(bytes->allocator, bytes->data, bytes->len);
    }
    ses__buffer_free(bytes);
    return text;
}

bool ses__token_read(const char *text, uint32_t owner, struct buffer *bytes, struct span *content)
{
    const size_t len = strlen(text);
    char sum[TOKEN_SUM];

    if (!ses__buffer_reserve(bytes, len) || !decode(text, len, bytes->data, &bytes->len) ||
        bytes->len < TOKEN_HEAD || bytes->data[0] != TOKEN_VERSION)
        return false;
    write_sum(sum, owner, bytes->data, bytes->len);
    *content = (struct span){bytes->data + TOKEN_HEAD, bytes->len - TOKEN_HEAD};
    return memcmp(sum, bytes->data + 1, TOKEN_SUM) == 0;
}
