/*
 * Reads Python pickles, in which google-adk 1.0 to 1.21 stored the actions of an event, as data, and writes
 * them as JSON. Nothing is imported, called or instantiated. An opcode that is not in the table, or a class
 * that no event contains, is rejected by name.
 */
#ifndef FORMATS_PICKLE_PICKLE_H
#define FORMATS_PICKLE_PICKLE_H

#include "base/common.h"
#include "base/memory.h"

/* Limits besides the length of the output. They bound memory and time for any pickle. */
enum {
    PICKLE_MAX_VALUES = 1 << 22,
    PICKLE_MAX_DEPTH = 1000,
    PICKLE_MAX_INTEGER = 1024 /* bytes of an integer */
};

/*
 * Adds the value of the pickle (protocols 2 to 5) to the buffer, as JSON with the same bytes that Python's
 * json.dumps writes, so that a value in a delta is spelled as in the state column. Fields of a class keep
 * their Python names (state_delta); fields that are None are left out, as google-adk does when it stores
 * them. An enum becomes its value, a set an array in the order of the pickle, and bytes become base64url.
 *
 * INVALID: not a pickle, truncated, contains NaN or an infinity, which JSON does not have, or rejected as
 * above. LIMIT: beyond one of the limits, or the output is longer than `max_text`. `error->offset` is a
 * position in the pickle, or -1. After a failure the buffer is unchanged.
 *
 * Codes: INVALID, LIMIT, NOMEM.
 */
int pickle_to_json(struct span pickle, size_t max_text, struct buffer *json, ses_error *error);

#endif
