/* The own state of a session that its events lead to, key by key. */
#ifndef FOREIGN_JSON_OWN_STATE_H
#define FOREIGN_JSON_OWN_STATE_H

#include "base/common.h"
#include "text/text.h"

struct own_entry {
    char *key;
    size_t key_len;
    struct text value; /* the last one written */
    bool met;          /* found in the final state */
};

/* Ready and empty when zeroed. */
struct own_state {
    struct own_entry *entries;
    size_t count;
    size_t capacity;
    size_t *slots; /* 1 + the index of an entry; 0 is free */
    size_t slot_count;
};

/* The entry of the key, or NULL if no event wrote it. */
struct own_entry *own_state_find(const struct own_state *state, struct span key);
void own_state_set(struct own_state *state, struct span key, struct span value);
void own_state_free(struct own_state *state);

/* True if the key begins with app:, user: or temp:. */
bool is_shared_key(struct span key);

#endif
