#include "model/words/characters.h"

#include "model/words/word_table.h"

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
uint32_t ses__hangul_composed(uint32_t first, uint32_t second)
{
    enum { L = 0x1100, V = 0x1161, T = 0x11a7, S = 0xac00, LS = 19, VS = 21, TS = 28 };

    if (first >= L && first < L + LS && second >= V && second < V + VS)
        return S + ((first - L) * VS + (second - V)) * TS;
    if (first >= S && first < S + LS * VS * TS && (first - S) % TS == 0 && second > T && second < T + TS)
        return first + (second - T);
    return 0;
}
