/* Looks into texts, and adds to the page what is found. */
#include "erase/find/find.h"

#include <strings.h>

#include "base/error.h"
#include "base/utf8.h"
#include "json/base64.h"
#include "json/reader.h"

enum { TEXT_BEFORE = 60, TEXT_AFTER = 200 };

/* 1 and the first byte of what is found; 0: nothing is. */
static int find_piece_in(const struct find *find, struct span text, size_t *begin, ses_error *error)
{
    ses_error own;
    const struct span wanted = find->text;
    const bool ignores_case = (find->options->flags & SES_FIND_IGNORE_CASE) != 0;
    size_t end = 0;

    if (!wanted.ptr) {
        ses__error_clear(&own);
        const int found =
            find->options->find(find->options->find_context, text.ptr, text.len, 0, begin, &end, &own);
        if (found > 0 && (*begin >= end || end > text.len))
            return ses__error_set(error, SES_MISUSE,
                                  "find options: find gave a piece without bytes, or outside of the text");
        return ses__error_called(error, found, 1, &own, "finds a text");
    }
    for (size_t at = 0; at + wanted.len <= text.len; at++) {
        if ((ignores_case ? strncasecmp(text.ptr + at, wanted.ptr, wanted.len)
                          : memcmp(text.ptr + at, wanted.ptr, wanted.len)) == 0) {
            *begin = at;
            return 1;
        }
    }
    return 0;
}

static const char *copy_name(struct arena *arena, const char *name, bool *failed)
{
    const char *copy = name ? ses__arena_text(arena, name, strlen(name)) : NULL;

    *failed = *failed || (name && !copy);
    return copy;
}

/* Keeps what is around the piece, in whole characters. */
static void keep_around(struct arena *arena, struct span text, size_t begin, ses_finding *finding,
                        bool *failed)
{
    size_t from = begin > TEXT_BEFORE ? begin - TEXT_BEFORE : 0;
    size_t to = text.len - begin > TEXT_AFTER ? begin + TEXT_AFTER : text.len;

    while (from > 0 && from < begin && ((unsigned char)text.ptr[from] & 0xc0) == 0x80)
        from++;
    while (to < text.len && ((unsigned char)text.ptr[to] & 0xc0) == 0x80)
        to++;
    if (!ses__utf8_valid(text.ptr + from, to - from))
        return;
    finding->text = ses__arena_text(arena, text.ptr + from, to - from);
    finding->text_len = to - from;
    finding->text_found = begin - from;
    *failed = *failed || !finding->text;
}

static int add_finding(struct find *find, const ses_finding *what, struct span text, size_t begin,
                       ses_error *error)
{
    ses_findings *page = find->page;
    ses_finding finding = *what;
    bool failed = !LIST_GROW(&find->store->allocator, &page->found);

    finding.app = copy_name(&page->arena, what->app, &failed);
    finding.user = copy_name(&page->arena, what->user, &failed);
    finding.session = copy_name(&page->arena, what->session, &failed);
    finding.name = copy_name(&page->arena, what->name, &failed);
    keep_around(&page->arena, text, begin, &finding, &failed);
    if (failed)
        return ses__error_nomem(error);
    page->found.items[page->found.count++] = finding;
    return SES_OK;
}

int ses__find_in_bytes(struct find *find, const ses_finding *what, struct span bytes, ses_error *error)
{
    size_t begin = 0;

    find->bytes_left -= (int64_t)bytes.len;
    const int code = bytes.len > 0 ? find_piece_in(find, bytes, &begin, error) : 0;
    return code > 0 ? add_finding(find, what, bytes, begin, error) : code;
}

/* ------------------------------------------------------------------------------------------------- JSON */

/* Looks into a token, and into the bytes of one that is base64. */
static int find_in_token(struct find *find, const ses_finding *what, struct span token, bool is_data,
                         ses_error *error)
{
    const size_t count = find->page->found.count;
    struct span text = token;
    size_t len = 0;

    if (token.ptr[0] == '"') {
        find->plain.len = 0;
        ses__json_add_replaced(&find->plain, ses__json_string_of(token));
        if (find->plain.failed)
            return ses__error_nomem(error);
        text = (struct span){find->plain.data ? find->plain.data : "", find->plain.len};
    }
    int code = ses__find_in_bytes(find, what, text, error);
    if (code == SES_OK && is_data && find->page->found.count == count && find->plain.len > 0 &&
        ses__base64_decode((struct span){find->plain.data, find->plain.len}, find->plain.data, &len))
        code = ses__find_in_bytes(find, what, (struct span){find->plain.data, len}, error);
    return code;
}

int ses__find_in_json(struct find *find, const ses_finding *what, struct span json, ses_error *error)
{
    static const struct span data = {"\"data\"", 6};
    const char *const end = json.ptr + json.len;
    const size_t count = find->page->found.count;
    bool is_data = false; /* the string after this name */
    int code = SES_OK;

    for (const char *at = json.ptr; at < end && code == SES_OK && find->page->found.count == count;) {
        const struct span token = ses__json_token_at(at, end);
        if (token.len > 0) {
            code = find_in_token(find, what, token, is_data, error);
            is_data = ses__span_is(token, data);
        }
        at += token.len > 0 ? token.len : 1;
    }
    return code;
}

static int find_in_member(struct find *find, const ses_finding *what, const struct state_kinds *kinds,
                          struct json_string name, struct span value, ses_error *error)
{
    const size_t prefix = strlen(kinds->prefix);
    ses_finding finding = *what;
    struct buffer plain;
    int code = SES_OK;

    ses__buffer_init(&plain, &find->store->allocator);
    ses__buffer_add(&plain, kinds->prefix, prefix);
    ses__json_add_replaced(&plain, name);
    ses__buffer_add(&plain, "", 1);
    if (plain.failed)
        code = ses__error_nomem(error);
    finding.name = plain.data;
    finding.kind = kinds->key;
    if (code == SES_OK)
        code = ses__find_in_bytes(find, &finding, (struct span){plain.data + prefix, plain.len - prefix - 1},
                                  error);
    finding.kind = kinds->value;
    if (code == SES_OK)
        code = ses__find_in_json(find, &finding, value, error);
    ses__buffer_free(&plain);
    return code;
}

int ses__find_in_state(struct find *find, const ses_finding *what, struct state_kinds kinds, struct span json,
                       ses_error *error)
{
    struct json_reader reader;
    struct json_string name;
    struct span value;
    int code = SES_OK;

    ses__json_start(&reader, json.ptr, json.len);
    (void)ses__json_enter(&reader);
    while (code == SES_OK && ses__json_member(&reader, &name) && ses__json_skip(&reader, &value))
        code = find_in_member(find, what, &kinds, name, ses__json_trim(value), error);
    return code;
}
