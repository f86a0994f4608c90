/* The reader alone: what it accepts, where it refuses, and what it hands out. */
#include "json/reader.h"

#include "random.h"
#include "texts.h"

/* A copy that ends where its memory ends, so that a sanitizer sees what reads on. */
static char *exact(const char *text, size_t len)
{
    char *copy = malloc(len ? len : 1);

    assert_non_null(copy);
    memcpy(copy, text, len);
    return copy;
}

static void assert_refused(const char *text, size_t len, int64_t offset)
{
    char *copy = exact(text, len);
    ses_error error;
    int code = ses__json_check(copy, len, &error);

    if (code != SES_JSON || error.offset != offset)
        print_error("%.*s\n    %s at %lld, not at %lld\n", (int)len, text, ses_code_name(code),
                    (long long)error.offset, (long long)offset);
    assert_int_equal(code, SES_JSON);
    assert_int_equal(error.offset, offset);
    assert_message("at byte ");
    free(copy);
}

PLAIN_TEST(wrong_texts_are_refused_where_they_are_wrong)
{
    for (size_t i = 0; i < TEXT_COUNT; i++)
        assert_refused(refused_texts[i].text, refused_texts[i].len, refused_texts[i].offset);
    for (size_t i = 0; i < VALUE_COUNT; i++)
        assert_refused(refused_values[i].text, refused_values[i].len, refused_values[i].offset);
}

/* An empty value of another program's database has no address. */
PLAIN_TEST(a_text_without_address_is_refused)
{
    assert_int_equal(ses__json_check(NULL, 0, &error), SES_JSON);
    assert_int_equal(error.offset, 0);
}

PLAIN_TEST(texts_that_the_grammar_allows_are_accepted)
{
    for (size_t i = 0; i < ACCEPTED_COUNT; i++) {
        size_t len = strlen(accepted_values[i]);
        char *copy = exact(accepted_values[i], len);
        assert_ok(ses__json_check(copy, len, &error));
        free(copy);
    }
}

/* A text that breaks off is read up to there, and no further. */
PLAIN_TEST(texts_that_break_off)
{
    static const char whole[] = "{\"a\":[1,true,null,\"\\u00e9\xC3\xA9\",{\"b\":{}}],\"c\":\"\\\"\"}";

    for (size_t len = 0; len < sizeof whole - 1; len++) {
        char *copy = exact(whole, len);
        assert_code(SES_JSON, ses__json_check(copy, len, &error));
        assert_in_range(error.offset, 0, len);
        free(copy);
    }
}

/* ---------------------------------------------------------------------------------- another reader */

/* The grammar of RFC 8259, as it stands there: NULL, or what follows the value. */
static const char *plain_value(const char *p, const char *end);

static const char *plain_space(const char *p, const char *end)
{
    while (p < end && strchr(" \t\r\n", *p) && *p)
        p++;
    return p;
}

static const char *plain_word(const char *p, const char *end, const char *word)
{
    size_t len = strlen(word);
    return (size_t)(end - p) >= len && memcmp(p, word, len) == 0 ? p + len : NULL;
}

static const char *plain_digits(const char *p, const char *end)
{
    const char *start = p;
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return p > start ? p : NULL;
}

static const char *plain_number(const char *p, const char *end)
{
    p += p < end && *p == '-';
    if (p < end && *p == '0')
        p++;
    else
        p = plain_digits(p, end);
    if (p && p < end && *p == '.')
        p = plain_digits(p + 1, end);
    if (p && p < end && (*p == 'e' || *p == 'E')) {
        p++;
        p += p < end && (*p == '+' || *p == '-');
        p = plain_digits(p, end);
    }
    return p;
}

static const char *plain_string(const char *p, const char *end)
{
    for (p++; p < end && *p != '"';) {
        size_t len = ses__utf8_character(p, end);
        if (len == 0 || (unsigned char)*p < 0x20)
            return NULL;
        if (*p == '\\' && end - p >= 2 && p[1] == 'u')
            len = end - p >= 6 && strspn(p + 2, "0123456789abcdefABCDEF") >= 4 ? 6 : 0;
        else if (*p == '\\')
            len = end - p >= 2 && p[1] && strchr("\"\\/bfnrt", p[1]) ? 2 : 0;
        if (len == 0)
            return NULL;
        p += len;
    }
    return p < end ? p + 1 : NULL;
}

static const char *plain_member(const char *p, const char *end, bool object)
{
    if (object) {
        p = plain_space(p, end);
        p = p < end && *p == '"' ? plain_string(p, end) : NULL;
        p = p ? plain_space(p, end) : NULL;
        p = p && p < end && *p == ':' ? p + 1 : NULL;
    }
    return p ? plain_value(p, end) : NULL;
}

static const char *plain_container(const char *p, const char *end, bool object)
{
    char closing = object ? '}' : ']';
    const char *first = plain_space(p + 1, end);

    if (first < end && *first == closing)
        return first + 1;
    do {
        p = plain_member(p + 1, end, object);
    } while (p && p < end && *p == ',');
    return p && p < end && *p == closing ? p + 1 : NULL;
}

/* With the white space around it. */
static const char *plain_value(const char *p, const char *end)
{
    p = plain_space(p, end);
    if (p == end)
        return NULL;
    p = *p == '{' || *p == '[' ? plain_container(p, end, *p == '{')
        : *p == '"'            ? plain_string(p, end)
        : *p == 't'            ? plain_word(p, end, "true")
        : *p == 'f'            ? plain_word(p, end, "false")
        : *p == 'n'            ? plain_word(p, end, "null")
                               : plain_number(p, end);
    return p ? plain_space(p, end) : NULL;
}

/* Random values, and the same with some bytes changed, taken out or put in: both readers say the same. */
PLAIN_TEST(random_texts_are_judged_as_the_grammar_does)
{
    static const char bytes[] = "{}[]:,\"\\ \n0123456789.-+eEtrufalsn/b\xC3\xA9\x01";
    uint64_t seed = 1;
    size_t accepted = 0;
    enum { ROUNDS = 20000 };

    for (int round = 0; round < ROUNDS; round++) {
        size_t len = 0;
        char *text = random_json_text(&seed, &len);
        for (size_t changes = random_below(&seed, 3); changes > 0 && len > 0; changes--) {
            size_t at = random_below(&seed, len);
            if (random_below(&seed, 3) == 0)
                memmove(text + at, text + at + 1, len-- - at);
            else
                text[at] = bytes[random_below(&seed, sizeof bytes - 1)];
        }
        bool right = plain_value(text, text + len) == text + len;
        char *copy = exact(text, len);
        int code = ses__json_check(copy, len, NULL);
        if ((code == SES_OK) != right)
            print_error("%.*s\n    %s\n", (int)len, text, ses_code_name(code));
        assert_int_equal(code, right ? SES_OK : SES_JSON);
        accepted += right;
        free(copy);
        free(text);
    }
    assert_in_range(accepted, ROUNDS / 4, ROUNDS * 3 / 4); /* there are enough of either kind */
}

/* --------------------------------------------------------------------------------------------- depth */

PLAIN_TEST(a_thousand_levels_and_no_more)
{
    enum { LEVELS = JSON_MAX_DEPTH + 1 };
    char text[2 * LEVELS];
    struct span value;

    memset(text, '[', LEVELS);
    memset(text + LEVELS, ']', LEVELS);
    assert_ok(ses__json_check(text + 1, 2 * JSON_MAX_DEPTH, &error));
    assert_code(SES_LIMIT, ses__json_check(text, 2 * LEVELS, &error));
    assert_int_equal(error.offset, JSON_MAX_DEPTH);
    assert_ok(ses__json_check_within(text + 4, 2 * (LEVELS - 4), 3, &value, &error));
    assert_code(SES_LIMIT, ses__json_check_within(text + 3, 2 * (LEVELS - 3), 3, &value, &error));
    assert_int_equal(error.offset, JSON_MAX_DEPTH - 3);
    assert_message("with the 3 levels around it");
}

/* ------------------------------------------------------------------------------------------- strings */

static struct json_string read_string(const char *text)
{
    struct json_reader reader;
    struct json_string string;

    ses__json_start(&reader, text, strlen(text));
    assert_int_equal(ses__json_peek(&reader), JSON_STRING);
    assert_true(ses__json_read_string(&reader, &string));
    assert_true(ses__json_finish(&reader));
    return string;
}

static const struct {
    const char *json;
    const char *text;
    size_t len;
} strings[] = {
    {"\"\"", TEXT("")},
    {"\"plain\"", TEXT("plain")},
    {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", TEXT("\"\\/\b\f\n\r\t")},
    {"\"a\\u0000b\"", TEXT("a\0b")},
    {"\"\\u0041\\u00e9\\u20AC\"", TEXT("A\xC3\xA9\xE2\x82\xAC")},
    {"\"\\uD83D\\uDE00\"", TEXT("\xF0\x9F\x98\x80")},
    {"\"\\uDBFF\\uDFFF\"", TEXT("\xF4\x8F\xBF\xBF")},
    {"\"\\uFFFF\\uE000\\uD7FF\"", TEXT("\xEF\xBF\xBF\xEE\x80\x80\xED\x9F\xBF")},
    {"\"\xF0\x9F\x98\x80\\\\\"", TEXT("\xF0\x9F\x98\x80\\")},
};

PLAIN_TEST(strings_are_unescaped)
{
    ses_allocator allocator;
    struct arena arena;
    struct buffer buffer;

    ses__memory_default(&allocator);
    ses__arena_init(&arena, &allocator);
    ses__buffer_init(&buffer, &allocator);
    for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++) {
        struct json_string string = read_string(strings[i].json);
        char out[64];
        struct span text;
        size_t len = 0;
        size_t before = buffer.len;
        assert_int_equal(string.escaped, strchr(strings[i].json, '\\') != NULL);
        assert_true(ses__json_unescape(string, out, &len));
        assert_int_equal(len, strings[i].len);
        assert_memory_equal(out, strings[i].text, len);
        assert_int_equal(ses__json_decode(string, &arena, &text), SES_OK);
        assert_int_equal(text.len, len);
        assert_memory_equal(text.ptr, strings[i].text, len);
        assert_true(ses__json_add_text(&buffer, string));
        assert_int_equal(buffer.len - before, len);
        assert_memory_equal(buffer.data + before, strings[i].text, len);
        if (strlen(strings[i].text) == len)
            assert_true(ses__json_string_is(string, strings[i].text));
        assert_false(ses__json_string_is(string, "plain and more"));
    }
    ses__buffer_free(&buffer);
    ses__arena_free(&arena);
}

PLAIN_TEST(lone_surrogates_have_no_text)
{
    static const char *const lone[] = {"\"\\uD800\"",        "\"\\uDFFF\"",        "\"a\\uDBFFb\"",
                                       "\"\\uD800\\uD800\"", "\"\\uDC00\\uD800\"", "\"\\uD83D\\n\"",
                                       "\"\\uD83D\\u0041\"", "\"\\uD83Du0041\""};
    ses_allocator allocator;
    struct arena arena;
    struct buffer buffer;

    ses__memory_default(&allocator);
    ses__arena_init(&arena, &allocator);
    ses__buffer_init(&buffer, &allocator);
    ses__buffer_add_word(&buffer, "before");
    for (size_t i = 0; i < sizeof lone / sizeof lone[0]; i++) {
        struct json_string string = read_string(lone[i]);
        struct span text;
        char out[64];
        size_t len = 0;
        assert_false(ses__json_unescape(string, out, &len));
        assert_int_equal(ses__json_decode(string, &arena, &text), SES_RANGE);
        assert_false(ses__json_add_text(&buffer, string));
        assert_string_equal(buffer.data, "before");
        assert_false(ses__json_string_is(string, "a"));
    }
    ses__buffer_free(&buffer);
    ses__arena_free(&arena);
}

/* ------------------------------------------------------------------------------------------- walking */

PLAIN_TEST(an_object_is_walked_member_by_member)
{
    static const char text[] = " { \"a\" : 1 , \"b\" : [ true , \"x\" , { } ] , \"\" : null } ";
    static const char *const names[] = {"a", "b", ""};
    static const enum json_type types[] = {JSON_NUMBER, JSON_ARRAY, JSON_NULL};
    static const char *const elements[] = {"true", "\"x\"", "{ }"};
    struct json_reader reader;
    struct json_string key;
    struct span value;
    size_t member = 0;

    ses__json_start(&reader, text, sizeof text - 1);
    assert_int_equal(ses__json_peek(&reader), JSON_OBJECT);
    assert_true(ses__json_enter(&reader));
    for (; ses__json_member(&reader, &key); member++) {
        assert_true(ses__json_string_is(key, names[member]));
        assert_int_equal(ses__json_peek(&reader), types[member]);
        if (types[member] != JSON_ARRAY) {
            assert_true(ses__json_skip(&reader, NULL));
            continue;
        }
        assert_true(ses__json_enter(&reader));
        for (size_t i = 0; ses__json_element(&reader); i++) {
            assert_true(ses__json_skip(&reader, &value));
            assert_int_equal(value.len, strlen(elements[i]));
            assert_memory_equal(value.ptr, elements[i], value.len);
        }
    }
    assert_int_equal(member, 3);
    assert_null(reader.wrong);
    assert_int_equal(reader.depth, 0);
    assert_true(ses__json_finish(&reader));
}

PLAIN_TEST(white_space_is_no_part_of_a_value)
{
    struct span value = ses__json_trim((struct span){" \n\"a\"\t\r", 7});

    assert_int_equal(value.len, 3);
    assert_int_equal(ses__json_type_of(value), JSON_STRING);
    assert_true(ses__json_string_is(ses__json_string_of(value), "a"));
    assert_int_equal(ses__json_trim((struct span){" \n", 2}).len, 0);
    assert_int_equal(ses__json_type_of((struct span){"", 0}), JSON_NONE);
}
