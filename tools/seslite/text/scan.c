#include "text/scan.h"

#include <string.h>

void scan_begin(struct scan *scan, const char *json, size_t len)
{
    *scan = (struct scan){.at = json, .end = json + len};
}

static void skip_between(struct scan *scan)
{
    while (scan->at < scan->end && strchr(" \t\r\n,:", *scan->at) && *scan->at)
        scan->at++;
}

/* Skips to the end of the string whose opening quote is at scan->at. */
static void skip_string(struct scan *scan)
{
    for (scan->at++; scan->at < scan->end && *scan->at != '"'; scan->at++)
        if (*scan->at == '\\' && scan->end - scan->at > 1)
            scan->at++;
    if (scan->at < scan->end)
        scan->at++;
}

static enum token open_level(struct scan *scan)
{
    if (scan->depth == SCAN_LEVELS)
        return TOKEN_END;
    scan->is_object[++scan->depth] = *scan->at++ == '{';
    scan->name_is_due = scan->is_object[scan->depth];
    return TOKEN_OPEN;
}

static enum token close_level(struct scan *scan)
{
    if (scan->depth == 0)
        return TOKEN_END;
    scan->at++;
    scan->name_is_due = scan->is_object[--scan->depth];
    return TOKEN_CLOSE;
}

static enum token take_scalar(struct scan *scan)
{
    bool is_name = scan->name_is_due;
    bool is_string = *scan->at == '"';

    if (is_string)
        skip_string(scan);
    else
        for (scan->at++; scan->at < scan->end && !strchr(" \t\r\n,:]}[{\"", *scan->at);)
            scan->at++;
    scan->name_is_due = !is_name && scan->is_object[scan->depth];
    return is_name ? TOKEN_NAME : is_string ? TOKEN_STRING : TOKEN_OTHER;
}

enum token scan_next(struct scan *scan, struct piece *piece)
{
    enum token token;

    skip_between(scan);
    piece->text = scan->at;
    piece->len = 0;
    if (scan->at == scan->end)
        return TOKEN_END;
    if (*scan->at == '{' || *scan->at == '[')
        token = open_level(scan);
    else if (*scan->at == '}' || *scan->at == ']')
        token = close_level(scan);
    else
        token = take_scalar(scan);
    piece->len = (size_t)(scan->at - piece->text);
    return token;
}

bool scan_value(struct scan *scan, struct piece *value)
{
    struct piece piece;
    size_t depth = scan->depth;
    enum token token = scan_next(scan, value);

    if (token == TOKEN_END || token == TOKEN_CLOSE)
        return false;
    while (scan->depth > depth)
        if (scan_next(scan, &piece) == TOKEN_END)
            return false;
    value->len = (size_t)(scan->at - value->text);
    return true;
}

bool scan_is_named(const struct text *name, const char *camel, const char *snake)
{
    return strcmp(name->data, camel) == 0 || strcmp(name->data, snake) == 0;
}

bool piece_is(const struct piece *piece, const char *text)
{
    return piece->len == strlen(text) && memcmp(piece->text, text, piece->len) == 0;
}

/* ----------------------------------------------------------------------------------------------- decoding */

static unsigned hex_digit(char digit)
{
    return digit <= '9' ? (unsigned)(digit - '0') : (unsigned)((digit | 0x20) - 'a' + 10);
}

/* The value of the four digits after \u; missing digits count as 0. */
static uint32_t hex_number(const char *digits, const char *end)
{
    uint32_t number = 0;

    for (int i = 0; i < 4; i++)
        number = number << 4 | (digits + i < end ? hex_digit(digits[i]) & 0xf : 0);
    return number;
}

static void add_character(struct text *text, uint32_t character)
{
    char bytes[4];
    size_t len = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    static const unsigned char marks[] = {0, 0, 0xc0, 0xe0, 0xf0};

    for (size_t i = len; i-- > 1; character >>= 6)
        bytes[i] = (char)(0x80 | (character & 0x3f));
    bytes[0] = (char)(marks[len] | character);
    text_add(text, bytes, len);
}

/* Decodes the escape at `at`, which is a backslash. Returns the end of the escape. */
static const char *decode_escape(struct text *text, const char *at, const char *end)
{
    static const char letters[] = "b\bf\fn\nr\rt\t";
    const char *letter = strchr(letters, at[1]);

    if (at[1] != 'u') {
        text_add(text, letter && at[1] ? letter + 1 : at + 1, 1);
        return at + 2;
    }
    uint32_t character = hex_number(at + 2, end);
    at += 6;
    if (character >= 0xd800 && character < 0xdc00 && end - at >= 6 && at[0] == '\\' && at[1] == 'u') {
        uint32_t low = hex_number(at + 2, end);
        if (low >= 0xdc00 && low < 0xe000) {
            character = 0x10000 + ((character - 0xd800) << 10) + (low - 0xdc00);
            at += 6;
        }
    }
    add_character(text, character);
    return at;
}

void scan_decode(struct text *text, const struct piece *string)
{
    const char *at = string->text + 1;
    const char *end = string->text + (string->len > 1 ? string->len - 1 : string->len);

    text_add(text, "", 0);
    while (at < end) {
        const char *escape = memchr(at, '\\', (size_t)(end - at));
        text_add(text, at, (size_t)((escape ? escape : end) - at));
        if (!escape || end - escape < 2)
            break;
        at = decode_escape(text, escape, end);
    }
}

bool scan_member(struct scan *scan, struct text *name, struct piece *value)
{
    struct piece piece;
    enum token token = scan_next(scan, &piece);

    if (token == TOKEN_OPEN && scan->depth == 1)
        token = scan_next(scan, &piece);
    if (token != TOKEN_NAME)
        return false;
    text_clear(name);
    scan_decode(name, &piece);
    return scan_value(scan, value);
}
