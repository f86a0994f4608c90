#include "base/sha256/sha256.h"

#include <string.h>

void ses__sha256_init(struct sha256 *hash)
{
    static const uint32_t begin[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(hash->state, begin, sizeof begin);
    hash->len = 0;
    hash->add_blocks = ses__sha256_x86();
    if (!hash->add_blocks)
        hash->add_blocks = ses__sha256_portable;
}

void ses__sha256_add(struct sha256 *hash, const void *data, size_t len)
{
    const unsigned char *bytes = data;
    const size_t filled = hash->len % sizeof hash->block;
    const size_t room = filled == 0 ? 0 : sizeof hash->block - filled;
    const size_t first = len < room ? len : room; /* to complete the block before */
    const size_t blocks = (len - first) / sizeof hash->block;
    const size_t whole = first + blocks * sizeof hash->block;

    if (first > 0)
        memcpy(hash->block + filled, bytes, first);
    if (first > 0 && filled + first == sizeof hash->block)
        hash->add_blocks(hash->state, hash->block, 1);
    if (blocks > 0)
        hash->add_blocks(hash->state, bytes + first, blocks);
    if (whole < len)
        memcpy(hash->block, bytes + whole, len - whole);
    hash->len += len;
}

void ses__sha256_end(struct sha256 *hash, char hex[SHA256_HEX + 1])
{
    static const unsigned char padding[64] = {0x80};
    static const char digits[] = "0123456789abcdef";
    const uint64_t bits = hash->len * 8;
    const size_t filled = hash->len % 64;
    unsigned char length[8];

    for (size_t i = 0; i < 8; i++)
        length[i] = (unsigned char)(bits >> (56 - 8 * i));
    ses__sha256_add(hash, padding, (filled < 56 ? 56 : 120) - filled);
    ses__sha256_add(hash, length, sizeof length);
    for (size_t i = 0; i < SHA256_HEX; i++)
        hex[i] = digits[hash->state[i / 8] >> (28 - 4 * (i % 8)) & 15];
    hex[SHA256_HEX] = '\0';
}
