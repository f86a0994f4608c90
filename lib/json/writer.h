/* Writes JSON, and edits it. Only this file decides how a text is spelled. */
#ifndef SESLITE_JSON_WRITER_H
#define SESLITE_JSON_WRITER_H

#include "base/common.h"
#include "base/memory.h"

/* Writes the text, valid UTF-8, as a JSON string in quotes, without a NUL; returns its length. If `to` is
 * NULL, it only measures. */
SESLITE_PRIVATE size_t ses__json_write_string(char *to, const char *text, size_t len);
/* Adds the text as a JSON string. */
SESLITE_PRIVATE void ses__json_add_string(struct buffer *buffer, const char *text, size_t len);
/* Adds the words, and the text as a JSON string after them. */
SESLITE_PRIVATE void ses__json_add_named(struct buffer *buffer, const char *words, struct span text);
/* Adds `"name":value`, with a comma before it unless the buffer is `start` bytes long. The name is plain
 * text, the value JSON. */
SESLITE_PRIVATE void ses__json_add_member(struct buffer *buffer, size_t start, struct span name,
                                          struct span value);

/* ---- edits of a JSON text whose other bytes all stay */

/* Replaces the bytes from `start` to `end` by `text`. Edits are in ascending order and do not overlap. */
struct edit {
    size_t start;
    size_t end;
    struct span text;
};

struct edits {
    struct edit *items;
    size_t count;
    size_t capacity;
};

SESLITE_PRIVATE void ses__edits_free(struct edits *edits, const ses_allocator *allocator);
/* False: out of memory. */
SESLITE_PRIVATE bool ses__edits_add(struct edits *edits, const ses_allocator *allocator, struct edit edit);
/* Returns the edited text. NULL: out of memory. */
SESLITE_PRIVATE char *ses__edits_apply(const struct edits *edits, struct arena *arena, struct span text,
                                       size_t *len);

#endif
