/* The names already used for sessions of a file, so that no two sessions get the same name. Only a 64-bit
 * hash of each is kept. */
#ifndef IMPORT_TAKEN_H
#define IMPORT_TAKEN_H

#include "seslite.h"

#include <stdbool.h>

/* Ready and empty when zeroed. */
struct taken {
    uint64_t *slots; /* open addressing; 0 is a free slot */
    size_t count;
    size_t capacity;
};

/* Fails with EXISTS if another session has the name and `renames` is false. */
int taken_claim(struct taken *taken, const ses_key *key, bool renames, ses_error *error);
void taken_free(struct taken *taken);

#endif
