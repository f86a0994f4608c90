/* Writes a value of a pickle as JSON, spelled as by Python's json.dumps. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "formats/pickle/tree.h"
#include "json/decimal.h"

/* The state of one conversion. Shared values are written at every reference; `left` bounds that, and also
 * work that writes nothing. */
struct writing {
    const struct pickle_tree *tree;
    struct buffer *json;
    size_t left;
    unsigned depth;
    ses_error *error;
};

static int write_value(struct writing *writing, uint32_t number);

static int spend(struct writing *writing, size_t bytes)
{
    if (bytes > writing->left)
        return ses__error_set(writing->error, SES_LIMIT, "the pickle contains more than an event may");
    writing->left -= bytes;
    return SES_OK;
}

static int put(struct writing *writing, const char *text, size_t len)
{
    int code = spend(writing, len);

    if (code == SES_OK)
        ses__buffer_add(writing->json, text, len);
    return code == SES_OK && writing->json->failed ? ses__error_nomem(writing->error) : code;
}

static int put_word(struct writing *writing, const char *word)
{
    return put(writing, word, strlen(word));
}

/* ------------------------------------------------------------------------------------------------ numbers */

static int write_integer(struct writing *writing, int64_t integer)
{
    char text[32];

    (void)snprintf(text, sizeof text, "%" PRId64, integer);
    return put_word(writing, text);
}

enum { WORDS = PICKLE_MAX_INTEGER / 4 + 1, GROUPS = PICKLE_MAX_INTEGER * 241 / 900 + 2 };

/* Reads the magnitude as 32-bit words, the lowest first. Returns true if the number is negative. */
static bool magnitude_of(struct span bytes, uint32_t *words, size_t *count)
{
    const unsigned char *from = (const unsigned char *)bytes.ptr;
    const bool negative = bytes.len > 0 && from[bytes.len - 1] & 0x80;
    uint64_t carry = negative ? 1 : 0;

    *count = (bytes.len + 3) / 4;
    for (size_t i = 0; i < *count; i++) {
        uint32_t word = 0;
        for (size_t j = 0; j < 4; j++) {
            const size_t at = 4 * i + j;
            word |= (uint32_t)(at < bytes.len ? from[at] : negative ? 0xff : 0) << (8 * j);
        }
        carry += negative ? (uint32_t)~word : word;
        words[i] = (uint32_t)carry;
        carry >>= 32;
    }
    return negative;
}

/* Divides by 10^9 and returns the remainder. */
static uint32_t divide(uint32_t *words, size_t *count)
{
    uint64_t rest = 0;

    for (size_t i = *count; i > 0; i--) {
        rest = rest << 32 | words[i - 1];
        words[i - 1] = (uint32_t)(rest / 1000000000);
        rest %= 1000000000;
    }
    while (*count > 0 && words[*count - 1] == 0)
        --*count;
    return (uint32_t)rest;
}

static int write_long(struct writing *writing, struct span bytes)
{
    uint32_t words[WORDS];
    uint32_t groups[GROUPS];
    char text[12];
    size_t count = 0;
    size_t group_count = 0;
    const bool negative = magnitude_of(bytes, words, &count);
    int code = spend(writing, bytes.len * bytes.len / 64); /* the work of the conversion */

    do {
        groups[group_count++] = divide(words, &count);
    } while (count > 0 && group_count < GROUPS);
    if (code == SES_OK && negative)
        code = put_word(writing, "-");
    for (size_t i = group_count; i > 0 && code == SES_OK; i--) {
        (void)snprintf(text, sizeof text, i == group_count ? "%" PRIu32 : "%09" PRIu32, groups[i - 1]);
        code = put_word(writing, text);
    }
    return code;
}

/* The digits of a number and the position of its point: 0.digits times 10^point. */
static size_t digits_of(const char *text, char *digits, int *point)
{
    size_t count = 0;
    bool after = false;

    *point = 0;
    for (text += *text == '-'; *text && *text != 'e'; text++) {
        after = after || *text == '.';
        if (*text == '.')
            continue;
        if (count > 0 || *text != '0')
            digits[count++] = *text;
        *point += (count > 0 && !after) - (count == 0 && after);
    }
    if (*text == 'e')
        *point += atoi(text + 1);
    while (count > 1 && digits[count - 1] == '0')
        count--;
    digits[count] = '\0';
    return count;
}

/* Writes a float like repr: 1.0, 0.0001, 1e-05, 1e+16. */
static int write_real(struct writing *writing, double real)
{
    char shortest[DOUBLE_ROOM];
    char digits[DOUBLE_ROOM];
    char text[2 * DOUBLE_ROOM];
    int point = 0;

    if (!isfinite(real))
        return ses__error_set(
            writing->error, SES_INVALID,
            "the pickle contains a number that is infinite or NaN, which JSON cannot express");
    if (real == 0)
        return put_word(writing, signbit(real) ? "-0.0" : "0.0");
    (void)ses__double_write(real, shortest);
    const int count = (int)digits_of(shortest, digits, &point);
    const char *sign = real < 0 ? "-" : "";
    if (point > 16 || point < -3)
        (void)snprintf(text, sizeof text, "%s%c%s%se%c%02d", sign, digits[0], count > 1 ? "." : "",
                       digits + 1, point > 0 ? '+' : '-', abs(point - 1));
    else if (point <= 0)
        (void)snprintf(text, sizeof text, "%s0.%.*s%s", sign, -point, "000", digits);
    else if (point >= count)
        (void)snprintf(text, sizeof text, "%s%s%.*s.0", sign, digits, point - count, "0000000000000000");
    else
        (void)snprintf(text, sizeof text, "%s%.*s.%s", sign, point, digits, digits + point);
    return put_word(writing, text);
}

/* -------------------------------------------------------------------------------------------------- texts */

/* Reads the next character, which may be a surrogate. Returns its length, or 0 if it is invalid. */
static size_t character_at(struct span text, size_t at, uint32_t *character)
{
    const unsigned char *from = (const unsigned char *)text.ptr + at;
    const size_t left = text.len - at;
    const size_t len = from[0] < 0x80 ? 1 : from[0] < 0xc2 ? 0 : from[0] < 0xe0 ? 2 : from[0] < 0xf0 ? 3 : 4;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};

    if (len == 0 || len > left)
        return 0;
    *character = len == 1 ? from[0] : from[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((from[i] & 0xc0) != 0x80)
            return 0;
        *character = *character << 6 | (from[i] & 0x3f);
    }
    return *character >= least[len] && *character <= 0x10ffff ? len : 0;
}

static int put_character(struct writing *writing, uint32_t character)
{
    static const char escapes[] = "\"\"\\\\\bb\ff\nn\rr\tt"; /* pairs */
    const char *pair = NULL;
    char text[16];

    for (const char *at = escapes; *at && !pair; at += 2)
        pair = (uint32_t)*at == character ? at : NULL;
    if (pair)
        (void)snprintf(text, sizeof text, "\\%c", pair[1]);
    else if (character >= ' ' && character < 0x7f)
        (void)snprintf(text, sizeof text, "%c", (int)character);
    else if (character < 0x10000)
        (void)snprintf(text, sizeof text, "\\u%04x", (unsigned)character);
    else
        (void)snprintf(text, sizeof text, "\\u%04x\\u%04x",
                       (unsigned)(0xd800 + ((character - 0x10000) >> 10)),
                       (unsigned)(0xdc00 + ((character - 0x10000) & 0x3ff)));
    return put_word(writing, text);
}

static bool is_plain(unsigned char byte)
{
    return byte >= ' ' && byte < 0x7f && byte != '"' && byte != '\\';
}

static int write_text(struct writing *writing, struct span text)
{
    int code = put_word(writing, "\"");

    for (size_t at = 0; at < text.len && code == SES_OK;) {
        size_t plain = at;
        uint32_t character = 0;
        while (plain < text.len && is_plain((unsigned char)text.ptr[plain]))
            plain++;
        if (plain > at) {
            code = put(writing, text.ptr + at, plain - at);
            at = plain;
            continue;
        }
        size_t len = character_at(text, at, &character);
        if (len == 0)
            return ses__error_set(writing->error, SES_INVALID,
                                  "the pickle contains a text that is not UTF-8");
        code = put_character(writing, character);
        at += len;
    }
    return code == SES_OK ? put_word(writing, "\"") : code;
}

static int write_bytes(struct writing *writing, struct span bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const unsigned char *from = (const unsigned char *)bytes.ptr;
    int code = put_word(writing, "\"");

    for (size_t i = 0; i < bytes.len && code == SES_OK; i += 3) {
        const size_t left = bytes.len - i;
        const uint32_t three = (uint32_t)from[i] << 16 | (uint32_t)(left > 1 ? from[i + 1] : 0) << 8 |
                               (uint32_t)(left > 2 ? from[i + 2] : 0);
        const char four[4] = {digits[three >> 18], digits[three >> 12 & 63],
                              (char)(left > 1 ? digits[three >> 6 & 63] : '='),
                              (char)(left > 2 ? digits[three & 63] : '=')};
        code = put(writing, four, sizeof four);
    }
    return code == SES_OK ? put_word(writing, "\"") : code;
}

/* --------------------------------------------------------------------------------------------- containers */

static int write_array(struct writing *writing, const struct pickle_value *array)
{
    const struct pickle_tree *tree = writing->tree;
    int code = put_word(writing, "[");

    for (uint32_t link = array->is.items.first; link && code == SES_OK; link = tree->links[link].next) {
        if (link != array->is.items.first)
            code = put_word(writing, ", ");
        if (code == SES_OK)
            code = write_value(writing, tree->links[link].value);
    }
    return code == SES_OK ? put_word(writing, "]") : code;
}

/* JSON keys are strings. Like json.dumps, converts numbers, booleans and None to strings. */
static int write_key(struct writing *writing, uint32_t number)
{
    const struct pickle_value *key = pickle_at(writing->tree, number);

    if (key->kind == PICKLE_TEXT)
        return write_text(writing, key->is.bytes);
    if (key->kind > PICKLE_REAL)
        return ses__error_set(writing->error, SES_INVALID,
                              "the pickle contains a dict with keys that JSON cannot express");
    int code = put_word(writing, "\"");
    if (code == SES_OK)
        code = write_value(writing, number);
    return code == SES_OK ? put_word(writing, "\"") : code;
}

/* Writes the items of a dict as members. */
static int write_members(struct writing *writing, uint32_t dict, bool without_none, bool *first)
{
    const struct pickle_tree *tree = writing->tree;
    int code = SES_OK;

    for (uint32_t link = dict ? pickle_at(tree, dict)->is.items.first : 0; link && code == SES_OK;
         link = tree->links[link].next) {
        const struct pickle_link *item = &tree->links[link];
        code = spend(writing, 1);
        if (without_none && pickle_at(tree, item->value)->kind == PICKLE_NONE)
            continue;
        if (code == SES_OK && !*first)
            code = put_word(writing, ", ");
        *first = false;
        if (code == SES_OK)
            code = write_key(writing, item->key);
        if (code == SES_OK)
            code = put_word(writing, ": ");
        if (code == SES_OK)
            code = write_value(writing, item->value);
    }
    return code;
}

static int write_dict(struct writing *writing, uint32_t fields, uint32_t extra, bool without_none)
{
    bool first = true;
    int code = put_word(writing, "{");

    if (code == SES_OK)
        code = write_members(writing, fields, without_none, &first);
    if (code == SES_OK)
        code = write_members(writing, extra, without_none, &first);
    return code == SES_OK ? put_word(writing, "}") : code;
}

static int write_container(struct writing *writing, uint32_t number)
{
    const struct pickle_value *value = pickle_at(writing->tree, number);
    int code = SES_OK;

    if (writing->depth == PICKLE_MAX_DEPTH)
        return ses__error_set(writing->error, SES_LIMIT, "the pickle is nested more than %d levels deep",
                              (int)PICKLE_MAX_DEPTH);
    writing->depth++;
    if (value->kind == PICKLE_ARRAY)
        code = write_array(writing, value);
    else if (value->kind == PICKLE_DICT)
        code = write_dict(writing, number, 0, false);
    else
        code = write_dict(writing, value->is.object.fields, value->is.object.extra, true);
    writing->depth--;
    return code;
}

static int write_value(struct writing *writing, uint32_t number)
{
    const struct pickle_value *value = pickle_at(writing->tree, number);

    switch ((enum pickle_kind)value->kind) {
    case PICKLE_NONE:
        return put_word(writing, "null");
    case PICKLE_FALSE:
        return put_word(writing, "false");
    case PICKLE_TRUE:
        return put_word(writing, "true");
    case PICKLE_INTEGER:
        return write_integer(writing, value->is.integer);
    case PICKLE_LONG:
        return write_long(writing, value->is.bytes);
    case PICKLE_REAL:
        return write_real(writing, value->is.real);
    case PICKLE_TEXT:
        return write_text(writing, value->is.bytes);
    case PICKLE_BYTES:
        return write_bytes(writing, value->is.bytes);
    case PICKLE_ARRAY:
    case PICKLE_DICT:
    case PICKLE_OBJECT:
        return write_container(writing, number);
    case PICKLE_CLASS:
        break;
    }
    return ses__error_set(writing->error, SES_INVALID, "the pickle contains a class as a value");
}

int pickle_write(const struct pickle_tree *tree, uint32_t number, size_t max_text, struct buffer *json,
                 ses_error *error)
{
    struct writing writing = {tree, json, max_text, 0, error};
    const size_t start = json->len;
    int code = write_value(&writing, number);

    if (code != SES_OK)
        ses__buffer_cut(json, start);
    return code;
}
