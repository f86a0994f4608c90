/*
 * Words of a text, in the form in which they are compared: folded to small letters without accents. Scripts that are
 * written without spaces have a word for each character. A byte before each word says how it follows the one before.
 */
#ifndef SESLITE_MODEL_WORDS_WORDS_H
#define SESLITE_MODEL_WORDS_WORDS_H

#include "base/memory.h"

/* None of these is part of a word. */
enum {
    WORD_APART = ' ',    /* there is something between the two */
    WORD_JOINED = 0x1f,  /* nothing does */
    WORD_OF_NEXT = 0x1e, /* the first word of a text */
    WORD_MARKS_BELOW = ' ' + 1
};

struct words {
    struct buffer *out;
    char mark;             /* before the next word */
    bool is_open;          /* another letter continues the word */
    uint32_t syllable;     /* Hangul or kana that the next character may complete, or 0 ... */
    size_t syllable_place; /* ... and where it is */
};

SESLITE_PRIVATE void ses__words_begin(struct words *words, struct buffer *out);
/* Begins another text. */
SESLITE_PRIVATE void ses__words_next_text(struct words *words);
SESLITE_PRIVATE void ses__words_add(struct words *words, uint32_t character);
/* Adds plain text. A byte that is not UTF-8 separates words. */
SESLITE_PRIVATE void ses__words_add_text(struct words *words, struct span text);

#endif
