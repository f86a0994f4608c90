#include "json/string.h"

#include <string.h>

#include "base/utf8.h"

struct json_string ses__json_string_of(struct span value)
{
    return (struct json_string){{value.ptr + 1, value.len - 2}, memchr(value.ptr, '\\', value.len) != NULL};
}

static int hex_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    digit = (char)(digit | 0x20); /* lower case */
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

int32_t ses__json_hex4(const char *p)
{
    int32_t value = 0;
    for (int i = 0; i < 4 && value >= 0; i++) {
        int digit = hex_value(p[i]);
        value = digit < 0 ? -1 : value * 16 + digit;
    }
    return value;
}

/* Decodes one escape at `p` into `out`, and moves both on. False: a lone surrogate. */
static bool unescape_one(const char **p, const char *end, char **out)
{
    static const char escapes[] = "\"\\/bfnrt";
    static const char meanings[] = "\"\\/\b\f\n\r\t";

    if ((*p)[1] != 'u') {
        *(*out)++ = meanings[strchr(escapes, (*p)[1]) - escapes];
        *p += 2;
        return true;
    }
    uint32_t character = (uint32_t)ses__json_hex4(*p + 2);
    *p += 6;
    if (character >= 0xD800 && character <= 0xDBFF) {
        int32_t low = end - *p >= 6 && (*p)[0] == '\\' && (*p)[1] == 'u' ? ses__json_hex4(*p + 2) : -1;
        if (low < 0xDC00 || low > 0xDFFF)
            return false;
        character = 0x10000 + ((character - 0xD800) << 10) + ((uint32_t)low - 0xDC00);
        *p += 6;
    } else if (character >= 0xDC00 && character <= 0xDFFF) {
        return false;
    }
    *out += ses__utf8_encode(character, *out);
    return true;
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
    const struct span wanted = {text, strlen(text)};
    char plain[256];
    size_t len;

    if (!string.escaped)
        return ses__span_is(string.raw, wanted);
    /* No escape is longer than six bytes, so a longer string cannot shrink to `text`. */
    return string.raw.len <= wanted.len * 6 && string.raw.len <= sizeof plain &&
           ses__json_unescape(string, plain, &len) && ses__span_is((struct span){plain, len}, wanted);
}

bool ses__json_add_text(struct buffer *buffer, struct json_string string)
{
    size_t len = 0;

    if (!string.escaped) {
        ses__buffer_add(buffer, string.raw.ptr, string.raw.len);
        return true;
    }
    if (!ses__buffer_reserve(buffer, string.raw.len))
        return true; /* the buffer has failed, and reports it itself */
    bool ok = ses__json_unescape(string, buffer->data + buffer->len, &len);
    buffer->len += ok ? len : 0;
    buffer->data[buffer->len] = '\0';
    return ok;
}

/* Writes it to `out`, with a NUL after it, and returns its length. */
static size_t unescape_replacing(struct json_string string, char *out)
{
    const char *p = string.raw.ptr;
    const char *const end = p + string.raw.len;
    char *to = out;

    while (p < end) {
        if (*p != '\\')
            *to++ = *p++;
        else if (!unescape_one(&p, end, &to))
            to += ses__utf8_encode(0xfffd, to);
    }
    *to = '\0';
    return (size_t)(to - out);
}

void ses__json_add_replaced(struct buffer *buffer, struct json_string string)
{
    if (ses__buffer_reserve(buffer, string.raw.len))
        buffer->len += unescape_replacing(string, buffer->data + buffer->len);
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

int ses__json_decode_shown(struct json_string string, struct arena *arena, struct span *text)
{
    const int code = ses__json_decode(string, arena, text);

    if (code != SES_RANGE)
        return code;
    char *plain = ses__arena_new(arena, string.raw.len + 1);
    if (!plain)
        return SES_NOMEM;
    *text = (struct span){plain, unescape_replacing(string, plain)};
    return SES_OK;
}

struct span ses__json_token_at(const char *at, const char *end)
{
    const char *last = at;

    if (*at == '"') {
        for (last++; last < end && *last != '"'; last++)
            last += *last == '\\' && last + 1 < end;
        last = last < end ? last + 1 : end;
    } else if (*at == '-' || (*at >= '0' && *at <= '9')) {
        while (last < end && memchr("0123456789-+.eE", *last, 15))
            last++;
    }
    return (struct span){at, (size_t)(last - at)};
}
