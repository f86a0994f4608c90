/*
 * Words of a text, in the form in which they are compared: folded to small letters without accents. Scripts
 * that are written without spaces have a word for each character. A byte before each word says how it follows
 * the one before.
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

/* ---- the properties of Unicode characters that words need */

/* As tools/words.py numbers them. */
enum character_kind {
    CHARACTER_BREAK = 0,  /* separates words */
    CHARACTER_WORD = 1,   /* part of a word: a letter, a digit, a vowel sign */
    CHARACTER_ALONE = 2,  /* a word by itself, of a script that is written without spaces; or a symbol */
    CHARACTER_NOTHING = 3 /* as if it were not there: an accent, a soft hyphen */
};

SESLITE_PRIVATE enum character_kind ses__character_kind(uint32_t character);
/* Returns the small letter without accents, of the usual width. */
SESLITE_PRIVATE uint32_t ses__character_folded(uint32_t character);
/* Returns the Hangul syllable of two letters, or of a syllable and its last letter, or the kana of a letter
 * and the mark that makes it voiced; 0: they make none. */
SESLITE_PRIVATE uint32_t ses__character_composed(uint32_t first, uint32_t second);

/* ---- terms.c: the words that are searched for */

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
/* Returns how many of the terms the words have, or 0 if that does not suffice. `place` is where the first of
 * them was found, with its mark. */
SESLITE_PRIVATE size_t ses__terms_match(const struct terms *terms, const struct buffer *words, size_t *place);

#endif
