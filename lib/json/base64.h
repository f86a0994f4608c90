/* Base64 (RFC 4648). */
#ifndef SESLITE_JSON_BASE64_H
#define SESLITE_JSON_BASE64_H

#include "base/common.h"

/* Returns the number of characters that `len` bytes become. */
static inline size_t ses__base64_len(size_t len)
{
    return (len + 2) / 3 * 4;
}
/* Writes the bytes in the standard alphabet, with padding. They may end where the text ends: each is read
 * before it is overwritten. */
SESLITE_PRIVATE void ses__base64_encode(char *text, const char *bytes, size_t len);
/* Reads both alphabets, with or without padding. False: it is not base64. `out` has room for three bytes for
 * each four characters, or fewer. */
SESLITE_PRIVATE bool ses__base64_decode(struct span text, char *out, size_t *len);

#endif
