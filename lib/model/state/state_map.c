#include "model/state/state_map.h"

#include <string.h>

const char *ses__state_entry_name(const struct state_entry *entry)
{
    return entry->bytes;
}

struct span ses__state_entry_value(const struct state_entry *entry)
{
    return (struct span){entry->bytes + entry->name_len + 1, entry->value_len};
}

struct span ses__state_entry_span(const struct state_entry *entry)
{
    return (struct span){entry->bytes, entry->name_len};
}

static ALWAYS_INLINE uint64_t rotate(uint64_t word, int bits)
{
    return word << bits | word >> (64 - bits);
}

static ALWAYS_INLINE void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[0] = rotate(v[0], 32);
    v[2] += v[3];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[2] = rotate(v[2], 32);
}

/* SipHash-1-3 (Aumasson and Bernstein, "SipHash: a fast short-input PRF"). */
uint64_t ses__state_hash(const struct state_seed *seed, struct span name)
{
    uint64_t v[4] = {
        seed->words[0] ^ UINT64_C(0x736f6d6570736575), seed->words[1] ^ UINT64_C(0x646f72616e646f6d),
        seed->words[0] ^ UINT64_C(0x6c7967656e657261), seed->words[1] ^ UINT64_C(0x7465646279746573)};
    size_t left = name.len;
    const char *p = name.ptr;
    uint64_t word;

    for (; left >= 8; left -= 8, p += 8) {
        memcpy(&word, p, 8);
        v[3] ^= word;
        sip_round(v);
        v[0] ^= word;
    }
    word = (uint64_t)name.len << 56;
    for (size_t i = 0; i < left; i++)
        word |= (uint64_t)(unsigned char)p[i] << (8 * i);
    v[3] ^= word;
    sip_round(v);
    v[0] ^= word;
    v[2] ^= 0xFF;
    sip_round(v);
    sip_round(v);
    sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

void ses__state_entry_free(const ses_allocator *allocator, struct state_entry *entry)
{
    if (entry) {
        ses__memory_free(allocator, entry->text);
        ses__memory_free(allocator, entry);
    }
}

struct state_map *ses__state_map_new(const ses_allocator *allocator)
{
    struct state_map *map = ses__memory_zeroed(allocator, sizeof *map);
    if (map)
        map->references = 1;
    return map;
}

void ses__state_map_clear(const ses_allocator *allocator, struct state_map *map)
{
    for (size_t i = 0; i < map->capacity && map->count > 0; i++) {
        if (map->slots[i]) {
            ses__state_entry_free(allocator, map->slots[i]);
            map->slots[i] = NULL;
            map->count--;
        }
    }
}

void ses__state_map_release(const ses_allocator *allocator, struct state_map *map)
{
    if (map && --map->references == 0) {
        ses__state_map_clear(allocator, map);
        ses__memory_free(allocator, map->slots);
        ses__memory_free(allocator, map);
    }
}

/* Returns the slot that holds the name, or the empty slot where it would go. The map must have slots. */
static size_t map_slot(const struct state_map *map, uint64_t hash, struct span name)
{
    size_t mask = map->capacity - 1;
    size_t slot = (size_t)hash & mask;
    const struct state_entry *entry;

    while ((entry = map->slots[slot]) != NULL && !(entry->hash == hash && entry->name_len == name.len &&
                                                   memcmp(entry->bytes, name.ptr, name.len) == 0))
        slot = (slot + 1) & mask;
    return slot;
}

struct state_entry *ses__state_map_find(const struct state_map *map, uint64_t hash, struct span name)
{
    return map->count > 0 ? map->slots[map_slot(map, hash, name)] : NULL;
}

bool ses__state_map_reserve(const ses_allocator *allocator, struct state_map *map, size_t more)
{
    size_t needed = (map->count + more) * 2;
    bool ok = true;

    if (needed > map->capacity) {
        size_t capacity = map->capacity ? map->capacity : 8;
        while (capacity < needed)
            capacity *= 2;
        struct state_map grown = {.capacity = capacity};
        grown.slots = ses__memory_zeroed(allocator, capacity * sizeof(struct state_entry *));
        ok = grown.slots != NULL;
        if (ok) {
            for (size_t i = 0; i < map->capacity; i++) {
                struct state_entry *entry = map->slots[i];
                if (entry)
                    grown.slots[map_slot(&grown, entry->hash, ses__state_entry_span(entry))] = entry;
            }
            ses__memory_free(allocator, map->slots);
            map->slots = grown.slots;
            map->capacity = capacity;
        }
    }
    return ok;
}

void ses__state_map_put(const ses_allocator *allocator, struct state_map *map, struct state_entry *entry)
{
    size_t slot = map_slot(map, entry->hash, ses__state_entry_span(entry));
    if (map->slots[slot])
        ses__state_entry_free(allocator, map->slots[slot]);
    else
        map->count++;
    map->slots[slot] = entry;
}

void ses__state_map_remove(const ses_allocator *allocator, struct state_map *map, uint64_t hash,
                           struct span name)
{
    if (map->capacity > 0) {
        size_t mask = map->capacity - 1;
        size_t hole = map_slot(map, hash, name);
        if (map->slots[hole]) {
            ses__state_entry_free(allocator, map->slots[hole]);
            map->count--;
            /* Entries after the hole that probing would no longer reach move into it. */
            for (size_t i = (hole + 1) & mask; map->slots[i]; i = (i + 1) & mask) {
                size_t home = (size_t)map->slots[i]->hash & mask;
                if (((i - home) & mask) >= ((i - hole) & mask)) {
                    map->slots[hole] = map->slots[i];
                    hole = i;
                }
            }
            map->slots[hole] = NULL;
        }
    }
}
