#include "text/index.h"

#include <stdlib.h>

#include "text/text.h"

/* FNV-1a */
static uint64_t hash_of(const char *text, size_t len)
{
    uint64_t hash = UINT64_C(14695981039346656037);

    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
    return hash ? hash : 1;
}

static struct index_slot *slot_of(const struct index *index, uint64_t hash)
{
    size_t at = (size_t)hash & (index->capacity - 1);

    while (index->slots[at].hash && index->slots[at].hash != hash)
        at = (at + 1) & (index->capacity - 1);
    return &index->slots[at];
}

static void grow(struct index *index)
{
    const struct index old = *index;

    index->capacity = old.capacity ? old.capacity * 2 : 64;
    index->slots = allocate(index->capacity * sizeof *index->slots);
    for (size_t i = 0; i < old.capacity; i++)
        if (old.slots[i].hash)
            *slot_of(index, old.slots[i].hash) = old.slots[i];
    free(old.slots);
}

int64_t index_find(const struct index *index, const char *text, size_t len)
{
    return index->count > 0 ? slot_of(index, hash_of(text, len))->number : 0;
}

int64_t index_add(struct index *index, const char *text, size_t len, int64_t number)
{
    const uint64_t hash = hash_of(text, len);

    if (index->count * 2 >= index->capacity)
        grow(index);
    struct index_slot *slot = slot_of(index, hash);
    if (slot->hash)
        return slot->number;
    *slot = (struct index_slot){hash, number};
    index->count++;
    return 0;
}

void index_free(struct index *index)
{
    free(index->slots);
    *index = (struct index){.slots = NULL};
}
