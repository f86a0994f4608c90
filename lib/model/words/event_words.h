/* The texts of an event that a search looks into, and their words. */
#ifndef SESLITE_MODEL_WORDS_EVENT_WORDS_H
#define SESLITE_MODEL_WORDS_EVENT_WORDS_H

#include "model/words/words.h"

/* Replaces `out` by the words of the event. */
SESLITE_PRIVATE void ses__event_words(struct span body, struct buffer *out);

/* A piece of one of the texts. */
struct snippet {
    struct span text; /* in the buffer */
    size_t found;     /* where the words begin that are looked for */
};

/* Finds the text to which the words at this place belong, and up to `most` bytes of it around them, as plain
 * text in `out`. */
SESLITE_PRIVATE void ses__event_snippet(struct span body, size_t place, size_t most, struct buffer *words,
                                        struct buffer *out, struct snippet *snippet);

#endif
