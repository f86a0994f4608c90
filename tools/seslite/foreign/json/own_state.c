#include "foreign/json/own_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

bool is_shared_key(struct span key)
{
    static const char *const prefixes[] = {"app:", "user:", "temp:"};

    for (size_t i = 0; i < 3; i++)
        if (key.len >= strlen(prefixes[i]) && memcmp(key.ptr, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

/* The slot of the key, or the free slot where it belongs. */
static size_t slot_of(const struct own_state *state, struct span key)
{
    size_t slot = (size_t)ses__hash64(HASH64_BASIS, key.ptr, key.len) & (state->slot_count - 1);

    for (; state->slots[slot] != 0; slot = (slot + 1) & (state->slot_count - 1)) {
        const struct own_entry *entry = &state->entries[state->slots[slot] - 1];
        if (entry->key_len == key.len && memcmp(entry->key, key.ptr, key.len) == 0)
            break;
    }
    return slot;
}

struct own_entry *own_state_find(const struct own_state *state, struct span key)
{
    const size_t slot = state->slot_count > 0 ? slot_of(state, key) : 0;
    return state->slot_count > 0 && state->slots[slot] != 0 ? &state->entries[state->slots[slot] - 1] : NULL;
}

static void grow(struct own_state *state)
{
    const size_t capacity = state->capacity ? state->capacity * 2 : 32;
    struct own_entry *entries = allocate(capacity * sizeof *entries);

    if (state->count > 0)
        memcpy(entries, state->entries, state->count * sizeof *entries);
    free(state->entries);
    free(state->slots);
    state->entries = entries;
    state->capacity = capacity;
    state->slot_count = capacity * 2;
    state->slots = allocate(state->slot_count * sizeof *state->slots);
    memset(state->slots, 0, state->slot_count * sizeof *state->slots);
    for (size_t i = 0; i < state->count; i++)
        state->slots[slot_of(state, (struct span){entries[i].key, entries[i].key_len})] = i + 1;
}

void own_state_set(struct own_state *state, struct span key, struct span value)
{
    struct own_entry *entry = own_state_find(state, key);

    if (!entry) {
        if (state->count == state->capacity)
            grow(state);
        const size_t slot = slot_of(state, key);
        entry = &state->entries[state->count++];
        *entry = (struct own_entry){.key = allocate(key.len + 1), .key_len = key.len};
        memcpy(entry->key, key.ptr, key.len);
        entry->key[key.len] = '\0';
        state->slots[slot] = state->count;
    }
    text_clear(&entry->value);
    text_add(&entry->value, value.ptr, value.len);
}

void own_state_free(struct own_state *state)
{
    for (size_t i = 0; i < state->count; i++) {
        free(state->entries[i].key);
        text_free(&state->entries[i].value);
    }
    free(state->entries);
    free(state->slots);
    *state = (struct own_state){.count = 0};
}
