/* The words that are searched for. */
#ifndef SESLITE_MODEL_WORDS_TERMS_H
#define SESLITE_MODEL_WORDS_TERMS_H

#include "base/memory.h"

enum { TERMS_MAX = 100, TERMS_MAX_BYTES = 64 * 1024 };

/* Each term is a word, or several that follow each other as in what was asked for. */
struct terms {
    struct buffer words;
    struct span items[TERMS_MAX]; /* in the form of words.h, without the first mark */
    size_t count;
    bool any; /* one of them suffices */
};

/* `flags` are those of a search. INVALID: there is no word in the text; LIMIT: it is too long. Free them in
 * any case. */
SESLITE_PRIVATE int ses__terms_take(struct terms *terms, struct span text, unsigned flags,
                                    const ses_allocator *allocator, ses_error *error);
SESLITE_PRIVATE void ses__terms_free(struct terms *terms);
/* `place` is where the first of the terms was found, with its mark. */
SESLITE_PRIVATE bool ses__terms_match(const struct terms *terms, const struct buffer *words, size_t *place);

#endif
