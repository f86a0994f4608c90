/* A text is cut between characters. */
#include "support.h"

static void assert_cut(const char *text, size_t len, size_t limit, size_t expected, int expected_cut)
{
    int was_cut = 7;

    assert_int_equal(ses_text_cut(text, len, limit, &was_cut), expected);
    assert_int_equal(was_cut, expected_cut);
    assert_int_equal(ses_text_cut(text, len, limit, NULL), expected);
}

PLAIN_TEST(characters_stay_whole)
{
    static const char text[] = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80."; /* of 1, 2, 3, 4 and 1 bytes */
    static const size_t kept[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};

    for (size_t limit = 0; limit < sizeof kept / sizeof kept[0]; limit++) {
        assert_cut(text, SES_NUL, limit, kept[limit], kept[limit] < 11);
        assert_cut(text, 11, limit, kept[limit], kept[limit] < 11);
    }
    assert_cut(text, SES_NUL, SIZE_MAX, 11, 0);
    assert_cut(text, 6, 100, 6, 0);
    assert_cut("", SES_NUL, 0, 0, 0);
    assert_cut("", 0, 5, 0, 0);
}

PLAIN_TEST(a_text_ends_before_bytes_that_are_not_utf8)
{
    assert_cut("ab\xff\x63", SES_NUL, 100, 2, 1);
    assert_cut("ab\xc3", SES_NUL, 100, 2, 1);
    assert_cut("\xed\xa0\x80", SES_NUL, 100, 0, 1); /* a surrogate */
    assert_cut("a\0b", 3, 3, 3, 0);                 /* a NUL is a character */
}
