/* The blocks of SHA-256, in C, for any processor. */
#include "base/sha256/sha256.h"

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
const uint32_t ses__sha256_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static inline uint32_t rotated(uint32_t word, unsigned by)
{
    return word >> by | word << (32 - by);
}

static void expand_block(const unsigned char *block, uint32_t w[64])
{
    for (size_t i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (size_t i = 16; i < 64; i++) {
        const uint32_t s0 = rotated(w[i - 15], 7) ^ rotated(w[i - 15], 18) ^ w[i - 15] >> 3;
        const uint32_t s1 = rotated(w[i - 2], 17) ^ rotated(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
}

/* One of the 64 rounds. The eight words of the state change their roles instead of their places, which is
 * twice as fast. */
static inline void add_word(uint32_t a, uint32_t b, uint32_t c, uint32_t *d, uint32_t e, uint32_t f,
                            uint32_t g, uint32_t *h, uint32_t word)
{
    const uint32_t s1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
    const uint32_t s0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
    const uint32_t t1 = *h + s1 + (g ^ (e & (f ^ g))) + word;

    *d += t1;
    *h = t1 + s0 + ((a & b) | (c & (a | b)));
}

static void add_block(uint32_t state[8], const unsigned char *block)
{
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    uint32_t w[64];

    expand_block(block, w);
    for (size_t i = 0; i < 64; i++)
        w[i] += ses__sha256_constants[i];
    for (size_t i = 0; i < 64; i += 8) {
        add_word(a, b, c, &d, e, f, g, &h, w[i]);
        add_word(h, a, b, &c, d, e, f, &g, w[i + 1]);
        add_word(g, h, a, &b, c, d, e, &f, w[i + 2]);
        add_word(f, g, h, &a, b, c, d, &e, w[i + 3]);
        add_word(e, f, g, &h, a, b, c, &d, w[i + 4]);
        add_word(d, e, f, &g, h, a, b, &c, w[i + 5]);
        add_word(c, d, e, &f, g, h, a, &b, w[i + 6]);
        add_word(b, c, d, &e, f, g, h, &a, w[i + 7]);
    }
    const uint32_t added[8] = {a, b, c, d, e, f, g, h};
    for (size_t i = 0; i < 8; i++)
        state[i] += added[i];
}

void ses__sha256_portable(uint32_t state[8], const unsigned char *blocks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        add_block(state, blocks + 64 * i);
}
