/* The parts of the reader below its containers. */
#ifndef SESLITE_JSON_SCALAR_H
#define SESLITE_JSON_SCALAR_H

#include "json/reader.h"

/* Keeps the first fault. Returns false. */
static inline bool ses__json_refuse(struct json_reader *reader, const char *at, const char *wrong)
{
    if (!reader->wrong) {
        reader->wrong = wrong;
        reader->wrong_at = at;
    }
    return false;
}

/* Skips a value of `type`, as ses__json_peek has found it. It is not a container. */
SESLITE_PRIVATE bool ses__json_skip_scalar(struct json_reader *reader, enum json_type type);

#endif
