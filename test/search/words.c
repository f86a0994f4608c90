/* Words of texts in many scripts, in the form in which they are compared. */
#include "model/words/words.h"

#include "support.h"

/* The words, with `|` before one that follows directly, and a space before one that does not. */
static void assert_words(const char *text, const char *expected)
{
    ses_allocator allocator;
    struct buffer out;
    struct words words;

    ses__memory_default(&allocator);
    ses__buffer_init(&out, &allocator);
    ses__words_begin(&words, &out);
    ses__words_add_text(&words, ses__span_of(text));
    ses__buffer_add(&out, "", 1);
    assert_false(out.failed);
    for (size_t i = 0; i < out.len; i++)
        if (out.data[i] == WORD_JOINED)
            out.data[i] = '|';
    assert_string_equal(out.len > 1 ? out.data + 1 : "", expected);
    ses__buffer_free(&out);
}

PLAIN_TEST(words_of_alphabets)
{
    assert_words("Hello, World!", "hello world");
    assert_words("don't  e-mail\nx_1 3.14", "don t e mail x 1 3 14");
    assert_words("", "");
    assert_words(" \t.,;:!?\"'()[]{}<>/\\|", "");
    assert_words("CAF\u00c9 caf\u00e9 cafe\u0301", "cafe cafe cafe");
    assert_words("\u00c5ngstr\u00f6m na\u00efve \u00d8re", "angstrom naive \u00f8re");
    assert_words("\u0395\u03bb\u03bb\u03ac\u03b4\u03b1 \u03c3\u03cc\u03c6\u03bf\u03c2",
                 "\u03b5\u03bb\u03bb\u03b1\u03b4\u03b1 \u03c3\u03bf\u03c6\u03bf\u03c3");
    assert_words("\u041c\u041e\u0421\u041a\u0412\u0410 \u0401\u0436",
                 "\u043c\u043e\u0441\u043a\u0432\u0430 \u0435\u0436");
    assert_words("co\u00adoperate zero\u200bwidth", "cooperate zerowidth");
    assert_words("\uff21\uff22\uff23\uff11\uff12", "abc12");
    assert_words("\u0939\u093f\u0928\u094d\u0926\u0940 \u092d\u093e\u0937\u093e",
                 "\u0939\u093f\u0928\u094d\u0926\u0940 \u092d\u093e\u0937\u093e");
    assert_words("\u05e9\u05c1\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
                 "\u05e9\u05c1\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627");
}

/* An index of words names owners with capitals, which therefore no word of a text may have. */
PLAIN_TEST(folded_is_folded_for_good)
{
    assert_words("\u0130STANBUL \u0130stanbul", "istanbul istanbul");
    for (uint32_t character = 0; character < 0x110000; character++) {
        const enum character_kind kind = ses__character_kind(character);
        if (kind != CHARACTER_WORD && kind != CHARACTER_ALONE)
            continue;
        const uint32_t folded = ses__character_folded(character);
        if (ses__character_folded(folded) != folded || ses__character_kind(folded) != kind)
            fail_msg("U+%04X is folded to U+%04X, which is not the end", (unsigned)character,
                     (unsigned)folded);
    }
}

PLAIN_TEST(words_of_scripts_without_spaces)
{
    assert_words("\u4e2d\u6587", "\u4e2d|\u6587");
    assert_words("\u4e2d\uff0c\u6587", "\u4e2d \u6587");
    assert_words("GPT4\u6a21\u578b", "gpt4|\u6a21|\u578b");
    assert_words("\u3053\u3093\u30ab\u30bf\uff76\uff85", "\u3053|\u3093|\u30ab|\u30bf|\u30ab|\u30ca");
    assert_words("\u0e44\u0e17\u0e22", "\u0e44|\u0e17|\u0e22");
    assert_words("\ud55c\uae00", "\ud55c|\uae00");
    assert_words("\U0001f389 party\U0001f389", "\U0001f389 party|\U0001f389");
}

PLAIN_TEST(letters_of_hangul_make_syllables)
{
    assert_words("\u1112\u1161\u11ab\u1100\u1173\u11af", "\ud55c|\uae00");
    assert_words("\uac00\u11a8", "\uac01");
    assert_words("\u1112 \u1161", "\u1112 \u1161");
}

PLAIN_TEST(marks_of_kana_make_letters)
{
    assert_words("\u304b\u3099\u3061\u3099\u3064\u3099\u3066\u3099\u3068\u3099",
                 "\u304c|\u3062|\u3065|\u3067|\u3069");
    assert_words("\u306f\u3099\u306f\u309a\u307b\u3099\u307b\u309a", "\u3070|\u3071|\u307c|\u307d");
    assert_words("\u30d5\u309a\u30ed\u30af\u3099", "\u30d7|\u30ed|\u30b0");
    assert_words("\u3046\u3099\u30a6\u3099\u309d\u3099\u30fd\u3099", "\u3094|\u30f4|\u309e|\u30fe");
    assert_words("\u30ef\u3099\u30f0\u3099\u30f1\u3099\u30f2\u3099", "\u30f7|\u30f8|\u30f9|\u30fa");
    assert_words("\u306a\u3099 \u304c\u3099 \u304b \u3099", "\u306a|\u3099 \u304c|\u3099 \u304b \u3099");
}

PLAIN_TEST(letters_of_half_width_are_the_usual_ones)
{
    assert_words("\uff83\uff9e\uff70\uff80", "\u30c7|\u30fc|\u30bf");
    assert_words("\uff8a\uff9f\uff9d \uff73\uff9e\uff68\uff9d", "\u30d1|\u30f3 \u30f4|\u30a3|\u30f3");
    assert_words("\uff66\uff67\uff6c\uff6f\uff61\uff65", "\u30f2|\u30a1|\u30e3|\u30c3");
    assert_words("\u30c6\uff9e\uff83\u3099", "\u30c7|\u30c7");
    assert_words("\uff71\uff9ea", "\u30a2|\u3099|a");
    assert_words("\u30a2\u3099a", "\u30a2|\u3099|a");
    assert_words("\uffa1\uffc2", "\u3131|\u314f");
}

PLAIN_TEST(invalid_utf8_separates_words)
{
    assert_words("a\xff"
                 "b\xc3",
                 "a b");
    assert_words("\xed\xa0\x80x", "x");
}
