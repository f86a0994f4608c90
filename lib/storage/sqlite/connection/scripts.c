/* Unpacks the schema and the scripts. */
#include "storage/sqlite/connection/scripts.h"

#include <string.h>

#include "base/memory.h"

char *ses__schema_unpack(const ses_allocator *allocator, size_t bytes)
{
    const unsigned char *packed = ses__schema_scripts.packed;
    char *texts = ses__memory_new(allocator, bytes);
    char *end = texts;

    while (texts && end < texts + bytes) {
        if (*packed < 128) {
            *end++ = (char)*packed++;
            continue;
        }
        const size_t distance = packed[1] * 256U + packed[2];
        size_t run = *packed - 124U;
        while (run > 0) {
            const size_t step =
                run < distance ? run : distance; /* a run may be longer, and repeats itself then */
            memcpy(end, end - distance, step);
            end += step;
            run -= step;
        }
        packed += 3;
    }
    return texts;
}
