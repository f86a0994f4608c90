/* Damaged files: chance that can be repeated, and a store's files as bytes in memory. */
#ifndef SESLITE_TEST_DAMAGE_H
#define SESLITE_TEST_DAMAGE_H

#include "open.h"

/* ------------------------------------------------------------------------------------------- chance */

/* SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators"). */
struct chance {
    uint64_t state;
};

static inline uint64_t chance_next(struct chance *chance)
{
    uint64_t z = chance->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* From 0 to `below` - 1. */
static inline size_t chance_below(struct chance *chance, size_t below)
{
    return (size_t)(chance_next(chance) % below);
}

/* -------------------------------------------------------------------------------------------- bytes */

struct bytes {
    unsigned char *data;
    size_t len;
};

static inline void bytes_resize(struct bytes *bytes, size_t len)
{
    bytes->data = realloc(bytes->data, len + 1);
    assert_non_null(bytes->data);
    if (len > bytes->len)
        memset(bytes->data + bytes->len, 0, len - bytes->len);
    bytes->len = len;
}

static inline void bytes_copy(struct bytes *to, const struct bytes *from)
{
    bytes_resize(to, from->len);
    if (from->len)
        memcpy(to->data, from->data, from->len);
}

static inline uint32_t bytes_get(const unsigned char *at, int width)
{
    uint32_t number = 0;
    for (int i = 0; i < width; i++)
        number = number << 8 | at[i];
    return number;
}

static inline void bytes_put(unsigned char *at, int width, uint32_t number)
{
    for (int i = width; i-- > 0; number >>= 8)
        at[i] = (unsigned char)number;
}

/* -------------------------------------------------------------------------------------------- stores */

enum { STORE_FILE, STORE_LOG, STORE_JOURNAL, STORE_PARTS };

static const char *const store_suffixes[STORE_PARTS + 1] = {"", "-wal", "-journal", "-shm"};

struct store_files {
    const char *name;
    bool is_large;
    struct bytes parts[STORE_PARTS];
};

static inline void store_files_read(struct store_files *files, const char *path)
{
    for (int i = 0; i < STORE_PARTS; i++) {
        struct text name = {NULL, 0};
        text_printf(&name, "%s%s", path, store_suffixes[i]);
        files->parts[i].data = (unsigned char *)support_read_file(name.data, &files->parts[i].len);
        free(name.data);
    }
    assert_non_null(files->parts[STORE_FILE].data);
}

static inline void store_files_remove(const char *path)
{
    for (int i = 0; i <= STORE_PARTS; i++) {
        struct text name = {NULL, 0};
        text_printf(&name, "%s%s", path, store_suffixes[i]);
        (void)unlink(name.data);
        free(name.data);
    }
}

static inline void store_files_write(const struct store_files *files, const char *path)
{
    store_files_remove(path);
    for (int i = 0; i < STORE_PARTS; i++) {
        struct text name = {NULL, 0};
        text_printf(&name, "%s%s", path, store_suffixes[i]);
        if (i == STORE_FILE || files->parts[i].len > 0)
            write_file(name.data, (const char *)files->parts[i].data, files->parts[i].len);
        free(name.data);
    }
}

static inline void store_files_copy(struct store_files *to, const struct store_files *from)
{
    to->name = from->name;
    to->is_large = from->is_large;
    for (int i = 0; i < STORE_PARTS; i++)
        bytes_copy(&to->parts[i], &from->parts[i]);
}

static inline void store_files_free(struct store_files *files)
{
    for (int i = 0; i < STORE_PARTS; i++) {
        free(files->parts[i].data);
        files->parts[i] = (struct bytes){NULL, 0};
    }
}

#endif
