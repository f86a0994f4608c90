/* Finds the text nearest to one that may be mistyped. */
#ifndef TEXT_NEAREST_H
#define TEXT_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

struct nearest {
    const char *wanted;
    size_t distance; /* of the best so far */
    char *best;      /* a copy; NULL if nothing is near enough */
};

void nearest_begin(struct nearest *nearest, const char *wanted);
void nearest_try(struct nearest *nearest, const char *text);
void nearest_free(struct nearest *nearest);

#endif
