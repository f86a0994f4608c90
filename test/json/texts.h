/* JSON texts that are right, and texts that are wrong. */
#ifndef SESLITE_TEST_TEXTS_H
#define SESLITE_TEST_TEXTS_H

#include "support.h"

/* A literal and its length, for texts that hold NULs. */
#define TEXT(literal) literal, sizeof(literal) - 1

struct refused {
    const char *text;
    size_t len;
    int64_t offset;
};

/* Whole texts, wrong as an event and as a state. */
static const struct refused refused_texts[] = {
    {TEXT(""), 0},
    {TEXT(" \t\r\n"), 4},
    {TEXT("{"), 1},
    {TEXT("{ "), 2},
    {TEXT("}"), 0},
    {TEXT("{\"a\""), 4},
    {TEXT("{\"a\":"), 5},
    {TEXT("{\"a\":1"), 6},
    {TEXT("{\"a\":1,"), 7},
    {TEXT("{\"a"), 3},
    {TEXT("{\"a\":\"b"), 7},
    {TEXT("{\"a\":[1"), 7},
    {TEXT("{\"a\":[1,"), 8},
    {TEXT("{\"a\":\"\xC3"), 6},
    {TEXT("{\"a\":\"\\"), 6},
    {TEXT("{\"a\":\"\\u00"), 6},
    {TEXT("{\"a\":1]"), 6},
    {TEXT("{,}"), 1},
    {TEXT("{\"a\":1,}"), 7},
    {TEXT("{\"a\":1,,\"b\":2}"), 7},
    {TEXT("{,\"a\":1}"), 1},
    {TEXT("{\"a\"}"), 4},
    {TEXT("{\"a\" 1}"), 5},
    {TEXT("{\"a\"=1}"), 4},
    {TEXT("{\"a\":1 \"b\":2}"), 7},
    {TEXT("{\"a\":1;\"b\":2}"), 6},
    {TEXT("{a:1}"), 1},
    {TEXT("{'a':1}"), 1},
    {TEXT("{1:1}"), 1},
    {TEXT("{null:1}"), 1},
    {TEXT("{[]:1}"), 1},
    {TEXT("{}}"), 2},
    {TEXT("{}]"), 2},
    {TEXT("{},"), 2},
    {TEXT("{}{}"), 2},
    {TEXT("{} x"), 3},
    {TEXT("{}\n{}"), 3},
    {TEXT("{}\0"), 2},
    {TEXT("{} // end"), 3},
    {TEXT("// start\n{}"), 0},
    {TEXT("/**/{}"), 0},
    {TEXT("{/**/}"), 1},
    {TEXT("#\n{}"), 0},
    {TEXT("\xEF\xBB\xBF{}"), 0}, /* a byte order mark */
    {TEXT("\xC2\xA0{}"), 0},     /* a no-break space */
    {TEXT("\v{}"), 0},
    {TEXT("\f{}"), 0},
    {TEXT("\0{}"), 0},
    {TEXT("[1}"), 2},
    {TEXT("[1] 2"), 4},
    {TEXT("\"text"), 5},
    {TEXT("nul"), 0},
    {TEXT("NaN"), 0},
    {TEXT("1 2"), 2},
};

/* Single values, to be put into an object; the offset counts from where the value stands. */
static const struct refused refused_values[] = {
    {TEXT(""), 0},
    {TEXT(","), 0},
    {TEXT("01"), 0},
    {TEXT("1."), 2},
    {TEXT("1.e1"), 2},
    {TEXT(".5"), 0},
    {TEXT("+1"), 0},
    {TEXT("-"), 1},
    {TEXT("-a"), 1},
    {TEXT("--1"), 1},
    {TEXT("-.5"), 1},
    {TEXT("1e"), 2},
    {TEXT("1E+"), 3},
    {TEXT("1e-x"), 3},
    {TEXT("1e1.5"), 3},
    {TEXT("0x10"), 1},
    {TEXT("1a"), 1},
    {TEXT("1_000"), 1},
    {TEXT("1 2"), 2},
    {TEXT("1.2.3"), 3},
    {TEXT("NaN"), 0},
    {TEXT("Infinity"), 0},
    {TEXT("-Infinity"), 1},
    {TEXT("undefined"), 0},
    {TEXT("True"), 0},
    {TEXT("tru"), 0},
    {TEXT("truth"), 0},
    {TEXT("false0"), 5},
    {TEXT("nulll"), 4},
    {TEXT("nil"), 0},
    {TEXT("'a'"), 0},
    {TEXT("\"\\x41\""), 1},
    {TEXT("\"\\'\""), 1},
    {TEXT("\"\\\0\""), 1},
    {TEXT("\"\\u12\""), 1},
    {TEXT("\"\\u12G4\""), 1},
    {TEXT("\"\\u 123\""), 1},
    {TEXT("\"\\U0041\""), 1},
    {TEXT("\"a\nb\""), 2},
    {TEXT("\"\t\""), 1},
    {TEXT("\"\0\""), 1},
    {TEXT("\"\x01\""), 1},
    {TEXT("\"abcdefghijklmnop\x1F\""), 17},
    {TEXT("[1,]"), 3},
    {TEXT("[,1]"), 1},
    {TEXT("[1,,2]"), 3},
    {TEXT("[1 2]"), 3},
    {TEXT("[1:2]"), 2},
    {TEXT("[1}"), 2},
    {TEXT("]"), 0},
    {TEXT("{\"b\":1]"), 6},
    {TEXT("{\"b\":1,}"), 7},
    {TEXT("{\"b\"}"), 4},
    {TEXT("{b:1}"), 1},
    {TEXT("[{\"b\":[01]}]"), 7},
    {TEXT("/**/1"), 0},
    {TEXT("1//"), 1},
    /* Bytes that are no UTF-8. */
    {TEXT("\xC3\xA9"), 0},
    {TEXT("\"\x80\""), 1},
    {TEXT("\"\xBF\""), 1},
    {TEXT("\"\xC0\xAF\""), 1}, /* "/" in two bytes */
    {TEXT("\"\xC1\xBF\""), 1},
    {TEXT("\"\xE0\x9F\xBF\""), 1}, /* too long a form */
    {TEXT("\"\xED\xA0\x80\""), 1}, /* a surrogate */
    {TEXT("\"\xED\xBF\xBF\""), 1},
    {TEXT("\"\xF0\x8F\xBF\xBF\""), 1}, /* too long a form */
    {TEXT("\"\xF4\x90\x80\x80\""), 1}, /* past U+10FFFF */
    {TEXT("\"\xF5\x80\x80\x80\""), 1},
    {TEXT("\"\xFE\""), 1},
    {TEXT("\"\xFF\""), 1},
    {TEXT("\"\xC3\""), 1}, /* cut off */
    {TEXT("\"a\xC3(\""), 2},
    {TEXT("\"\xE2\x82\""), 1},
    {TEXT("\"\xE2(\xA1\""), 1},
    {TEXT("\"\xF0\x9F\x98\""), 1},
    {TEXT("\"\xF0(\x8C\xBC\""), 1},
    {TEXT("\"ok \xE2\x82\xAC then \xE9\""), 13},
    {TEXT("{\"\xFF\":1}"), 2},
};

/* Texts that RFC 8259 allows, however odd. */
static const char *const accepted_values[] = {
    "0",
    "-0",
    "10",
    "0.0",
    "0e0",
    "1E+9",
    "-1.5e-9",
    "true",
    "false",
    "null",
    "\"\"",
    "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000\\uABCD\\uabcd\"",
    "\"\\uD800\"", /* RFC 8259, section 8.2: the grammar allows it */
    "\"\x7F\"",    /* DEL is no control character of JSON */
    "\"\xC2\x80\xDF\xBF\"",
    "\"\xE0\xA0\x80\xEF\xBF\xBF\"",
    "\"\xED\x9F\xBF\xEE\x80\x80\"",
    "\"\xF0\x90\x80\x80\xF4\x8F\xBF\xBF\"",
    "\"\xE2\x80\xA8\xE2\x80\xA9\"",
    "[]",
    "{}",
    "[ \t\r\n]",
    "{ \t\r\n}",
    "[1,[2,{\"a\":[]}],3]",
    "{\"a\":1,\"a\":2}", /* names SHOULD be unique: no more than that */
    "{\"\":{}}",
};

enum {
    TEXT_COUNT = sizeof refused_texts / sizeof refused_texts[0],
    VALUE_COUNT = sizeof refused_values / sizeof refused_values[0],
    ACCEPTED_COUNT = sizeof accepted_values / sizeof accepted_values[0]
};

#endif
