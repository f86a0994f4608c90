#include "formats/json/own_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"

bool is_shared_key(struct span key)
{
    static const char *const prefixes[] = {"app:", "user:", "temp:"};

    for (size_t i = 0; i < 3; i++)
        if (key.len >= strlen(prefixes[i]) && memcmp(key.ptr, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

static struct table_entry entry_like(const struct own_state *state, struct span key)
{
    return (struct table_entry){ses__hash_keyed(&state->seed, key), key};
}

struct own_entry *own_state_find(const struct own_state *state, struct span key)
{
    const struct table_entry like = entry_like(state, key);
    return (struct own_entry *)ses__table_find(&state->table, &like);
}

/* The keys come from a file that anybody may have written, so the hash has a seed, unless the system is out
 * of random numbers. */
static struct own_entry *add(struct own_state *state, struct span key)
{
    struct own_entry *entry = allocate(sizeof *entry + key.len + 1);
    ses_allocator allocator;

    ses__memory_default(&allocator);
    if (!state->first && !ses__random_bytes(&state->seed, sizeof state->seed))
        state->seed = (struct hash_seed){{0, 0}};
    if (!ses__table_reserve(&state->table, &allocator, 1))
        end_without_memory();
    memcpy(entry->key, key.ptr, key.len);
    entry->in_table = entry_like(state, (struct span){entry->key, key.len});
    (void)ses__table_put(&state->table, &entry->in_table); /* it replaces none */
    if (state->last)
        state->last->next = entry;
    else
        state->first = entry;
    state->last = entry;
    return entry;
}

void own_state_set(struct own_state *state, struct span key, struct span value)
{
    struct own_entry *entry = own_state_find(state, key);

    if (!entry)
        entry = add(state, key);
    text_clear(&entry->value);
    text_add(&entry->value, value.ptr, value.len);
}

void own_state_free(struct own_state *state)
{
    ses_allocator allocator;

    while (state->first) {
        struct own_entry *entry = state->first;
        state->first = entry->next;
        text_free(&entry->value);
        free(entry);
    }
    ses__memory_default(&allocator);
    ses__table_free(&state->table, &allocator);
    *state = (struct own_state){.first = NULL};
}
