/* The entries of one scope of a state: a hash table, keyed by the whole name. */
#ifndef SESLITE_MODEL_STATE_STATE_MAP_H
#define SESLITE_MODEL_STATE_STATE_MAP_H

#include "base/hash.h"
#include "base/memory.h"
#include "base/table.h"
#include "model/state/scope.h"

/* A key and its value; both end in a NUL. */
struct state_entry {
    struct table_entry entry; /* by the name */
    enum scope scope;
    bool removes; /* in staged changes: removes the key */
    /* Key and value are known to be valid: they came with an event, or ses__state_entry_check accepted
     * them. */
    bool checked;
    int64_t seq; /* in a replay: the number of the event that set it */
    size_t value_len;
    char *text; /* the unescaped string, made when first asked for */
    size_t text_len;
    char bytes[]; /* name, NUL, value, NUL */
};

static inline struct span ses__state_entry_span(const struct state_entry *entry)
{
    return entry->entry.key;
}

static inline struct span ses__state_entry_value(const struct state_entry *entry)
{
    return (struct span){entry->bytes + entry->entry.key.len + 1, entry->value_len};
}

SESLITE_PRIVATE void ses__state_entry_free(const ses_allocator *allocator, struct state_entry *entry);

struct state_map {
    unsigned references;
    struct hash_table table;
};

/* Returns a map with one reference. NULL: out of memory. */
SESLITE_PRIVATE struct state_map *ses__state_map_new(const ses_allocator *allocator);
SESLITE_PRIVATE void ses__state_map_release(const ses_allocator *allocator, struct state_map *map);
SESLITE_PRIVATE void ses__state_map_clear(const ses_allocator *allocator, struct state_map *map);
/* Takes the entry over, and frees an older one of the same name. There must be room. */
SESLITE_PRIVATE void ses__state_map_put(const ses_allocator *allocator, struct state_map *map,
                                        struct state_entry *entry);
/* Frees the entry of the name of `like`. */
SESLITE_PRIVATE void ses__state_map_remove(const ses_allocator *allocator, struct state_map *map,
                                           const struct state_entry *like);

/* As ses__table_next. */
static inline struct state_entry *ses__state_map_next(const struct state_map *map, size_t *at)
{
    return (struct state_entry *)ses__table_next(&map->table, at);
}

#endif
