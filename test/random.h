/* Random numbers, the same in each run; and random JSON. */
#ifndef SESLITE_TEST_RANDOM_H
#define SESLITE_TEST_RANDOM_H

#include "base/utf8.h"
#include "support.h"

/* SplitMix64 (Steele, Lea and Flood). */
static inline uint64_t random_next(uint64_t *seed)
{
    uint64_t z = *seed += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static inline size_t random_below(uint64_t *seed, size_t limit)
{
    return (size_t)(random_next(seed) % limit);
}

/* Up to `most` characters of any plane, control characters among them, a NUL too; returns the length in
 * bytes. */
static inline size_t random_text(uint64_t *seed, char *out, size_t most)
{
    static const uint32_t limits[] = {0x20, 0x80, 0x80, 0x80, 0x800, 0x10000, 0x110000};
    size_t count = random_below(seed, most + 1);
    size_t len = 0;

    for (size_t i = 0; i < count; i++) {
        uint32_t character = (uint32_t)random_below(seed, limits[random_below(seed, 7)]);
        if (character >= 0xD800 && character <= 0xDFFF)
            character = '\\';
        len += ses__utf8_encode(character, out + len);
    }
    return len;
}

static inline void random_json(uint64_t *seed, FILE *out, int levels)
{
    static const char *const scalars[] = {
        "0",    "-1.5e-9", "12345678901234567890", "true", "false", "null",
        "\"\"", "\"a\"",   "\"\\u00e9\\n\"",       "[]",   "{}",    "\"\xC3\xA9 \\\"\""};
    static const char *const spaces[] = {"", "", "", " ", "\n\t", "\r"};
    bool object = random_below(seed, 2) == 0;
    size_t count = random_below(seed, 4) + 1;

    fputs(spaces[random_below(seed, 6)], out);
    if (levels == 0 || random_below(seed, 3) == 0) {
        fputs(scalars[random_below(seed, 12)], out);
    } else {
        fputc(object ? '{' : '[', out);
        for (size_t i = 0; i < count; i++) {
            if (object)
                fprintf(out, "%s\"k%zu\"%s:", spaces[random_below(seed, 6)], i,
                        spaces[random_below(seed, 6)]);
            random_json(seed, out, levels - 1);
            fputs(i + 1 < count ? "," : "", out);
        }
        fputc(object ? '}' : ']', out);
    }
    fputs(spaces[random_below(seed, 6)], out);
}

/* A text of that; free it. */
static inline char *random_json_text(uint64_t *seed, size_t *len)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, len);

    assert_non_null(out);
    random_json(seed, out, 5);
    assert_int_equal(fclose(out), 0);
    return text;
}

#endif
