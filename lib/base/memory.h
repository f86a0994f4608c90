/* Memory. The library allocates everything with a store's allocator, through these functions. */
#ifndef SESLITE_BASE_MEMORY_H
#define SESLITE_BASE_MEMORY_H

#include "base/common.h"

SESLITE_PRIVATE void ses__memory_default(ses_allocator *allocator);
SESLITE_PRIVATE void *ses__memory_new(const ses_allocator *allocator, size_t bytes);
SESLITE_PRIVATE void *ses__memory_zeroed(const ses_allocator *allocator, size_t bytes);
/* Returns a copy of the text, followed by a NUL. NULL: out of memory. */
SESLITE_PRIVATE char *ses__memory_copy(const ses_allocator *allocator, const char *text, size_t len);
SESLITE_PRIVATE void *ses__memory_resize(const ses_allocator *allocator, void *memory, size_t bytes);
SESLITE_PRIVATE void ses__memory_free(const ses_allocator *allocator, void *memory);
/* Makes room for `needed` elements in all, by doubling. `items` is the address of the pointer to them.
 * False: out of memory; nothing has changed. */
SESLITE_PRIVATE bool ses__memory_grow(const ses_allocator *allocator, void *items, size_t *capacity,
                                      size_t needed, size_t item_bytes);
/* Makes room for one more element in a list, a struct with `items`, `count` and `capacity`. */
#define LIST_GROW(allocator, list) \
    ses__memory_grow((allocator), &(list)->items, &(list)->capacity, (list)->count + 1, sizeof *(list)->items)

/* Precedes every text that is handed to a caller, so that it can be freed even after its store was closed. */
struct text_header {
    void (*release)(void *context, void *memory);
    void *context;
};

/* Makes a text for the caller, freed by ses_free, with room for `len` bytes and a NUL, which is set. */
SESLITE_PRIVATE char *ses__memory_text(const ses_allocator *allocator, size_t len);
/* The same, filled. */
SESLITE_PRIVATE char *ses__memory_text_of(const ses_allocator *allocator, struct span text);

/*
 * An arena: many small pieces that are freed together. It starts with no memory; a zeroed one with its
 * allocator set is ready.
 */
enum arena_growth {
    ARENA_DOUBLING, /* chunks that grow */
    ARENA_PACKED,   /* for much that stays: large chunks; the newest is trimmed at the end */
    ARENA_EXACT     /* for little that stays: a chunk for each piece */
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
/* Returns memory aligned for any type. NULL: out of memory. */
SESLITE_PRIVATE void *ses__arena_new(struct arena *arena, size_t bytes);
/* Returns a copy of the text, followed by a NUL. */
SESLITE_PRIVATE char *ses__arena_text(struct arena *arena, const char *text, size_t len);
/* Frees all but one chunk and starts over in it, so the arena can be reused without allocating. */
SESLITE_PRIVATE void ses__arena_reset(struct arena *arena);
/* Moves everything of `from` into `into`; cannot fail. */
SESLITE_PRIVATE void ses__arena_join(struct arena *into, struct arena *from);
SESLITE_PRIVATE void ses__arena_free(struct arena *arena);

/* Gives back the free room of the newest chunk. This may move the chunk, so pointers into it must go through
 * ses__moved. False: out of memory; nothing has changed. */
struct arena_move {
    uintptr_t from;
    size_t bytes;
    char *to;
};
SESLITE_PRIVATE bool ses__arena_trim(struct arena *arena, struct arena_move *move);
/* Where a piece of the chunk is now; a piece of another chunk has not moved. */
SESLITE_PRIVATE void *ses__moved(const struct arena_move *move, const void *piece);

/* A text that grows. After a failed allocation `failed` stays set, so it suffices to check it once, at the
 * end. */
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
/* Cuts the text back to `len` bytes, and clears a failure since then. */
SESLITE_PRIVATE void ses__buffer_cut(struct buffer *buffer, size_t len);
/* Cuts the text back to `len` bytes. A failure stays noted: it may have come before them. */
SESLITE_PRIVATE void ses__buffer_take_back(struct buffer *buffer, size_t len);
SESLITE_PRIVATE void ses__buffer_free(struct buffer *buffer);

/*
 * A buffer that becomes a text for the caller without a copy. It begins with the text's header, so the text
 * starts after that. ses__buffer_give ends a call that has made one: hands it over, or frees it after a
 * failure. Returns the code, or NOMEM if the buffer has failed. `len` may be NULL.
 */
SESLITE_PRIVATE void ses__buffer_init_text(struct buffer *buffer, const ses_allocator *allocator);
SESLITE_PRIVATE int ses__buffer_give(struct buffer *buffer, int code, char **text, size_t *len,
                                     ses_error *error);

#endif
