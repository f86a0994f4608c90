#include "base/hash.h"

static ALWAYS_INLINE uint64_t rotate(uint64_t word, int bits)
{
    return word << bits | word >> (64 - bits);
}

static ALWAYS_INLINE void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[0] = rotate(v[0], 32);
    v[2] += v[3];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[2] = rotate(v[2], 32);
}

/* The lowest byte comes first, on every machine. Compilers make a single load of it where they can. */
static ALWAYS_INLINE uint64_t eight_bytes(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;

    return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 |
           (uint64_t)p[4] << 32 | (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 | (uint64_t)p[7] << 56;
}

/* SipHash-1-3 (Aumasson and Bernstein, "SipHash: a fast short-input PRF"). */
uint64_t ses__hash_keyed(const struct hash_seed *seed, struct span text)
{
    uint64_t v[4] = {
        seed->words[0] ^ UINT64_C(0x736f6d6570736575), seed->words[1] ^ UINT64_C(0x646f72616e646f6d),
        seed->words[0] ^ UINT64_C(0x6c7967656e657261), seed->words[1] ^ UINT64_C(0x7465646279746573)};
    size_t left = text.len;
    const char *p = text.ptr;
    uint64_t word;

    for (; left >= 8; left -= 8, p += 8) {
        word = eight_bytes(p);
        v[3] ^= word;
        sip_round(v);
        v[0] ^= word;
    }
    word = (uint64_t)text.len << 56;
    for (size_t i = 0; i < left; i++)
        word |= (uint64_t)(unsigned char)p[i] << (8 * i);
    v[3] ^= word;
    sip_round(v);
    v[0] ^= word;
    v[2] ^= 0xFF;
    sip_round(v);
    sip_round(v);
    sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* --------------------------------------------------------------------------------------------- check sums */

void ses__crc32_prepare(struct crc32_tables *tables)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xEDB88320) : 0);
        tables->of[0][byte] = crc;
    }
    for (int i = 1; i < 8; i++) {
        for (int byte = 0; byte < 256; byte++) {
            const uint32_t before = tables->of[i - 1][byte];
            tables->of[i][byte] = before >> 8 ^ tables->of[0][before & 255];
        }
    }
}

static uint32_t word_at(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

uint32_t ses__crc32(const struct crc32_tables *tables, uint32_t crc, const char *text, size_t len)
{
    const unsigned char *at = (const unsigned char *)text;
    const uint32_t(*of)[256] = tables->of;

    crc = ~crc;
    for (; len >= 8; len -= 8, at += 8) { /* eight bytes at a time, each with its own table */
        const uint32_t low = crc ^ word_at(at);
        const uint32_t high = word_at(at + 4);
        crc = of[7][low & 255] ^ of[6][low >> 8 & 255] ^ of[5][low >> 16 & 255] ^ of[4][low >> 24] ^
              of[3][high & 255] ^ of[2][high >> 8 & 255] ^ of[1][high >> 16 & 255] ^ of[0][high >> 24];
    }
    for (; len > 0; len--, at++)
        crc = crc >> 8 ^ of[0][(crc ^ *at) & 255];
    return ~crc;
}
