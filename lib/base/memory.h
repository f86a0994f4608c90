/* Memory: everything the library allocates goes through a store's allocator, by way of these. */
#ifndef SESLITE_BASE_MEMORY_H
#define SESLITE_BASE_MEMORY_H

#include "base/common.h"

SESLITE_PRIVATE void ses__memory_default(ses_allocator *allocator);
SESLITE_PRIVATE void *ses__memory_new(const ses_allocator *allocator, size_t bytes);
SESLITE_PRIVATE void *ses__memory_zeroed(const ses_allocator *allocator, size_t bytes);
SESLITE_PRIVATE void *ses__memory_resize(const ses_allocator *allocator, void *memory, size_t bytes);
SESLITE_PRIVATE void ses__memory_free(const ses_allocator *allocator, void *memory);
/* Room for `needed` elements in all: grows `*items` by doubling. False: out of memory, unchanged. */
SESLITE_PRIVATE bool ses__memory_grow(const ses_allocator *allocator, void **items, size_t *capacity,
                                      size_t needed, size_t item_bytes);

/* In front of every text handed to a caller: how to free it, even after its store was closed. */
struct text_header {
    void (*release)(void *context, void *memory);
    void *context;
};

/* A text for the caller, freed by ses_free: room for `len` bytes and a NUL, which is set. */
SESLITE_PRIVATE char *ses__memory_text(const ses_allocator *allocator, size_t len);
/* The same, filled. */
SESLITE_PRIVATE char *ses__memory_text_of(const ses_allocator *allocator, struct span text);

/*
 * An arena: many small pieces that are freed together. It starts with no memory; a zeroed one with its
 * allocator set is ready.
 */
enum arena_growth {
    ARENA_DOUBLING, /* in chunks that grow */
    ARENA_PACKED, /* for much that stays: in large chunks, the newest of which is to be trimmed at the end */
    ARENA_EXACT   /* for little that stays: each piece in a chunk of its own */
};

struct arena_chunk;
struct arena {
    const ses_allocator *allocator;
    enum arena_growth growth;
    struct arena_chunk *chunks; /* the newest first */
    char *next;                 /* free room in the newest */
    size_t left;
};

SESLITE_PRIVATE void ses__arena_init(struct arena *arena, const ses_allocator *allocator);
SESLITE_PRIVATE void ses__arena_init_as(struct arena *arena, const ses_allocator *allocator,
                                        enum arena_growth growth);
/* Aligned for any type; NULL: out of memory. */
SESLITE_PRIVATE void *ses__arena_new(struct arena *arena, size_t bytes);
/* A copy of the text, followed by a NUL. */
SESLITE_PRIVATE char *ses__arena_text(struct arena *arena, const char *text, size_t len);
/* Frees all but one chunk and starts over in it: for reuse without allocating. */
SESLITE_PRIVATE void ses__arena_reset(struct arena *arena);
/* Moves everything of `from` into `into`; cannot fail. */
SESLITE_PRIVATE void ses__arena_join(struct arena *into, struct arena *from);
SESLITE_PRIVATE void ses__arena_free(struct arena *arena);

/* Gives the free room of the newest chunk back, which may move the chunk: then pointers into it are to go through
 * ses__moved. False: out of memory, unchanged. */
struct arena_move {
    uintptr_t from;
    size_t bytes;
    char *to;
};
SESLITE_PRIVATE bool ses__arena_trim(struct arena *arena, struct arena_move *move);
/* Where a piece of the chunk is now; a piece of another chunk has not moved. */
SESLITE_PRIVATE void *ses__moved(const struct arena_move *move, const void *piece);

/* A text that grows. After a failed allocation it is `failed` and stays so: look once, at the end. */
struct buffer {
    const ses_allocator *allocator;
    char *data;
    size_t len;
    size_t capacity;
    bool failed;
};

SESLITE_PRIVATE void ses__buffer_init(struct buffer *buffer, const ses_allocator *allocator);
/* Makes room for `more` bytes after the contents; false if out of memory. */
SESLITE_PRIVATE bool ses__buffer_reserve(struct buffer *buffer, size_t more);
SESLITE_PRIVATE void ses__buffer_add(struct buffer *buffer, const char *text, size_t len);
/* The same with a C string. */
SESLITE_PRIVATE void ses__buffer_add_word(struct buffer *buffer, const char *word);
/* Takes away what was added since it was `len` bytes long, a failure included. */
SESLITE_PRIVATE void ses__buffer_cut(struct buffer *buffer, size_t len);
SESLITE_PRIVATE void ses__buffer_free(struct buffer *buffer);

/*
 * A buffer that becomes a text for the caller, without a copy: it begins with the text's header, so what is
 * added counts from there. ses__buffer_take leaves it empty; NULL: it has failed.
 */
SESLITE_PRIVATE void ses__buffer_init_text(struct buffer *buffer, const ses_allocator *allocator);
SESLITE_PRIVATE char *ses__buffer_take(struct buffer *buffer, size_t *len);

#endif
