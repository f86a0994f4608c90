/* The entries of one scope of a state: a hash table, keyed by the whole name. */
#ifndef SESLITE_MODEL_STATE_STATE_MAP_H
#define SESLITE_MODEL_STATE_STATE_MAP_H

#include "base/common.h"
#include "base/memory.h"
#include "model/state/scope.h"

/* A key and its value; both end in a NUL. */
struct state_entry {
    uint64_t hash;
    enum scope scope;
    bool removes; /* in staged changes: removes the key */
    /* Key and value are known to be valid: they came with an event, or ses__state_entry_check accepted
     * them. */
    bool checked;
    int64_t seq; /* in a replay: the number of the event that set it */
    size_t name_len;
    size_t value_len;
    char *text; /* the unescaped string, made when first asked for */
    size_t text_len;
    char bytes[]; /* name, NUL, value, NUL */
};

SESLITE_PRIVATE const char *ses__state_entry_name(const struct state_entry *entry);
SESLITE_PRIVATE struct span ses__state_entry_value(const struct state_entry *entry);
SESLITE_PRIVATE struct span ses__state_entry_span(const struct state_entry *entry); /* its name */
SESLITE_PRIVATE void ses__state_entry_free(const ses_allocator *allocator, struct state_entry *entry);

/* The key of the hash, so that nobody can choose names that collide. */
struct state_seed {
    uint64_t words[2];
};
SESLITE_PRIVATE uint64_t ses__state_hash(const struct state_seed *seed, struct span name);

/* Open addressing with linear probing; never more than half full. */
struct state_map {
    unsigned references;
    size_t count;
    size_t capacity; /* a power of two, or 0 */
    struct state_entry **slots;
};

/* Returns a map with one reference. NULL: out of memory. */
SESLITE_PRIVATE struct state_map *ses__state_map_new(const ses_allocator *allocator);
SESLITE_PRIVATE void ses__state_map_release(const ses_allocator *allocator, struct state_map *map);
SESLITE_PRIVATE void ses__state_map_clear(const ses_allocator *allocator, struct state_map *map);
SESLITE_PRIVATE struct state_entry *ses__state_map_find(const struct state_map *map, uint64_t hash,
                                                        struct span name);
/* Makes room for `more` further entries. False: out of memory. */
SESLITE_PRIVATE bool ses__state_map_reserve(const ses_allocator *allocator, struct state_map *map,
                                            size_t more);
/* Takes the entry over, and frees an older one of the same name. There must be room. */
SESLITE_PRIVATE void ses__state_map_put(const ses_allocator *allocator, struct state_map *map,
                                        struct state_entry *entry);
SESLITE_PRIVATE void ses__state_map_remove(const ses_allocator *allocator, struct state_map *map,
                                           uint64_t hash, struct span name);

#endif
