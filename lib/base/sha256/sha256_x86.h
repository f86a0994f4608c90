/* The blocks of SHA-256, as some processors have instructions for them. */
#ifndef SESLITE_BASE_SHA256_SHA256_X86_H
#define SESLITE_BASE_SHA256_SHA256_X86_H

#include "base/sha256/sha256_block.h"

/* Returns NULL if this processor has none. */
SESLITE_PRIVATE sha256_add_blocks *ses__sha256_x86(void);

#endif
