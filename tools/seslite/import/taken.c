#include "import/taken.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "text.h"

enum { LEAST_SLOTS = 64 };

static uint64_t hash_key(const ses_key *key)
{
    const char *const names[] = {key->app, key->user, key->session};
    uint64_t hash = HASH64_BASIS;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        hash = ses__hash64(hash, names[i], strlen(names[i]) + 1);
    return hash ? hash : 1;
}

static uint64_t *find_slot(const struct taken *taken, uint64_t hash)
{
    size_t at = (size_t)hash & (taken->capacity - 1);

    while (taken->slots[at] && taken->slots[at] != hash)
        at = (at + 1) & (taken->capacity - 1);
    return &taken->slots[at];
}

static void grow(struct taken *taken)
{
    const struct taken old = *taken;

    taken->capacity = old.capacity ? old.capacity * 2 : LEAST_SLOTS;
    taken->slots = allocate(taken->capacity * sizeof *taken->slots);
    memset(taken->slots, 0, taken->capacity * sizeof *taken->slots);
    for (size_t i = 0; i < old.capacity; i++)
        if (old.slots[i])
            *find_slot(taken, old.slots[i]) = old.slots[i];
    free(old.slots);
}

static bool add(struct taken *taken, const ses_key *key)
{
    const uint64_t hash = hash_key(key);

    if (taken->count * 2 >= taken->capacity)
        grow(taken);
    uint64_t *slot = find_slot(taken, hash);
    if (*slot)
        return false;
    *slot = hash;
    taken->count++;
    return true;
}

int taken_claim(struct taken *taken, const ses_key *key, bool renames, ses_error *error)
{
    return add(taken, key) || renames
               ? SES_OK
               : ses__error_set(
                     error, SES_EXISTS,
                     "another session of the file gets the same name here; --rename gives it another");
}

void taken_free(struct taken *taken)
{
    free(taken->slots);
    *taken = (struct taken){.slots = NULL};
}
