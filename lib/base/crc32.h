/* Check sums: CRC-32 as zlib and most others compute it (polynomial 0xEDB88320, reflected). */
#ifndef SESLITE_BASE_CRC32_H
#define SESLITE_BASE_CRC32_H

#include "base/common.h"

struct crc32_tables {
    uint32_t of[8][256];
};

SESLITE_PRIVATE void ses__crc32_prepare(struct crc32_tables *tables);
/* Continues the sum `crc`, which is 0 at the beginning. */
SESLITE_PRIVATE uint32_t ses__crc32(const struct crc32_tables *tables, uint32_t crc, const char *text,
                                    size_t len);

#endif
