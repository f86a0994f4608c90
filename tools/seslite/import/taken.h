/* The names that sessions of a file have got here, so that no two of them get the same. They are known by a hash of 64 bits. */
#ifndef IMPORT_TAKEN_H
#define IMPORT_TAKEN_H

#include "seslite.h"

#include <stdbool.h>

/* Zeroed: ready and empty. */
struct taken {
    uint64_t *slots; /* open addressing; 0: free */
    size_t count;
    size_t capacity;
};

/* False: it is there already. */
bool taken_add(struct taken *taken, const ses_key *key);
void taken_free(struct taken *taken);

#endif
