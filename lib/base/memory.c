#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static void *default_allocate(void *context, size_t bytes)
{
    (void)context;
    return malloc(bytes);
}

static void *default_resize(void *context, void *memory, size_t bytes)
{
    (void)context;
    return realloc(memory, bytes);
}

static void default_release(void *context, void *memory)
{
    (void)context;
    free(memory);
}

void ses__memory_default(ses_allocator *allocator)
{
    *allocator = (ses_allocator){sizeof *allocator, NULL, default_allocate, default_resize, default_release};
}

void *ses__memory_new(const ses_allocator *allocator, size_t bytes)
{
    return allocator->allocate(allocator->context, bytes ? bytes : 1);
}

void *ses__memory_zeroed(const ses_allocator *allocator, size_t bytes)
{
    void *memory = ses__memory_new(allocator, bytes);
    if (memory)
        memset(memory, 0, bytes);
    return memory;
}

char *ses__memory_copy(const ses_allocator *allocator, const char *text, size_t len)
{
    char *copy = ses__memory_new(allocator, len + 1);

    if (copy) {
        memcpy(copy, text, len);
        copy[len] = '\0';
    }
    return copy;
}

void *ses__memory_resize(const ses_allocator *allocator, void *memory, size_t bytes)
{
    return memory ? allocator->resize(allocator->context, memory, bytes) : ses__memory_new(allocator, bytes);
}

void ses__memory_free(const ses_allocator *allocator, void *memory)
{
    if (memory)
        allocator->release(allocator->context, memory);
}

bool ses__memory_grow(const ses_allocator *allocator, void *items, size_t *capacity, size_t needed,
                      size_t item_bytes)
{
    size_t larger = *capacity ? *capacity * 2 : 8;
    void *grown;

    if (needed <= *capacity)
        return true;
    if (larger < needed)
        larger = needed;
    if (larger > SIZE_MAX / item_bytes)
        return false;
    memcpy(&grown, items, sizeof grown); /* POSIX: all pointers to objects have one representation */
    grown = ses__memory_resize(allocator, grown, larger * item_bytes);
    if (!grown)
        return false;
    memcpy(items, &grown, sizeof grown);
    *capacity = larger;
    return true;
}

char *ses__memory_text(const ses_allocator *allocator, size_t len)
{
    struct text_header *header = NULL;

    if (len < SIZE_MAX - sizeof *header)
        header = ses__memory_new(allocator, sizeof *header + len + 1);
    if (!header)
        return NULL;
    *header = (struct text_header){allocator->release, allocator->context};
    char *text = (char *)(header + 1);
    text[len] = '\0';
    return text;
}

char *ses__memory_text_of(const ses_allocator *allocator, struct span text)
{
    char *copy = ses__memory_text(allocator, text.len);
    if (copy && text.len)
        memcpy(copy, text.ptr, text.len);
    return copy;
}

/* ---------------------------------------------------------------------------------------------- arena */

struct arena_chunk {
    _Alignas(max_align_t) struct arena_chunk *older;
    size_t bytes; /* usable bytes after this header */
};

enum {
    ARENA_ALIGNMENT = _Alignof(max_align_t),
    ARENA_FIRST_CHUNK = 1024,
    ARENA_LARGEST_CHUNK = 64 * 1024,
    ARENA_LARGE_PIECE = ARENA_LARGEST_CHUNK / 16 /* so that less than a 16th of a packed chunk is wasted */
};

void ses__arena_init(struct arena *arena, const ses_allocator *allocator)
{
    *arena = (struct arena){.allocator = allocator};
}

/* Returns the size of a new chunk whose first piece has `bytes` bytes. */
static size_t room_from(const struct arena *arena, size_t bytes)
{
    size_t room = 0;

    if (arena->growth == ARENA_DOUBLING)
        room = arena->chunks ? arena->chunks->bytes * 2 : ARENA_FIRST_CHUNK;
    else if (arena->growth == ARENA_PACKED && bytes <= ARENA_LARGE_PIECE)
        room = ARENA_LARGEST_CHUNK;
    if (room > ARENA_LARGEST_CHUNK)
        room = ARENA_LARGEST_CHUNK;
    return room < bytes ? bytes : room;
}

static void *begin_chunk(struct arena *arena, size_t bytes)
{
    const size_t room = room_from(arena, bytes);
    struct arena_chunk *chunk = ses__memory_new(arena->allocator, sizeof *chunk + room);

    if (!chunk)
        return NULL;
    chunk->bytes = room;
    if (arena->growth == ARENA_PACKED && room == bytes && arena->chunks) {
        /* After the newest chunk, whose free room stays in use. */
        chunk->older = arena->chunks->older;
        arena->chunks->older = chunk;
    } else {
        chunk->older = arena->chunks;
        arena->chunks = chunk;
        arena->next = (char *)(chunk + 1) + bytes;
        arena->left = room - bytes;
    }
    return chunk + 1;
}

void *ses__arena_new(struct arena *arena, size_t bytes)
{
    const size_t rounded = (bytes + ARENA_ALIGNMENT - 1) / ARENA_ALIGNMENT * ARENA_ALIGNMENT;
    void *memory = arena->next;

    if (bytes > SIZE_MAX / 2)
        return NULL;
    if (rounded > arena->left)
        return begin_chunk(arena, rounded);
    arena->next += rounded;
    arena->left -= rounded;
    return memory;
}

char *ses__arena_text(struct arena *arena, const char *text, size_t len)
{
    char *copy = ses__arena_new(arena, len + 1);
    if (copy) {
        if (len)
            memcpy(copy, text, len);
        copy[len] = '\0';
    }
    return copy;
}

static void free_chunks(const ses_allocator *allocator, struct arena_chunk *chunk)
{
    while (chunk) {
        struct arena_chunk *older = chunk->older;
        ses__memory_free(allocator, chunk);
        chunk = older;
    }
}

void ses__arena_reset(struct arena *arena)
{
    struct arena_chunk *kept = arena->chunks;

    if (kept) {
        free_chunks(arena->allocator, kept->older);
        kept->older = NULL;
        arena->next = (char *)(kept + 1);
        arena->left = kept->bytes;
    }
}

void ses__arena_join(struct arena *into, struct arena *from)
{
    struct arena_chunk *oldest = from->chunks;

    if (!oldest)
        return;
    while (oldest->older)
        oldest = oldest->older;
    if (into->chunks) {
        /* After the newest chunk, whose free room stays in use. */
        oldest->older = into->chunks->older;
        into->chunks->older = from->chunks;
    } else {
        into->chunks = from->chunks;
        into->next = from->next;
        into->left = from->left;
    }
    *from = (struct arena){.allocator = from->allocator, .growth = from->growth};
}

void ses__arena_free(struct arena *arena)
{
    free_chunks(arena->allocator, arena->chunks);
    *arena = (struct arena){.allocator = arena->allocator, .growth = arena->growth};
}

bool ses__arena_trim(struct arena *arena, struct arena_move *move)
{
    struct arena_chunk *chunk = arena->chunks;

    *move = (struct arena_move){.from = (uintptr_t)chunk, .to = (char *)chunk};
    if (arena->left == 0)
        return true;
    const size_t used = chunk->bytes - arena->left;
    struct arena_chunk *trimmed = ses__memory_resize(arena->allocator, chunk, sizeof *chunk + used);
    if (!trimmed)
        return false;
    trimmed->bytes = used;
    arena->chunks = trimmed;
    arena->left = 0;
    move->to = (char *)trimmed;
    move->bytes = sizeof *trimmed + used;
    return true;
}

void *ses__moved(const struct arena_move *move, const void *piece)
{
    const size_t offset = (uintptr_t)piece - move->from;
    return offset < move->bytes ? move->to + offset : (void *)(uintptr_t)piece;
}

/* --------------------------------------------------------------------------------------------- buffer */

void ses__buffer_init(struct buffer *buffer, const ses_allocator *allocator)
{
    *buffer = (struct buffer){.allocator = allocator};
}

bool ses__buffer_reserve(struct buffer *buffer, size_t more)
{
    const size_t needed = buffer->len + more + 1;
    size_t capacity = buffer->capacity ? buffer->capacity * 2 : 256;

    if (buffer->failed || more >= SIZE_MAX / 4 - buffer->len) {
        buffer->failed = true;
    } else if (needed > buffer->capacity) {
        capacity = capacity < needed ? needed : capacity;
        char *data = ses__memory_resize(buffer->allocator, buffer->data, capacity);
        buffer->failed = data == NULL;
        buffer->data = data ? data : buffer->data;
        buffer->capacity = data ? capacity : buffer->capacity;
    }
    return !buffer->failed;
}

void ses__buffer_add(struct buffer *buffer, const char *text, size_t len)
{
    if (ses__buffer_reserve(buffer, len)) {
        if (len)
            memcpy(buffer->data + buffer->len, text, len);
        buffer->len += len;
        buffer->data[buffer->len] = '\0';
    }
}

void ses__buffer_add_word(struct buffer *buffer, const char *word)
{
    ses__buffer_add(buffer, word, strlen(word));
}

void ses__buffer_cut(struct buffer *buffer, size_t len)
{
    buffer->len = len;
    buffer->failed = false;
    if (buffer->data)
        buffer->data[len] = '\0';
}

void ses__buffer_take_back(struct buffer *buffer, size_t len)
{
    const bool failed = buffer->failed;

    ses__buffer_cut(buffer, len);
    buffer->failed = failed;
}

void ses__buffer_free(struct buffer *buffer)
{
    ses__memory_free(buffer->allocator, buffer->data);
    ses__buffer_init(buffer, buffer->allocator);
}

void ses__buffer_init_text(struct buffer *buffer, const ses_allocator *allocator)
{
    const struct text_header header = {allocator->release, allocator->context};
    ses__buffer_init(buffer, allocator);
    ses__buffer_add(buffer, (const char *)&header, sizeof header);
}

int ses__buffer_give(struct buffer *buffer, int code, char **text, size_t *len, ses_error *error)
{
    if (code != SES_OK || buffer->failed) {
        ses__buffer_free(buffer);
        return code != SES_OK ? code : ses__error_nomem(error);
    }
    *text = buffer->data + sizeof(struct text_header);
    if (len)
        *len = buffer->len - sizeof(struct text_header);
    return SES_OK;
}

void ses_free(char *text)
{
    if (text) {
        struct text_header *header = (struct text_header *)(void *)text - 1;
        header->release(header->context, header);
    }
}
