/* The properties of Unicode characters that words need. */
#ifndef SESLITE_MODEL_WORDS_CHARACTERS_H
#define SESLITE_MODEL_WORDS_CHARACTERS_H

#include "base/common.h"

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
/* Returns the Hangul syllable of two letters, or of a syllable and its last letter, or the kana of a letter and the mark
 * that makes it voiced; 0: they make none. */
SESLITE_PRIVATE uint32_t ses__character_composed(uint32_t first, uint32_t second);

#endif
