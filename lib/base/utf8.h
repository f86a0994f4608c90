/* UTF-8, as RFC 3629 defines it: no overlong forms, no surrogates, nothing past U+10FFFF. */
#ifndef SESLITE_BASE_UTF8_H
#define SESLITE_BASE_UTF8_H

#include "base/common.h"

/* Returns the length of the character at `text`, 1 to 4 bytes, or 0 if it is not valid or is cut by `end`. */
SESLITE_PRIVATE size_t ses__utf8_character(const char *text, const char *end);
/* Returns the code point of a valid character of `len` bytes. */
SESLITE_PRIVATE uint32_t ses__utf8_decode(const char *text, size_t len);
SESLITE_PRIVATE bool ses__utf8_valid(const char *text, size_t len);
/* Returns how many bytes from the beginning of the text are valid: `len` if all are. */
SESLITE_PRIVATE size_t ses__utf8_valid_part(const char *text, size_t len);
/* Writes the character, which is not a surrogate, to `out`, which has room for 4 bytes; returns its
 * length. */
SESLITE_PRIVATE size_t ses__utf8_encode(uint32_t character, char *out);

#endif
