#include "json/reader.h"

#include <string.h>

#include "base/error.h"
#include "base/utf8.h"

static bool refuse(struct json_reader *reader, const char *at, const char *wrong)
{
    if (!reader->wrong) {
        reader->wrong = wrong;
        reader->wrong_at = at;
    }
    return false;
}

static const char *const TOO_DEEP = "nested more than 1000 levels deep";
static const char *const OBJECT_GOES_ON = "expected , or } in an object";
static const char *const ARRAY_GOES_ON = "expected , or ] in an array";

static ALWAYS_INLINE bool is_white(char byte)
{
    return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

static ALWAYS_INLINE void skip_space(struct json_reader *reader)
{
    const char *p = reader->at;
    while (p < reader->end && is_white(*p))
        p++;
    reader->at = p;
}

void ses__json_start(struct json_reader *reader, const char *text, size_t len)
{
    *reader = (struct json_reader){.text = text, .at = text, .end = text + len};
}

static enum json_type type_of_byte(char byte)
{
    enum json_type type;
    switch (byte) {
    case '{':
        type = JSON_OBJECT;
        break;
    case '[':
        type = JSON_ARRAY;
        break;
    case '"':
        type = JSON_STRING;
        break;
    case 't':
    case 'f':
        type = JSON_BOOL;
        break;
    case 'n':
        type = JSON_NULL;
        break;
    default:
        type = byte == '-' || (byte >= '0' && byte <= '9') ? JSON_NUMBER : JSON_NONE;
        break;
    }
    return type;
}

enum json_type ses__json_peek(struct json_reader *reader)
{
    skip_space(reader);
    return reader->at < reader->end ? type_of_byte(*reader->at) : JSON_NONE;
}

struct span ses__json_trim(struct span value)
{
    while (value.len > 0 && is_white(value.ptr[0])) {
        value.ptr++;
        value.len--;
    }
    while (value.len > 0 && is_white(value.ptr[value.len - 1]))
        value.len--;
    return value;
}

enum json_type ses__json_type_of(struct span value)
{
    return value.len ? type_of_byte(value.ptr[0]) : JSON_NONE;
}

struct json_string ses__json_string_of(struct span value)
{
    return (struct json_string){{value.ptr + 1, value.len - 2}, memchr(value.ptr, '\\', value.len) != NULL};
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

/* -------------------------------------------------------------------------------------------- strings */

/* Eight bytes at once: true when each is an ordinary ASCII character, neither a quote nor a backslash. */
static ALWAYS_INLINE bool eight_plain(const char *p)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t high = ones * 0x80;
    uint64_t bytes;
    memcpy(&bytes, p, sizeof bytes);
    uint64_t quote = bytes ^ ones * '"';
    uint64_t backslash = bytes ^ ones * '\\';
    uint64_t special = bytes | (bytes - ones * 0x20) | (quote - ones) | (backslash - ones);
    return (special & high) == 0;
}

static int hex_value(char digit)
{
    int value = -1;
    if (digit >= '0' && digit <= '9')
        value = digit - '0';
    else if (digit >= 'a' && digit <= 'f')
        value = digit - 'a' + 10;
    else if (digit >= 'A' && digit <= 'F')
        value = digit - 'A' + 10;
    return value;
}

/* Four hexadecimal digits; -1 when they are not. `p` has four bytes. */
static int32_t hex4(const char *p)
{
    int32_t value = 0;
    for (int i = 0; i < 4 && value >= 0; i++) {
        int digit = hex_value(p[i]);
        value = digit < 0 ? -1 : value * 16 + digit;
    }
    return value;
}

/* The escape that begins with the backslash at `p`: its length, or 0. */
static size_t escape_length(const char *p, const char *end)
{
    size_t len = 0;
    if (end - p >= 2 && p[1] != '\0' && strchr("\"\\/bfnrt", p[1]))
        len = 2;
    else if (end - p >= 6 && p[1] == 'u' && hex4(p + 2) >= 0)
        len = 6;
    return len;
}

bool ses__json_read_string(struct json_reader *reader, struct json_string *string)
{
    const char *p = reader->at + 1; /* after the quote that the caller saw */
    const char *end = reader->end;

    string->raw.ptr = p;
    string->escaped = false;
    for (;;) {
        while (end - p >= 8 && eight_plain(p))
            p += 8;
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

/* One escape at `p`, decoded into `out`: moves both on. False: a lone surrogate. */
static bool unescape_one(const char **p, const char *end, char **out)
{
    static const char escapes[] = "\"\\/bfnrt";
    static const char meanings[] = "\"\\/\b\f\n\r\t";
    bool ok = true;

    if ((*p)[1] != 'u') {
        *(*out)++ = meanings[strchr(escapes, (*p)[1]) - escapes];
        *p += 2;
    } else {
        uint32_t character = (uint32_t)hex4(*p + 2);
        *p += 6;
        if (character >= 0xD800 && character <= 0xDBFF) {
            int32_t low = end - *p >= 6 && (*p)[0] == '\\' && (*p)[1] == 'u' ? hex4(*p + 2) : -1;
            ok = low >= 0xDC00 && low <= 0xDFFF;
            if (ok) {
                character = 0x10000 + ((character - 0xD800) << 10) + ((uint32_t)low - 0xDC00);
                *p += 6;
            }
        } else if (character >= 0xDC00 && character <= 0xDFFF) {
            ok = false;
        }
        if (ok)
            *out += ses__utf8_encode(character, *out);
    }
    return ok;
}

bool ses__json_unescape(struct json_string string, char *out, size_t *len)
{
    const char *p = string.raw.ptr;
    const char *end = p + string.raw.len;
    char *to = out;
    bool ok = true;

    while (ok && p < end) {
        if (*p == '\\')
            ok = unescape_one(&p, end, &to);
        else
            *to++ = *p++;
    }
    *len = (size_t)(to - out);
    return ok;
}

bool ses__json_string_is(struct json_string string, const char *text)
{
    size_t len = strlen(text);
    bool is;

    if (!string.escaped) {
        is = string.raw.len == len && memcmp(string.raw.ptr, text, len) == 0;
    } else if (string.raw.len > len * 6) {
        is = false; /* no escape is longer than six bytes, so it cannot shrink to `text` */
    } else {
        char plain[256];
        size_t plain_len;
        is = string.raw.len <= sizeof plain && ses__json_unescape(string, plain, &plain_len) &&
             plain_len == len && memcmp(plain, text, len) == 0;
    }
    return is;
}

bool ses__json_add_text(struct buffer *buffer, struct json_string string)
{
    size_t len = 0;

    if (!string.escaped) {
        ses__buffer_add(buffer, string.raw.ptr, string.raw.len);
        return true;
    }
    if (!ses__buffer_reserve(buffer, string.raw.len))
        return true; /* it has failed, and says so */
    bool ok = ses__json_unescape(string, buffer->data + buffer->len, &len);
    buffer->len += ok ? len : 0;
    buffer->data[buffer->len] = '\0';
    return ok;
}

int ses__json_decode(struct json_string string, struct arena *arena, struct span *text)
{
    *text = string.raw;
    if (!string.escaped)
        return SES_OK;
    char *plain = ses__arena_new(arena, string.raw.len + 1);
    if (!plain)
        return SES_NOMEM;
    text->ptr = plain;
    if (!ses__json_unescape(string, plain, &text->len))
        return SES_RANGE;
    plain[text->len] = '\0';
    return SES_OK;
}

/* --------------------------------------------------------------------------------------------- values */

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
    bool ok;

    switch (type) {
    case JSON_STRING:
        ok = ses__json_read_string(reader, &string);
        break;
    case JSON_NUMBER:
        ok = skip_number(reader);
        break;
    case JSON_BOOL:
        ok = skip_word(reader, *reader->at == 't' ? "true" : "false");
        break;
    case JSON_NULL:
        ok = skip_word(reader, "null");
        break;
    default:
        ok = refuse(reader, reader->at,
                    reader->at < reader->end ? "expected a JSON value"
                                             : "the text ends where a value is expected");
        break;
    }
    return ok;
}

/* The containers inside the value that ses__json_skip walks over: one bit each, set for an object. */
struct nesting {
    uint64_t objects[(JSON_MAX_DEPTH + 63) / 64];
    unsigned depth;
};

static bool nesting_push(struct nesting *nesting, bool object)
{
    uint64_t bit = UINT64_C(1) << (nesting->depth % 64);
    uint64_t *word = &nesting->objects[nesting->depth / 64];
    *word = object ? *word | bit : *word & ~bit;
    nesting->depth++;
    return true;
}

static bool nesting_is_object(const struct nesting *nesting)
{
    unsigned top = nesting->depth - 1;
    return nesting->objects[top / 64] >> (top % 64) & 1;
}

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
        bool object = nesting_is_object(nesting);
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

    if (reader->depth + nesting->depth >= JSON_MAX_DEPTH)
        return refuse(reader, reader->at, TOO_DEEP);
    reader->at++;
    skip_space(reader);
    if (reader->at < reader->end && *reader->at == (object ? '}' : ']')) {
        reader->at++;
        return false;
    }
    nesting_push(nesting, object);
    return !object || skip_key(reader, &key);
}

bool ses__json_skip(struct json_reader *reader, struct span *value)
{
    struct nesting nesting;
    bool due = true;

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
    if (reader->depth >= JSON_MAX_DEPTH)
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

int ses__json_check_within(const char *text, size_t len, unsigned depth, struct span *value, ses_error *error)
{
    struct json_reader reader;
    int code = SES_OK;

    ses__json_start(&reader, text, len);
    reader.depth = depth;
    if (!ses__json_skip(&reader, value) || !ses__json_finish(&reader))
        code = ses__json_error(&reader, error);
    if (code == SES_LIMIT && depth > 0)
        ses__error_prefix(error, "with the %u levels around it in an event, ", depth);
    return code;
}

int ses__json_check(const char *text, size_t len, ses_error *error)
{
    return ses__json_check_within(text, len, 0, NULL, error);
}

int ses__json_start_object(struct json_reader *reader, struct span text, const char *what, ses_error *error)
{
    ses__json_start(reader, text.ptr, text.len);
    if (ses__json_peek(reader) == JSON_OBJECT)
        return SES_OK;
    int code = ses__json_check(text.ptr, text.len, error);
    return code == SES_OK ? ses__error_at(error, SES_INVALID, 0, "%s must be a JSON object", what) : code;
}
