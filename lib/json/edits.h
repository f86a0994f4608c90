/* Edits of a JSON text whose other bytes all stay. */
#ifndef SESLITE_JSON_EDITS_H
#define SESLITE_JSON_EDITS_H

#include "base/common.h"
#include "base/memory.h"

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
