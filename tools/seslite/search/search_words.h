/* seslite search --words */
#ifndef SEARCH_SEARCH_WORDS_H
#define SEARCH_SEARCH_WORDS_H

#include "search/found.h"

/* Returns EXIT_OK, or STOP when as many are found as were asked for. */
int search_words(struct run *run, struct found *found);

#endif
