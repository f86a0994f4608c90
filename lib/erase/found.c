/* Replaces the pieces of texts that the caller's function finds. */
#include "erase/erase.h"

#include "base/error.h"
#include "json/base64.h"
#include "json/writer.h"

/* Asks the caller's function: 1 and the next piece, or 0. */
static int find_piece(const struct redaction *asked, struct span text, size_t from, size_t *begin,
                      size_t *end, ses_error *error)
{
    ses_error own;

    ses__error_clear(&own);
    const int found = asked->find(asked->find_context, text.ptr, text.len, from, begin, end, &own);
    return ses__error_called(error, found, 1, &own, "finds what is to be redacted");
}

int ses__found_in(struct redacting *run, struct span text, bool *found, ses_error *error)
{
    size_t begin = 0;
    size_t end = 0;
    const bool looks = run->asked->find && text.len > 0;
    const int code = looks ? find_piece(run->asked, text, 0, &begin, &end, error) : 0;

    *found = code > 0;
    return code < 0 ? code : SES_OK;
}

/* Adds the text to the buffer, with the pieces replaced. */
static int add_replaced(const struct redaction *asked, struct buffer *out, struct span text, bool *any,
                        ses_error *error)
{
    size_t from = 0;
    size_t begin = 0;
    size_t end = 0;
    int found = 0;

    *any = false;
    while (from < text.len && (found = find_piece(asked, text, from, &begin, &end, error)) > 0) {
        if (begin < from || end <= begin || end > text.len)
            return ses__error_set(error, SES_MISUSE,
                                  "redact options: find gave a piece without bytes, or outside of the text");
        while (begin > from && ((unsigned char)text.ptr[begin] & 0xc0) == 0x80) /* whole characters */
            begin--;
        while (end < text.len && ((unsigned char)text.ptr[end] & 0xc0) == 0x80)
            end++;
        ses__buffer_add(out, text.ptr + from, begin - from);
        ses__buffer_add(out, asked->plain.ptr, asked->plain.len);
        from = end;
        *any = true;
    }
    if (*any)
        ses__buffer_add(out, text.ptr + from, text.len - from);
    return found < 0 ? found : SES_OK;
}

int ses__built_take(struct redacting *run, size_t start, struct span *text, ses_error *error)
{
    struct buffer *built = &run->built;

    text->len = built->len - start;
    text->ptr = built->failed ? NULL : ses__arena_text(&run->arena, built->data + start, text->len);
    ses__buffer_take_back(built, start);
    return text->ptr ? SES_OK : ses__error_nomem(error);
}

/* Adds a token of the JSON text to what is built: a string, or a number. */
static int add_token(struct redacting *run, struct span token, struct span number, bool *any,
                     ses_error *error)
{
    const bool is_string = token.ptr[0] == '"';
    struct span text = token;
    bool found = false;

    run->plain.len = 0;
    if (is_string) {
        ses__json_add_replaced(&run->plain, ses__json_string_of(token));
        text = (struct span){run->plain.data ? run->plain.data : "", run->plain.len};
    }
    if (run->plain.failed)
        return ses__error_nomem(error);
    struct buffer replaced;
    ses__buffer_init(&replaced, run->asked->allocator);
    int code = add_replaced(run->asked, &replaced, text, &found, error);
    if (code == SES_OK && replaced.failed)
        code = ses__error_nomem(error);
    if (code == SES_OK && found && !is_string && number.ptr)
        ses__buffer_add(&run->built, number.ptr, number.len);
    else if (code == SES_OK && found)
        ses__json_add_string(&run->built, replaced.data, replaced.len);
    else if (code == SES_OK)
        ses__buffer_add(&run->built, token.ptr, token.len);
    ses__buffer_free(&replaced);
    *any |= found;
    return code;
}

int ses__found_add(struct redacting *run, struct span value, struct span number, bool *any, ses_error *error)
{
    const size_t start = run->built.len;
    const char *const end = value.ptr + value.len;
    int code = SES_OK;

    *any = false;
    for (const char *at = value.ptr; at < end && code == SES_OK;) {
        const struct span token = ses__json_token_at(at, end);
        if (token.len > 0)
            code = add_token(run, token, number, any, error);
        else
            ses__buffer_add(&run->built, at, 1);
        at += token.len > 0 ? token.len : 1;
    }
    if (code == SES_OK && run->built.failed)
        code = ses__error_nomem(error);
    *any = *any && code == SES_OK &&
           !ses__span_is((struct span){run->built.data + start, run->built.len - start}, value);
    return code;
}

int ses__found_replace(struct redacting *run, struct span value, struct span *after, ses_error *error)
{
    const size_t start = run->built.len;
    bool any = false;
    const int code = ses__found_add(run, value, (struct span){NULL, 0}, &any, error);

    *after = value;
    if (any)
        return ses__built_take(run, start, after, error);
    ses__buffer_take_back(&run->built, start);
    return code;
}

int ses__found_add_data(struct redacting *run, struct span value, bool *any, ses_error *error)
{
    struct buffer *built = &run->built;
    struct buffer bytes;
    struct buffer replaced;
    size_t len = 0;

    *any = false;
    ses__buffer_init(&bytes, run->asked->allocator);
    ses__buffer_init(&replaced, run->asked->allocator);
    ses__json_add_replaced(&bytes, ses__json_string_of(value));
    const bool is_base64 =
        bytes.len > 0 && ses__base64_decode((struct span){bytes.data, bytes.len}, bytes.data, &len);
    int code = bytes.failed ? ses__error_nomem(error)
               : is_base64  ? add_replaced(run->asked, &replaced, (struct span){bytes.data, len}, any, error)
                            : ses__found_add(run, value, (struct span){NULL, 0}, any, error);
    if (code == SES_OK && replaced.failed)
        code = ses__error_nomem(error);
    if (code == SES_OK && is_base64 && *any) {
        const size_t encoded = ses__base64_len(replaced.len);
        ses__buffer_add(built, "\"", 1);
        if (ses__buffer_reserve(built, encoded + 1)) {
            ses__base64_encode(built->data + built->len, replaced.data, replaced.len);
            built->len += encoded;
        }
        ses__buffer_add(built, "\"", 1);
    } else if (code == SES_OK && is_base64) {
        ses__buffer_add(built, value.ptr, value.len);
    }
    ses__buffer_free(&replaced);
    ses__buffer_free(&bytes);
    return code;
}
