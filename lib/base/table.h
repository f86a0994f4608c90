/* A hash table of entries that its user allocates: open addressing with linear probing, never more than half
 * full. */
#ifndef SESLITE_BASE_TABLE_H
#define SESLITE_BASE_TABLE_H

#include "base/common.h"

/* The beginning of an entry. The hash is one of the key that nobody can predict: ses__hash_keyed. */
struct table_entry {
    uint64_t hash;
    struct span key;
};

/* A zeroed table is empty. */
struct hash_table {
    struct table_entry **slots;
    size_t count;
    size_t capacity; /* a power of two, or 0 */
};

/* Frees the table, but not its entries. */
SESLITE_PRIVATE void ses__table_free(struct hash_table *table, const ses_allocator *allocator);
/* Removes all entries; the room stays. */
SESLITE_PRIVATE void ses__table_clear(struct hash_table *table);
/* Makes room for `more` further entries. False: out of memory; nothing has changed. */
SESLITE_PRIVATE bool ses__table_reserve(struct hash_table *table, const ses_allocator *allocator,
                                        size_t more);
/* Finds the entry with the hash and key of `like`. NULL: there is none. */
SESLITE_PRIVATE struct table_entry *ses__table_find(const struct hash_table *table,
                                                    const struct table_entry *like);
/* Adds an entry, for which there must be room, and returns the one of its key that it replaces, or NULL. */
SESLITE_PRIVATE struct table_entry *ses__table_put(struct hash_table *table, struct table_entry *entry);
/* Removes the entry with the hash and key of `like`, and returns it. NULL: there was none. */
SESLITE_PRIVATE struct table_entry *ses__table_remove(struct hash_table *table,
                                                      const struct table_entry *like);

/* Returns one entry after the other, in no order; NULL at the end. `*at` begins at 0. */
static inline struct table_entry *ses__table_next(const struct hash_table *table, size_t *at)
{
    while (*at < table->capacity) {
        struct table_entry *entry = table->slots[(*at)++];
        if (entry)
            return entry;
    }
    return NULL;
}

#endif
