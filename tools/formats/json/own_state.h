/* The own state of a session that its events lead to, key by key. */
#ifndef FORMATS_JSON_OWN_STATE_H
#define FORMATS_JSON_OWN_STATE_H

#include "base/hash.h"
#include "base/table.h"
#include "formats/text.h"

struct own_entry {
    struct table_entry in_table; /* has the key */
    struct own_entry *next;      /* in the order of the first writes */
    struct text value;           /* the last one written */
    bool met;                    /* found in the final state */
    char key[];
};

/* Ready and empty when zeroed. */
struct own_state {
    struct hash_table table;
    struct hash_seed seed;
    struct own_entry *first;
    struct own_entry *last;
};

/* The entry of the key, or NULL if no event wrote it. */
struct own_entry *own_state_find(const struct own_state *state, struct span key);
void own_state_set(struct own_state *state, struct span key, struct span value);
void own_state_free(struct own_state *state);

/* True if the key begins with app:, user: or temp:. */
bool is_shared_key(struct span key);

#endif
