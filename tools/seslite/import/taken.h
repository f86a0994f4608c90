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

/* EXISTS: another session has got it, and neither is to be renamed. */
int taken_claim(struct taken *taken, const ses_key *key, bool renames, ses_error *error);
void taken_free(struct taken *taken);

#endif
