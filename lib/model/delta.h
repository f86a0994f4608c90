/* State deltas: a JSON object of state keys, split by scope; and edits of a JSON text that is kept otherwise. */
#ifndef SESLITE_MODEL_DELTA_H
#define SESLITE_MODEL_DELTA_H

#include "base/common.h"
#include "json/reader.h"
#include "base/memory.h"
#include "model/scope.h"

struct delta_op {
    enum scope scope;
    bool removes;      /* the ADK's tombstone */
    struct span name;  /* with prefix */
    struct span key;   /* without; a part of `name` */
    struct span value; /* JSON text */
};

struct delta {
    struct delta_op *ops; /* in the order of the text: when a key stands twice, the last one counts */
    size_t count;
    size_t capacity;
};

/* Replaces the bytes from `start` to `end` of the text by `text`. In ascending order, without overlap. */
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

/* Both lists are allocated by `arena->allocator` and freed with these; decoded keys live in the arena. */
SESLITE_PRIVATE void ses__delta_free(struct delta *delta, const ses_allocator *allocator);
SESLITE_PRIVATE void ses__edits_free(struct edits *edits, const ses_allocator *allocator);
SESLITE_PRIVATE bool ses__edits_add(struct edits *edits, const ses_allocator *allocator, struct edit edit);
/* The text with the edits made; NULL: out of memory. */
SESLITE_PRIVATE char *ses__edits_apply(const struct edits *edits, struct arena *arena, struct span text,
                                       size_t *len);

/*
 * Reads the object that comes next in `reader`. `temp:` keys become operations and also edits that cut them
 * out of the text.
 */
SESLITE_PRIVATE int ses__delta_read(struct json_reader *reader, struct arena *arena, struct delta *delta,
                                    struct edits *edits, ses_error *error);

#endif
