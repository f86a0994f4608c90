#include "html/page/markdown_inline.h"

#include <string.h>

enum { DEPTH_MAX = 4 /* of emphasis within emphasis */, MARKS = 7 };

static const struct mark {
    const char *bytes;
    const char *tag;
} marks[MARKS] = {{"``", "code"}, {"`", "code"}, {"**", "strong"}, {"__", "strong"},
                  {"~~", "s"},    {"*", "em"},   {"_", "em"}};

/*
 * A walk over one text. If the end of a kind of emphasis was not found, it is not searched for again, so that
 * each byte is visited only a few times.
 */
struct inline_walk {
    struct page *page;
    const char *begin;
    const char *end;
    int depth;
    bool none[MARKS];
    bool no_link;
};

static void put_inline(struct page *page, const char *begin, const char *end, int depth);

static bool is_word(char byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (unsigned char)byte >= 0x80;
}

static bool is_space(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n';
}

static bool has_mark(const struct inline_walk *walk, const char *at, const char *bytes)
{
    const size_t len = strlen(bytes);
    return (size_t)(walk->end - at) >= len && memcmp(at, bytes, len) == 0;
}

/* A single mark within a word, as in a_b_c or 2*3*4, is plain text. */
static bool parts_words(const struct mark *mark, char before, char after)
{
    return mark->bytes[1] != '\0' || !is_word(before) || !is_word(after);
}

static bool can_open(const struct inline_walk *walk, const char *at, const struct mark *mark)
{
    const char *inside = at + strlen(mark->bytes);

    if (!has_mark(walk, at, mark->bytes) || inside == walk->end || *inside == mark->bytes[0])
        return false;
    return *mark->bytes == '`' ||
           (!is_space(*inside) && parts_words(mark, at > walk->begin ? at[-1] : ' ', *inside));
}

static bool can_close(const struct inline_walk *walk, const char *at, const struct mark *mark)
{
    const char *after = at + strlen(mark->bytes);

    if (!has_mark(walk, at, mark->bytes) || (after < walk->end && *after == mark->bytes[0]) ||
        at[-1] == mark->bytes[0])
        return false;
    return *mark->bytes == '`' ||
           (!is_space(at[-1]) && parts_words(mark, at[-1], after < walk->end ? *after : ' '));
}

/* The end of the span that the mark at `at` begins, or NULL if it begins none. */
static const char *find_close(struct inline_walk *walk, const char *at, size_t index)
{
    const struct mark *mark = &marks[index];

    if (walk->none[index] || !can_open(walk, at, mark))
        return NULL;
    for (const char *close = at + strlen(mark->bytes) + 1; close < walk->end; close++)
        if (can_close(walk, close, mark))
            return close;
    walk->none[index] = true;
    return NULL;
}

/* Puts the span that begins here and returns its end, or NULL if none begins here. */
static const char *put_marked(struct inline_walk *walk, const char *at)
{
    for (size_t i = 0; i < MARKS; i++) {
        const char *close = find_close(walk, at, i);
        const size_t len = strlen(marks[i].bytes);
        if (!close)
            continue;
        page_print(walk->page, "<%s>", marks[i].tag);
        if (*marks[i].bytes == '`')
            page_shown(walk->page, at + len, (size_t)(close - at) - len);
        else
            put_inline(walk->page, at + len, close, walk->depth + 1);
        page_print(walk->page, "</%s>", marks[i].tag);
        return close + len;
    }
    return NULL;
}

/* The first occurrence of either byte, or NULL. */
static const char *find_either(const char *at, const char *end, char one, char other)
{
    while (at < end && *at != one && *at != other)
        at++;
    return at < end ? at : NULL;
}

/* "[text](address)", where neither contains brackets of its own kind. */
static const char *put_link(struct inline_walk *walk, const char *at)
{
    const char *close = walk->no_link ? NULL : find_either(at + 1, walk->end, '[', ']');

    walk->no_link = !close;
    if (!close || *close != ']' || walk->end - close < 3 || close[1] != '(')
        return NULL;
    const char *last = find_either(close + 2, walk->end, '(', ')');
    if (!last || *last != ')')
        return NULL;
    put_inline(walk->page, at + 1, close, walk->depth + 1);
    page_puts(walk->page, " <span class=\"address\">(");
    page_shown(walk->page, close + 2, (size_t)(last - close - 2));
    page_puts(walk->page, ")</span>");
    return last + 1;
}

static bool is_escape(const struct inline_walk *walk, const char *at)
{
    return *at == '\\' && walk->end - at > 1 && strchr("\\`*_[]()#+-.!|>~", at[1]) && at[1] != '\0';
}

static void put_inline(struct page *page, const char *begin, const char *end, int depth)
{
    struct inline_walk walk = {.page = page, .begin = begin, .end = end, .depth = depth};
    const char *plain = begin; /* the text that has not been put yet */
    const char *at = begin;

    while (depth < DEPTH_MAX) {
        while (at < end && !strchr("\\`*_~[", *at))
            at++;
        if (at == end)
            break;
        page_shown(page, plain, (size_t)(at - plain));
        plain = at;
        const char *next = is_escape(&walk, at) ? NULL
                           : *at == '['         ? put_link(&walk, at)
                                                : put_marked(&walk, at);
        if (next)
            plain = at = next;
        else if (is_escape(&walk, at)) {
            plain = at + 1;
            at += 2;
        } else {
            at++;
        }
    }
    page_shown(page, plain, (size_t)(end - plain));
}

void markdown_inline_put(struct page *page, const char *text, size_t len)
{
    put_inline(page, text, text + len, 0);
}
