#include "model/words/words.h"

#include "base/utf8.h"
#include "model/words/characters.h"

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

static void begin_word(struct words *words)
{
    ses__buffer_add(words->out, &words->mark, 1);
    words->mark = WORD_JOINED;
}

/* Letters of Hangul that are spelled one by one are the same as the syllable, and so are a kana and its mark. */
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
    if (kind == CHARACTER_ALONE || !words->is_open)
        begin_word(words);
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
