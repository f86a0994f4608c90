/* The strings of a JSON text that was accepted: decodes them, and finds them and the numbers without its
 * structure. */
#ifndef SESLITE_JSON_STRING_H
#define SESLITE_JSON_STRING_H

#include "base/common.h"
#include "base/memory.h"

/* A string as it is spelled in the text, without its quotes. */
struct json_string {
    struct span raw;
    bool escaped; /* holds at least one backslash */
};

/* Returns the string of a value that is one, without white space around it. */
SESLITE_PRIVATE struct json_string ses__json_string_of(struct span value);
/* Returns the value of four hexadecimal digits, or -1 if they are not. `p` has four bytes. */
SESLITE_PRIVATE int32_t ses__json_hex4(const char *p);

/*
 * Give a string as plain text. If it holds a lone surrogate, which UTF-8 cannot express, the first two return
 * false, and the last returns RANGE (or NOMEM) without a message.
 */
/* Writes it to `out`, which has room for raw.len bytes. */
SESLITE_PRIVATE bool ses__json_unescape(struct json_string string, char *out, size_t *len);
/* Adds it to the buffer. */
SESLITE_PRIVATE bool ses__json_add_text(struct buffer *buffer, struct json_string string);
/* The same, with U+FFFD in place of lone surrogates. */
SESLITE_PRIVATE void ses__json_add_replaced(struct buffer *buffer, struct json_string string);
/* The result is borrowed from the text if nothing is escaped; otherwise it is in the arena and followed by a
 * NUL. */
SESLITE_PRIVATE int ses__json_decode(struct json_string string, struct arena *arena, struct span *text);
/* Decodes a text that is shown: with U+FFFD in place of lone surrogates. OK or NOMEM. */
SESLITE_PRIVATE int ses__json_decode_shown(struct json_string string, struct arena *arena, struct span *text);
SESLITE_PRIVATE bool ses__json_string_is(struct json_string string, const char *text);

/* Returns the string, with its quotes, or the number that begins here; an empty span if neither does. */
SESLITE_PRIVATE struct span ses__json_token_at(const char *at, const char *end);

#endif
