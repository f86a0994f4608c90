#include "model/words/words.h"

#include "base/utf8.h"
#include "model/words/word_table.h"

/* --------------------------------------------------------------------------------------------- characters */

/* Returns the kind of the last run that begins at the character or before it. */
static enum character_kind kind_in_runs(uint32_t character)
{
    size_t low = 0;
    size_t high = sizeof word_runs / sizeof word_runs[0];

    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (word_runs[middle] >> 2 <= character)
            low = middle;
        else
            high = middle;
    }
    return word_runs[low] & 3;
}

enum character_kind ses__character_kind(uint32_t character)
{
    if (character >= 0x80)
        return kind_in_runs(character);
    if ((character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
        (character >= '0' && character <= '9'))
        return CHARACTER_WORD;
    return CHARACTER_BREAK;
}

static uint32_t folded_in_runs(uint32_t character)
{
    size_t low = 0;
    size_t high = sizeof word_folds / sizeof word_folds[0];

    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (word_folds[middle].first <= character)
            low = middle;
        else
            high = middle;
    }
    const struct word_fold *fold = &word_folds[low];
    if (character < fold->first || character > fold->last ||
        (character - fold->first) % (uint32_t)fold->step != 0)
        return character;
    return (uint32_t)((int32_t)character + fold->distance);
}

uint32_t ses__character_folded(uint32_t character)
{
    if (character >= 0x80)
        return folded_in_runs(character);
    return character >= 'A' && character <= 'Z' ? character - 'A' + 'a' : character;
}

/* https://www.unicode.org/versions/Unicode14.0.0/ch03.pdf, section 3.12. */
static uint32_t hangul_composed(uint32_t first, uint32_t second)
{
    enum { L = 0x1100, V = 0x1161, T = 0x11a7, S = 0xac00, LS = 19, VS = 21, TS = 28 };

    if (first >= L && first < L + LS && second >= V && second < V + VS)
        return S + ((first - L) * VS + (second - V)) * TS;
    if (first >= S && first < S + LS * VS * TS && (first - S) % TS == 0 && second > T && second < T + TS)
        return first + (second - T);
    return 0;
}

/* Katakana come in the order of Hiragana, each with its letters that have a mark after the one without. */
static uint32_t kana_composed(uint32_t first, uint32_t mark)
{
    enum { VOICED = 0x3099, SEMI_VOICED = 0x309a, KATAKANA = 0x60 };
    enum { U = 0x3046, KA = 0x304b, TI = 0x3061, TU = 0x3064, TO = 0x3068, HA = 0x306f, HO = 0x307b };
    enum { ITERATION = 0x309d, KATAKANA_WA = 0x30ef, KATAKANA_WO = 0x30f2 };
    const uint32_t letter = first >= U + KATAKANA ? first - KATAKANA : first;
    const bool is_of_ha = letter >= HA && letter <= HO && (letter - HA) % 3 == 0;

    if (mark == SEMI_VOICED)
        return is_of_ha ? first + 2 : 0;
    if (mark != VOICED)
        return 0;
    if (is_of_ha || letter == ITERATION || (letter >= KA && letter <= TI && (letter - KA) % 2 == 0) ||
        (letter >= TU && letter <= TO && (letter - TU) % 2 == 0))
        return first + 1;
    if (letter == U)
        return first + (0x3094 - U);
    return first >= KATAKANA_WA && first <= KATAKANA_WO ? first + 8 : 0;
}

uint32_t ses__character_composed(uint32_t first, uint32_t second)
{
    const uint32_t hangul = hangul_composed(first, second);
    return hangul ? hangul : kana_composed(first, second);
}

/* -------------------------------------------------------------------------------------------------- words */

void ses__words_begin(struct words *words, struct buffer *out)
{
    *words = (struct words){.out = out, .mark = WORD_OF_NEXT};
}

void ses__words_next_text(struct words *words)
{
    *words = (struct words){.out = words->out, .mark = WORD_OF_NEXT};
}

static void add_utf8(struct words *words, uint32_t character)
{
    char bytes[4];
    ses__buffer_add(words->out, bytes, ses__utf8_encode(character, bytes));
}

/* Letters of Hangul that are spelled one by one are the same as the syllable, and so are a kana and its
 * mark. */
static bool completes_syllable(struct words *words, uint32_t character)
{
    const uint32_t whole = words->syllable == 0 ? 0 : ses__character_composed(words->syllable, character);

    if (whole == 0)
        return false;
    ses__buffer_take_back(words->out, words->syllable_place);
    add_utf8(words, whole);
    words->syllable = whole;
    return true;
}

void ses__words_add(struct words *words, uint32_t character)
{
    const enum character_kind kind = ses__character_kind(character);

    if (kind == CHARACTER_NOTHING)
        return;
    if (kind == CHARACTER_BREAK) {
        if (words->mark == WORD_JOINED)
            words->mark = WORD_APART;
        words->is_open = false;
        words->syllable = 0;
        return;
    }
    const uint32_t folded = ses__character_folded(character);
    if (completes_syllable(words, folded))
        return;
    if (kind == CHARACTER_ALONE || !words->is_open) {
        ses__buffer_add(words->out, &words->mark, 1);
        words->mark = WORD_JOINED;
    }
    words->is_open = kind == CHARACTER_WORD;
    words->syllable = kind == CHARACTER_ALONE ? folded : 0;
    words->syllable_place = words->out->len;
    add_utf8(words, folded);
}

void ses__words_add_text(struct words *words, struct span text)
{
    const char *const end = text.ptr + text.len;

    for (const char *at = text.ptr; at < end;) {
        const size_t len = ses__utf8_character(at, end);
        ses__words_add(words, len > 0 ? ses__utf8_decode(at, len) : ' ');
        at += len > 0 ? len : 1;
    }
}
