/* Written values are read back as the same: strings, members, doubles. */
#include "json/writer.h"

#include <locale.h>
#include <math.h>

#include "json/decimal.h"
#include "json/reader.h"
#include "random.h"

/* ------------------------------------------------------------------------------------------- strings */

PLAIN_TEST(strings_are_escaped_where_they_must_be)
{
    static const struct {
        struct span text;
        const char *json;
    } cases[] = {
        {{"", 0}, "\"\""},
        {{"plain / text", 12}, "\"plain / text\""},
        {{"\"\\", 2}, "\"\\\"\\\\\""},
        {{"\b\f\n\r\t", 5}, "\"\\b\\f\\n\\r\\t\""},
        {{"\0\x01\x1F\x7F", 4}, "\"\\u0000\\u0001\\u001f\x7F\""},
        {{"\xC3\xA9\xF0\x9F\x98\x80", 6}, "\"\xC3\xA9\xF0\x9F\x98\x80\""},
    };
    char out[64];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t len = ses__json_write_string(out, cases[i].text.ptr, cases[i].text.len);
        assert_int_equal(len, strlen(cases[i].json));
        assert_memory_equal(out, cases[i].json, len);
    }
}

PLAIN_TEST(random_strings_are_read_back)
{
    enum { ROUNDS = 20000, MOST = 40 };
    uint64_t seed = 2;
    ses_allocator allocator;

    ses__memory_default(&allocator);
    for (int round = 0; round < ROUNDS; round++) {
        char text[MOST * 4];
        char back[MOST * 6 + 2];
        size_t len = random_text(&seed, text, MOST);
        size_t back_len = 0;
        struct buffer json;
        ses__buffer_init(&json, &allocator);
        ses__json_add_string(&json, text, len);
        assert_int_equal(json.len, ses__json_write_string(NULL, text, len));
        assert_int_equal(ses__json_check(json.data, json.len, NULL), SES_OK);
        assert_true(
            ses__json_unescape(ses__json_string_of((struct span){json.data, json.len}), back, &back_len));
        assert_int_equal(back_len, len);
        assert_memory_equal(back, text, len);
        ses__buffer_free(&json);
    }
}

PLAIN_TEST(members_have_commas_between_them)
{
    ses_allocator allocator;
    struct buffer json;

    ses__memory_default(&allocator);
    ses__buffer_init(&json, &allocator);
    ses__buffer_add(&json, "{", 1);
    ses__json_add_member(&json, 1, (struct span){"a\"", 2}, (struct span){"1", 1});
    ses__json_add_member(&json, 1, (struct span){"", 0}, (struct span){"[]", 2});
    ses__json_add_named(&json, ",\"id\":", (struct span){"x", 1});
    ses__buffer_add(&json, "}", 1);
    assert_false(json.failed);
    assert_string_equal(json.data, Q("{'a\\'':1,'':[],'id':'x'}"));
    ses__buffer_free(&json);
}

/* ------------------------------------------------------------------------------------------- doubles */

static void assert_written(double number, const char *expected)
{
    char text[DOUBLE_ROOM];

    size_t len = ses__double_write(number, text);

    assert_string_equal(text, expected);
    assert_int_equal(len, strlen(expected));
}

static void assert_doubles(void)
{
    assert_written(0.0, "0");
    assert_written(-0.0, "-0.0");
    assert_written(1.0, "1");
    assert_written(-42.0, "-42");
    assert_written(0.1, "0.1");
    assert_written(1.5, "1.5");
    assert_written(1.0 / 3, "0.3333333333333333");
    assert_written(0.30000000000000004, "0.30000000000000004");
    assert_written(9007199254740991.0, "9007199254740991");
    assert_written(1e22, "1e+22");
    assert_written(1e100, "1e+100");
    assert_written(1.7976931348623157e308, "1.7976931348623157e+308");
    assert_written(2.2250738585072014e-308, "2.2250738585072014e-308");
    assert_written(5e-324, "5e-324");
}

/* Fewer digits would be another number. */
static bool is_shortest(double number, const char *text)
{
    char shorter[400];
    int digits = 0;

    for (const char *p = text; *p && *p != 'e'; p++)
        digits += *p >= '0' && *p <= '9' && !(digits == 0 && *p == '0');
    if (digits <= 1)
        return true;
    snprintf(shorter, sizeof shorter, "%.*g", digits - 1, number);
    return strtod(shorter, NULL) != number;
}

PLAIN_TEST(doubles_are_written_with_the_fewest_digits)
{
    enum { ROUNDS = 50000 };
    uint64_t seed = 3;

    assert_doubles();
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t bits = random_next(&seed);
        char text[DOUBLE_ROOM];
        double number;
        double back = 0;
        bool nomem = false;
        if (round % 2) /* near everyday numbers, and the smallest */
            bits =
                (bits & UINT64_C(0x800FFFFFFFFFFFFF)) | (round % 4 == 1 ? UINT64_C(0x3FF0000000000000) : 0);
        memcpy(&number, &bits, sizeof number);
        if (!isfinite(number))
            continue;
        size_t len = ses__double_write(number, text);
        assert_in_range(len, 1, 24);
        assert_int_equal(ses__json_check(text, len, NULL), SES_OK);
        assert_true(ses__decimal_to_double((struct span){text, len}, &back, &nomem));
        assert_memory_equal(&back, &number, sizeof number);
        if (number != floor(number)) /* integers are written out */
            assert_true(is_shortest(number, text));
    }
}

PLAIN_TEST(doubles_do_not_depend_on_the_locale)
{
    double number = 0;
    bool nomem = false;

    if (!support_comma_locale())
        return;
    assert_doubles();
    assert_true(ses__decimal_to_double((struct span){"1.5", 3}, &number, &nomem));
    assert_true(number == 1.5);
    assert_string_equal(localeconv()->decimal_point, ",");
    setlocale(LC_ALL, "C");
}

/* ------------------------------------------------------------------------------------------- decimals */

static void assert_decimal(const char *number, int shift, enum decimal_result result, int64_t truncated,
                           int64_t rounded)
{
    const struct span span = {number, strlen(number)};
    int64_t value = 77;
    bool half = false;

    assert_int_equal(ses__decimal_truncate(span, shift, &value, &half), result);
    assert_int_equal(value, truncated);
    value = 77;
    assert_int_equal(ses__decimal_round(span, shift, &value), result);
    assert_int_equal(value, rounded);
}

PLAIN_TEST(decimals_are_exact)
{
    assert_decimal("0", 0, DECIMAL_EXACT, 0, 0);
    assert_decimal("-0.0e99999999999999999999", 6, DECIMAL_EXACT, 0, 0);
    assert_decimal("4.2e1", 0, DECIMAL_EXACT, 42, 42);
    assert_decimal("4200e-2", 0, DECIMAL_EXACT, 42, 42);
    assert_decimal("1.5", 0, DECIMAL_INEXACT, 1, 2);
    assert_decimal("-1.5", 0, DECIMAL_INEXACT, -1, -2);
    assert_decimal("1.49999999999999999999999999", 0, DECIMAL_INEXACT, 1, 1);
    assert_decimal("0.0000005", 6, DECIMAL_INEXACT, 0, 1);
    assert_decimal("1e-99999999999999999999", 0, DECIMAL_INEXACT, 0, 0);
    assert_decimal("1741218414.968405", 6, DECIMAL_EXACT, 1741218414968405, 1741218414968405);
    assert_decimal("9223372036854775807", 0, DECIMAL_EXACT, INT64_MAX, INT64_MAX);
    assert_decimal("-9223372036854775808", 0, DECIMAL_EXACT, INT64_MIN, INT64_MIN);
    assert_decimal("9223372036854775808", 0, DECIMAL_TOO_LARGE, 77, 77);
    assert_decimal("-9223372036854775809", 0, DECIMAL_TOO_LARGE, 77, 77);
    assert_decimal("1e19", 0, DECIMAL_TOO_LARGE, 77, 77);
    assert_decimal("1e99999999999999999999", 0, DECIMAL_TOO_LARGE, 77, 77);
}

PLAIN_TEST(random_integers_are_exact_however_they_are_written)
{
    enum { ROUNDS = 20000 };
    uint64_t seed = 4;

    for (int round = 0; round < ROUNDS; round++) {
        int64_t number = (int64_t)(random_next(&seed) >> random_below(&seed, 64));
        int places = (int)random_below(&seed, 30);
        char text[64];
        char digits[32];
        if (round % 2)
            number = number == INT64_MIN ? 0 : -number;
        snprintf(digits, sizeof digits, "%lld", (long long)(number < 0 ? -number : number));
        /* A point after the first digit, and zeros at the end. */
        snprintf(text, sizeof text, "%s%c.%s0e%d", number < 0 ? "-" : "", digits[0], digits + 1,
                 (int)strlen(digits) - 1 - places);
        assert_decimal(text, places, DECIMAL_EXACT, number, number);
    }
}
