/* Numbers by text. The index keeps only a 64-bit hash of a text, so that one of millions stays small. */
#ifndef TEXT_INDEX_H
#define TEXT_INDEX_H

#include <stddef.h>
#include <stdint.h>

struct index_slot {
    uint64_t hash; /* 0 if the slot is free */
    int64_t number;
};

/* All zero is empty. */
struct index {
    struct index_slot *slots; /* open addressing, at most half full */
    size_t count;
    size_t capacity; /* a power of two, or 0 */
};

/* The number of the text, or 0 if it has none. */
int64_t index_find(const struct index *index, const char *text, size_t len);
/* Gives the text a number other than 0. If it already has one, keeps and returns that, otherwise returns
 * 0. */
int64_t index_add(struct index *index, const char *text, size_t len, int64_t number);
void index_free(struct index *index);

#endif
