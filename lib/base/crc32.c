#include "base/crc32.h"

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
