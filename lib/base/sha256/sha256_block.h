/* The blocks of SHA-256, in C, for any processor. */
#ifndef SESLITE_BASE_SHA256_SHA256_BLOCK_H
#define SESLITE_BASE_SHA256_SHA256_BLOCK_H

#include "base/common.h"

/* Adds so many blocks of 64 bytes to the state. */
typedef void sha256_add_blocks(uint32_t state[8], const unsigned char *blocks, size_t count);

SESLITE_PRIVATE extern const uint32_t ses__sha256_constants[64];
SESLITE_PRIVATE sha256_add_blocks ses__sha256_portable;

#endif
