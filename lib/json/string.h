/* Strings of a JSON text that was accepted, as plain text. */
#ifndef SESLITE_JSON_STRING_H
#define SESLITE_JSON_STRING_H

#include "base/common.h"
#include "base/memory.h"

/* A string as it is in the text, without its quotes. */
struct json_string {
    struct span raw;
    bool escaped; /* holds at least one backslash */
};

/* The string that a value is; no white space is around it. */
SESLITE_PRIVATE struct json_string ses__json_string_of(struct span value);
/* Four hexadecimal digits; -1 when they are not. `p` has four bytes. */
SESLITE_PRIVATE int32_t ses__json_hex4(const char *p);

/*
 * A string as plain text. Where it holds a lone surrogate, which UTF-8 cannot express, these say so: the first two
 * return false, the third RANGE (or NOMEM), without a message.
 */
/* Into `out`, which has room for raw.len bytes. */
SESLITE_PRIVATE bool ses__json_unescape(struct json_string string, char *out, size_t *len);
/* To the end of the buffer. */
SESLITE_PRIVATE bool ses__json_add_text(struct buffer *buffer, struct json_string string);
/* Borrowed from the text if nothing is escaped, else decoded in the arena and followed by a NUL. */
SESLITE_PRIVATE int ses__json_decode(struct json_string string, struct arena *arena, struct span *text);
SESLITE_PRIVATE bool ses__json_string_is(struct json_string string, const char *text);

#endif
