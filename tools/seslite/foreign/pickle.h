/*
 * Pickles of Python, as google-adk 1.0 to 1.21 stored the actions of an event: read as data, written as JSON. Nothing is
 * imported, called or made. An opcode that is not in the table, and a class that no event has, is refused by name.
 */
#ifndef FOREIGN_PICKLE_H
#define FOREIGN_PICKLE_H

#include "base/common.h"
#include "base/memory.h"

/* Bounds beside that of the text that is written: whatever a pickle says, it takes no more memory and time than these. */
enum {
    PICKLE_MOST_VALUES = 1 << 22,
    PICKLE_MOST_DEPTH = 1000,
    PICKLE_MOST_INTEGER = 1024 /* bytes of an integer */
};

/*
 * Adds the value of the pickle (protocols 2 to 5) to the buffer, as JSON with the bytes that Python's json.dumps writes for
 * it: so a value of a delta is spelled as in the column of the state. Fields of a class have the names that they have in
 * Python (state_delta); those that are None are left out, as google-adk leaves them out of what it stores. An enum is its
 * value, a set an array in the order of the pickle, bytes base64url.
 *
 * INVALID: it is no pickle, is cut short, holds NaN or an infinity, which JSON has not, or is refused as above. LIMIT: it is
 * beyond one of the bounds, or its text is longer than `most_text`. `error->offset` is a place in the pickle, or -1. After a
 * failure the buffer is as it was.
 *
 * Codes: INVALID, LIMIT, NOMEM.
 */
int pickle_to_json(struct span pickle, size_t most_text, struct buffer *json, ses_error *error);

#endif
