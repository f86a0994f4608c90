#include "json/reader.h"

#include <string.h>

#include "base/error.h"
#include "base/utf8.h"

static const char *const TOO_DEEP = "nested more than 1000 levels deep";
static const char *const OBJECT_GOES_ON = "expected , or } in an object";
static const char *const ARRAY_GOES_ON = "expected , or ] in an array";

/* Keeps the first fault. Returns false. */
static bool refuse(struct json_reader *reader, const char *at, const char *wrong)
{
    if (!reader->wrong) {
        reader->wrong = wrong;
        reader->wrong_at = at;
    }
    return false;
}

/* ----------------------------------------------------------------------------- strings, numbers and words */

#if defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define FIRST_MARKED(high_bits) ((size_t)__builtin_ctzll(high_bits) / 8)
#else
#define FIRST_MARKED(high_bits) 0 /* fewer may be marked */
#endif

/* Returns how many of the next eight bytes, from the first, are ordinary ASCII characters, neither quotes nor
 * backslashes. */
static ALWAYS_INLINE size_t plain_bytes(const char *p)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t high = ones * 0x80;
    uint64_t bytes;
    memcpy(&bytes, p, sizeof bytes);
    uint64_t quote = bytes ^ ones * '"';
    uint64_t backslash = bytes ^ ones * '\\';
    uint64_t special = bytes | (bytes - ones * 0x20) | (quote - ones) | (backslash - ones);
    special &= high; /* right up to the first; a borrow from it may mark others */
    return special == 0 ? 8 : FIRST_MARKED(special);
}

/* Returns the length of the escape that begins with the backslash at `p`, or 0. */
static size_t escape_length(const char *p, const char *end)
{
    if (end - p >= 2 && p[1] != '\0' && strchr("\"\\/bfnrt", p[1]))
        return 2;
    return end - p >= 6 && p[1] == 'u' && ses__json_hex4(p + 2) >= 0 ? 6 : 0;
}

bool ses__json_read_string(struct json_reader *reader, struct json_string *string)
{
    const char *p = reader->at + 1; /* after the quote that the caller saw */
    const char *end = reader->end;

    string->raw.ptr = p;
    string->escaped = false;
    for (;;) {
        size_t plain = 8;
        while (plain == 8 && end - p >= 8) {
            plain = plain_bytes(p);
            p += plain;
        }
        if (p >= end)
            return refuse(reader, end, "unterminated string");
        unsigned char byte = (unsigned char)*p;
        if (byte == '"')
            break;
        size_t step = 1;
        if (byte == '\\') {
            step = escape_length(p, end);
            string->escaped = true;
            if (step == 0)
                return refuse(reader, p, "invalid escape in a string");
        } else if (byte < 0x20) {
            return refuse(reader, p, "unescaped control character in a string");
        } else if (byte >= 0x80) {
            step = ses__utf8_character(p, end);
            if (step == 0)
                return refuse(reader, p, "invalid UTF-8");
        }
        p += step;
    }
    string->raw.len = (size_t)(p - string->raw.ptr);
    reader->at = p + 1;
    return true;
}

static const char *skip_digits(const char *p, const char *end)
{
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return p;
}

static bool skip_number(struct json_reader *reader)
{
    const char *end = reader->end;
    const char *p = reader->at;
    const char *digits;

    if (*p == '-')
        p++;
    digits = p;
    p = skip_digits(p, end);
    if (p == digits)
        return refuse(reader, p, "a number without digits");
    if (*digits == '0' && p - digits > 1)
        return refuse(reader, digits, "a number with a leading zero");
    if (p < end && *p == '.') {
        digits = p + 1;
        p = skip_digits(digits, end);
        if (p == digits)
            return refuse(reader, p, "a number without digits after its decimal point");
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        digits = p + 1;
        if (digits < end && (*digits == '+' || *digits == '-'))
            digits++;
        p = skip_digits(digits, end);
        if (p == digits)
            return refuse(reader, p, "a number without digits in its exponent");
    }
    reader->at = p;
    return true;
}

static bool skip_word(struct json_reader *reader, const char *word)
{
    size_t len = strlen(word);
    if ((size_t)(reader->end - reader->at) < len || memcmp(reader->at, word, len) != 0)
        return refuse(reader, reader->at, "a word that is not true, false or null");
    reader->at += len;
    return true;
}

static bool skip_scalar(struct json_reader *reader, enum json_type type)
{
    struct json_string string;

    switch (type) {
    case JSON_STRING:
        return ses__json_read_string(reader, &string);
    case JSON_NUMBER:
        return skip_number(reader);
    case JSON_BOOL:
        return skip_word(reader, *reader->at == 't' ? "true" : "false");
    case JSON_NULL:
        return skip_word(reader, "null");
    default:
        return refuse(reader, reader->at,
                      reader->at < reader->end ? "expected a JSON value"
                                               : "the text ends where a value is expected");
    }
}

/* --------------------------------------------------------------------------------------------- the reader */

static ALWAYS_INLINE void skip_space(struct json_reader *reader)
{
    const char *p = reader->at;
    while (p < reader->end && ses__json_is_space(*p))
        p++;
    reader->at = p;
}

void ses__json_start(struct json_reader *reader, const char *text, size_t len)
{
    /* NULL has no end to be added to. */
    const char *end = len > 0 ? text + len : text;
    *reader = (struct json_reader){.text = text, .at = text, .end = end, .max_depth = JSON_MAX_DEPTH};
}

static enum json_type type_of_byte(char byte)
{
    switch (byte) {
    case '{':
        return JSON_OBJECT;
    case '[':
        return JSON_ARRAY;
    case '"':
        return JSON_STRING;
    case 't':
    case 'f':
        return JSON_BOOL;
    case 'n':
        return JSON_NULL;
    default:
        return byte == '-' || (byte >= '0' && byte <= '9') ? JSON_NUMBER : JSON_NONE;
    }
}

enum json_type ses__json_peek(struct json_reader *reader)
{
    skip_space(reader);
    return reader->at < reader->end ? type_of_byte(*reader->at) : JSON_NONE;
}

struct span ses__json_trim(struct span value)
{
    while (value.len > 0 && ses__json_is_space(value.ptr[0])) {
        value.ptr++;
        value.len--;
    }
    while (value.len > 0 && ses__json_is_space(value.ptr[value.len - 1]))
        value.len--;
    return value;
}

enum json_type ses__json_type_of(struct span value)
{
    return value.len ? type_of_byte(value.ptr[0]) : JSON_NONE;
}

const char *ses__json_type_name(enum json_type type)
{
    static const char *const names[] = {
        [JSON_NONE] = "not JSON",    [JSON_NULL] = "null",       [JSON_BOOL] = "true or false",
        [JSON_NUMBER] = "a number",  [JSON_STRING] = "a string", [JSON_ARRAY] = "an array",
        [JSON_OBJECT] = "an object",
    };
    return names[type];
}

/* --------------------------------------------------------------------------------------------- values */

/* The containers inside the value that ses__json_skip walks over: one bit each, set for an object. */
struct nesting {
    uint64_t objects[(JSON_MAX_DEPTH + JSON_AROUND + 63) / 64];
    unsigned depth;
};

static bool skip_key(struct json_reader *reader, struct json_string *key)
{
    skip_space(reader);
    if (reader->at >= reader->end || *reader->at != '"')
        return refuse(reader, reader->at, "expected a quoted key");
    if (!ses__json_read_string(reader, key))
        return false;
    skip_space(reader);
    if (reader->at >= reader->end || *reader->at != ':')
        return refuse(reader, reader->at, "expected a colon after a key");
    reader->at++;
    return true;
}

/* After a value: leaves the containers that end here. True if another value must follow in one of them. */
static bool skip_to_next(struct json_reader *reader, struct nesting *nesting)
{
    struct json_string key;

    while (nesting->depth > 0) {
        const unsigned top = nesting->depth - 1;
        const bool object = nesting->objects[top / 64] >> (top % 64) & 1;
        skip_space(reader);
        char byte = reader->at < reader->end ? *reader->at : '\0';
        if (byte == ',') {
            reader->at++;
            return !object || skip_key(reader, &key);
        }
        if (byte != (object ? '}' : ']'))
            return refuse(reader, reader->at, object ? OBJECT_GOES_ON : ARRAY_GOES_ON);
        reader->at++;
        nesting->depth--;
    }
    return false;
}

/* At a container's first byte. True if a value must follow in it; false if it is empty or wrong. */
static bool skip_into(struct json_reader *reader, struct nesting *nesting, bool object)
{
    struct json_string key;

    if (reader->depth + nesting->depth >= reader->max_depth)
        return refuse(reader, reader->at, TOO_DEEP);
    reader->at++;
    skip_space(reader);
    if (reader->at < reader->end && *reader->at == (object ? '}' : ']')) {
        reader->at++;
        return false;
    }
    const uint64_t bit = UINT64_C(1) << (nesting->depth % 64);
    uint64_t *word = &nesting->objects[nesting->depth / 64];
    *word = object ? *word | bit : *word & ~bit;
    nesting->depth++;
    return !object || skip_key(reader, &key);
}

/* Returns the quote that ends the string whose text begins at `p`, or NULL if there is none. */
static const char *closing_quote(const char *p, const char *end)
{
    const char *start = p;

    while (p < end && (p = memchr(p, '"', (size_t)(end - p))) != NULL) {
        const char *escapes = p;
        while (escapes > start && escapes[-1] == '\\')
            escapes--;
        if ((p - escapes) % 2 == 0)
            return p;
        p++;
    }
    return NULL;
}

/* Skips a string, object or array that was accepted before, by looking only for its end. */
static bool pass(struct json_reader *reader)
{
    const char *p = reader->at;
    size_t depth = 0;

    while (p < reader->end) {
        const char byte = *p++;
        if (byte == '"') {
            p = closing_quote(p, reader->end);
            if (!p)
                break;
            p++;
        } else if (byte == '{' || byte == '[') {
            depth++;
        } else if (byte == '}' || byte == ']') {
            depth--;
        } else {
            continue;
        }
        if (depth == 0) {
            reader->at = p;
            return true;
        }
    }
    return refuse(reader, reader->end, "the text ends within a value");
}

bool ses__json_skip(struct json_reader *reader, struct span *value)
{
    struct nesting nesting;
    bool due = true;

    if (reader->lenient && !value) {
        enum json_type whole = ses__json_peek(reader);
        if (whole == JSON_STRING || whole == JSON_OBJECT || whole == JSON_ARRAY)
            return pass(reader);
    }
    nesting.depth = 0;
    skip_space(reader);
    const char *start = reader->at;
    while (due) {
        enum json_type type = ses__json_peek(reader);
        if (type == JSON_OBJECT || type == JSON_ARRAY)
            due = skip_into(reader, &nesting, type == JSON_OBJECT);
        else
            due = !skip_scalar(reader, type);
        if (!due && !reader->wrong)
            due = skip_to_next(reader, &nesting);
        if (reader->wrong)
            return false;
    }
    if (value)
        *value = (struct span){start, (size_t)(reader->at - start)};
    return true;
}

/* ----------------------------------------------------------------------------------------- containers */

bool ses__json_enter(struct json_reader *reader)
{
    if (reader->depth >= reader->max_depth)
        return refuse(reader, reader->at, TOO_DEEP);
    reader->at++;
    reader->depth++;
    reader->fresh = true;
    return true;
}

/* After a member or element: true if another must follow. */
static bool another(struct json_reader *reader, char closing, const char *due)
{
    bool fresh = reader->fresh;

    reader->fresh = false;
    skip_space(reader);
    char byte = reader->at < reader->end ? *reader->at : '\0';
    if (byte == closing) {
        reader->at++;
        reader->depth--;
        return false;
    }
    if (!fresh) {
        if (byte != ',')
            return refuse(reader, reader->at, due);
        reader->at++;
    }
    return true;
}

bool ses__json_member(struct json_reader *reader, struct json_string *key)
{
    return another(reader, '}', OBJECT_GOES_ON) && skip_key(reader, key);
}

bool ses__json_element(struct json_reader *reader)
{
    return another(reader, ']', ARRAY_GOES_ON);
}

bool ses__json_finish(struct json_reader *reader)
{
    skip_space(reader);
    return reader->at == reader->end || refuse(reader, reader->at, "unexpected text after the JSON value");
}

int ses__json_error(const struct json_reader *reader, ses_error *error)
{
    size_t offset = (size_t)(reader->wrong_at - reader->text);
    return ses__error_at(error, reader->wrong == TOO_DEEP ? SES_LIMIT : SES_JSON, offset, "at byte %zu: %s",
                         offset, reader->wrong);
}

static int check_started(struct json_reader *reader, struct span *value, ses_error *error)
{
    return ses__json_skip(reader, value) && ses__json_finish(reader) ? SES_OK
                                                                     : ses__json_error(reader, error);
}

int ses__json_check_within(const char *text, size_t len, unsigned depth, struct span *value, ses_error *error)
{
    struct json_reader reader;

    ses__json_start(&reader, text, len);
    reader.depth = depth;
    int code = check_started(&reader, value, error);
    if (code == SES_LIMIT && depth > 0)
        ses__error_prefix(error, "with the %u levels around it in an event, ", depth);
    return code;
}

int ses__json_check(const char *text, size_t len, ses_error *error)
{
    return ses__json_check_within(text, len, 0, NULL, error);
}

int ses__json_check_stored(const char *text, size_t len, ses_error *error)
{
    struct json_reader reader;

    ses__json_start(&reader, text, len);
    reader.max_depth += JSON_AROUND;
    return check_started(&reader, NULL, error);
}

int ses__json_start_object(struct json_reader *reader, struct span text, const char *what, ses_error *error)
{
    ses__json_start(reader, text.ptr, text.len);
    if (ses__json_peek(reader) == JSON_OBJECT)
        return SES_OK;
    int code = ses__json_check(text.ptr, text.len, error);
    return code == SES_OK ? ses__error_at(error, SES_INVALID, 0, "%s must be a JSON object", what) : code;
}
