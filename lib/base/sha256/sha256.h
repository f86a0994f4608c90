/* SHA-256 (https://csrc.nist.gov/pubs/fips/180-4/upd1/final), piece by piece. */
#ifndef SESLITE_BASE_SHA256_SHA256_H
#define SESLITE_BASE_SHA256_SHA256_H

#include "base/common.h"

/* Adds blocks of 64 bytes to the state. */
typedef void sha256_add_blocks(uint32_t state[8], const unsigned char *blocks, size_t count);

enum { SHA256_HEX = 64 };

struct sha256 {
    uint32_t state[8];
    uint64_t len; /* bytes so far */
    sha256_add_blocks *add_blocks;
    unsigned char block[64]; /* the bytes that do not fill a block yet */
};

SESLITE_PRIVATE void ses__sha256_init(struct sha256 *hash);
SESLITE_PRIVATE void ses__sha256_add(struct sha256 *hash, const void *data, size_t len);
/* Ends the hash and writes it in hexadecimal, with a NUL. */
SESLITE_PRIVATE void ses__sha256_end(struct sha256 *hash, char hex[SHA256_HEX + 1]);

/* ---- sha256_block.c */

SESLITE_PRIVATE extern const uint32_t ses__sha256_constants[64];
/* Adds blocks on any processor. */
SESLITE_PRIVATE sha256_add_blocks ses__sha256_portable;

/* ---- sha256_x86.c */

/* Returns the function that uses the instructions which some processors have for it. NULL: this processor has
 * none. */
SESLITE_PRIVATE sha256_add_blocks *ses__sha256_x86(void);

#endif
