#include "json/reader.h"

#include <string.h>

#include "base/error.h"
#include "json/scalar.h"

static const char *const TOO_DEEP = "nested more than 1000 levels deep";
static const char *const OBJECT_GOES_ON = "expected , or } in an object";
static const char *const ARRAY_GOES_ON = "expected , or ] in an array";

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
        return ses__json_refuse(reader, reader->at, "expected a quoted key");
    if (!ses__json_read_string(reader, key))
        return false;
    skip_space(reader);
    if (reader->at >= reader->end || *reader->at != ':')
        return ses__json_refuse(reader, reader->at, "expected a colon after a key");
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
            return ses__json_refuse(reader, reader->at, object ? OBJECT_GOES_ON : ARRAY_GOES_ON);
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
        return ses__json_refuse(reader, reader->at, TOO_DEEP);
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
    return ses__json_refuse(reader, reader->end, "the text ends within a value");
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
            due = !ses__json_skip_scalar(reader, type);
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
        return ses__json_refuse(reader, reader->at, TOO_DEEP);
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
            return ses__json_refuse(reader, reader->at, due);
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
    return reader->at == reader->end ||
           ses__json_refuse(reader, reader->at, "unexpected text after the JSON value");
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
