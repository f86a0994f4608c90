/*
 * Hashes. FNV-1a (datatracker.ietf.org/doc/html/draft-eastlake-fnv) is computed piece by piece: start with
 * the basis, and continue each piece from the last result. It is not keyed. SipHash is keyed, so nobody can
 * choose texts that collide. CRC-32 finds damage.
 */
#ifndef SESLITE_BASE_HASH_H
#define SESLITE_BASE_HASH_H

#include "base/common.h"

#define HASH32_BASIS UINT32_C(2166136261)

static inline uint32_t ses__hash32(uint32_t hash, const void *data, size_t len)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ bytes[i]) * UINT32_C(16777619);
    return hash;
}

/* The same for a name, with its NUL, so that names do not run into each other; and for those of a key. */
static inline uint32_t ses__hash32_name(uint32_t hash, const char *name)
{
    return ses__hash32(hash, name, strlen(name) + 1);
}

static inline uint32_t ses__hash32_key(const ses_key *names)
{
    const uint32_t hash = ses__hash32_name(ses__hash32_name(HASH32_BASIS, names->app), names->user);
    return names->session ? ses__hash32_name(hash, names->session) : hash;
}

/* Continues a sum of numbers, by which damage to a row is seen. Files are made of it: it never changes. */
static inline uint64_t ses__sum64(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return sum ^ sum >> 32;
}

/* The key of the hash. */
struct hash_seed {
    uint64_t words[2];
};
SESLITE_PRIVATE uint64_t ses__hash_keyed(const struct hash_seed *seed, struct span text);

/* ---- CRC-32 as zlib and most others compute it (polynomial 0xEDB88320, reflected) */

struct crc32_tables {
    uint32_t of[8][256];
};

SESLITE_PRIVATE void ses__crc32_prepare(struct crc32_tables *tables);
/* Continues the sum `crc`, which is 0 at the beginning. */
SESLITE_PRIVATE uint32_t ses__crc32(const struct crc32_tables *tables, uint32_t crc, const char *text,
                                    size_t len);

#endif
