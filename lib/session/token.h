/*
 * Tokens: texts that callers keep, and that lead back to a place. A token is a head, and after it numbers of
 * 7 bits a byte, or other bytes; all in base64url. The head holds the version of this form, and a check sum
 * over the rest and over the token's owner, such as the list that it is a place in. The sum detects damaged
 * tokens and those of others. It is not keyed, so the numbers can be forged and must be checked.
 */
#ifndef SESLITE_SESSION_TOKEN_H
#define SESLITE_SESSION_TOKEN_H

#include "base/common.h"
#include "base/memory.h"

/* Begins a token. Numbers and other bytes are added to the buffer. */
SESLITE_PRIVATE void ses__token_begin(struct buffer *bytes, const ses_allocator *allocator);
SESLITE_PRIVATE void ses__token_put(struct buffer *bytes, uint64_t number);
SESLITE_PRIVATE void ses__token_put_signed(struct buffer *bytes, int64_t number);
/* Returns the token, to be freed with the allocator, and frees the buffer. `owner` is a hash that stands for
 * it. NULL: out of memory. */
SESLITE_PRIVATE char *ses__token_end(struct buffer *bytes, uint32_t owner);

/* Decodes a token into the empty buffer, and gives what comes after its head. False: it is not a token of
 * that owner, or the buffer has failed. */
SESLITE_PRIVATE bool ses__token_read(const char *text, uint32_t owner, struct buffer *bytes,
                                     struct span *content);
/* Take the next number. False at the end, and for bytes that are not a number. */
SESLITE_PRIVATE bool ses__token_get(struct span *content, uint64_t *number);
SESLITE_PRIVATE bool ses__token_get_signed(struct span *content, int64_t *number);

#endif
