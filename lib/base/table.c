#include "base/table.h"

#include <string.h>

#include "base/memory.h"

/* Returns the slot of the entry, or the empty slot where it would go. The table must have slots. */
static size_t table_slot(const struct hash_table *table, const struct table_entry *like)
{
    const size_t mask = table->capacity - 1;
    size_t slot = (size_t)like->hash & mask;
    const struct table_entry *entry;

    while ((entry = table->slots[slot]) != NULL &&
           !(entry->hash == like->hash && entry->key.len == like->key.len &&
             memcmp(entry->key.ptr, like->key.ptr, like->key.len) == 0))
        slot = (slot + 1) & mask;
    return slot;
}

void ses__table_free(struct hash_table *table, const ses_allocator *allocator)
{
    ses__memory_free(allocator, table->slots);
    *table = (struct hash_table){0};
}

void ses__table_clear(struct hash_table *table)
{
    if (table->count > 0)
        memset(table->slots, 0, table->capacity * sizeof(struct table_entry *));
    table->count = 0;
}

bool ses__table_reserve(struct hash_table *table, const ses_allocator *allocator, size_t more)
{
    const size_t needed = (table->count + more) * 2;
    struct hash_table larger = {.count = table->count, .capacity = table->capacity ? table->capacity : 8};
    struct table_entry *entry;
    size_t at = 0;

    if (needed <= table->capacity)
        return true;
    while (larger.capacity < needed)
        larger.capacity *= 2;
    larger.slots = ses__memory_zeroed(allocator, larger.capacity * sizeof(struct table_entry *));
    if (!larger.slots)
        return false;
    while ((entry = ses__table_next(table, &at)) != NULL)
        larger.slots[table_slot(&larger, entry)] = entry;
    ses__memory_free(allocator, table->slots);
    *table = larger;
    return true;
}

struct table_entry *ses__table_find(const struct hash_table *table, const struct table_entry *like)
{
    return table->count > 0 ? table->slots[table_slot(table, like)] : NULL;
}

struct table_entry *ses__table_put(struct hash_table *table, struct table_entry *entry)
{
    const size_t slot = table_slot(table, entry);
    struct table_entry *older = table->slots[slot];

    table->slots[slot] = entry;
    table->count += older == NULL;
    return older;
}

struct table_entry *ses__table_remove(struct hash_table *table, const struct table_entry *like)
{
    const size_t mask = table->capacity - 1;

    if (table->count == 0)
        return NULL;
    size_t hole = table_slot(table, like);
    struct table_entry *removed = table->slots[hole];
    if (!removed)
        return NULL;
    /* Entries after the hole that probing would no longer reach move into it. */
    for (size_t i = (hole + 1) & mask; table->slots[i]; i = (i + 1) & mask) {
        const size_t home = (size_t)table->slots[i]->hash & mask;
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            table->slots[hole] = table->slots[i];
            hole = i;
        }
    }
    table->slots[hole] = NULL;
    table->count--;
    return removed;
}
