#include "json/writer.h"

#include <string.h>

/* Gives the escape of a byte that a string cannot hold as it is. Returns its length, or 0 for any other
 * byte. */
static size_t escape_byte(unsigned char byte, char escape[6])
{
    static const char hex[] = "0123456789abcdef";
    const char *named = byte < 0x20 ? memchr("\bb\ff\nn\rr\tt", byte, 10) : NULL;

    if (named || byte == '"' || byte == '\\') {
        escape[0] = '\\';
        escape[1] = named ? named[1] : (char)byte;
        return 2;
    }
    if (byte >= 0x20)
        return 0;
    memcpy(escape, "\\u00", 4);
    escape[4] = hex[byte >> 4];
    escape[5] = hex[byte & 15];
    return 6;
}

/* Returns where the next piece goes. */
static size_t write_piece(char *to, size_t at, const char *piece, size_t len)
{
    if (to && len)
        memcpy(to + at, piece, len);
    return at + len;
}

size_t ses__json_write_string(char *to, const char *text, size_t len)
{
    const char *run = text; /* a run of bytes that stay as they are */
    const char *end = text + len;
    size_t at = write_piece(to, 0, "\"", 1);

    for (const char *p = text; p < end; p++) {
        char escape[6];
        size_t escape_len = escape_byte((unsigned char)*p, escape);
        if (escape_len > 0) {
            at = write_piece(to, at, run, (size_t)(p - run));
            at = write_piece(to, at, escape, escape_len);
            run = p + 1;
        }
    }
    at = write_piece(to, at, run, (size_t)(end - run));
    return write_piece(to, at, "\"", 1);
}

void ses__json_add_string(struct buffer *buffer, const char *text, size_t len)
{
    if (ses__buffer_reserve(buffer, ses__json_write_string(NULL, text, len))) {
        buffer->len += ses__json_write_string(buffer->data + buffer->len, text, len);
        buffer->data[buffer->len] = '\0';
    }
}

void ses__json_add_named(struct buffer *buffer, const char *words, struct span text)
{
    ses__buffer_add_word(buffer, words);
    ses__json_add_string(buffer, text.ptr, text.len);
}

void ses__json_add_member(struct buffer *buffer, size_t start, struct span name, struct span value)
{
    ses__buffer_add(buffer, ",", buffer->len > start ? 1 : 0);
    ses__json_add_string(buffer, name.ptr, name.len);
    ses__buffer_add(buffer, ":", 1);
    ses__buffer_add(buffer, value.ptr, value.len);
}

/* -------------------------------------------------------------------------------------------------- edits */

void ses__edits_free(struct edits *edits, const ses_allocator *allocator)
{
    ses__memory_free(allocator, edits->items);
    *edits = (struct edits){0};
}

bool ses__edits_add(struct edits *edits, const ses_allocator *allocator, struct edit edit)
{
    if (!LIST_GROW(allocator, edits))
        return false;
    edits->items[edits->count++] = edit;
    return true;
}

char *ses__edits_apply(const struct edits *edits, struct arena *arena, struct span text, size_t *len)
{
    size_t total = text.len;
    for (size_t i = 0; i < edits->count; i++)
        total = total - (edits->items[i].end - edits->items[i].start) + edits->items[i].text.len;

    char *out = ses__arena_new(arena, total + 1);
    char *to = out;
    size_t from = 0;
    if (!out)
        return NULL;
    for (size_t i = 0; i < edits->count; i++) {
        const struct edit *edit = &edits->items[i];
        memcpy(to, text.ptr + from, edit->start - from);
        to += edit->start - from;
        if (edit->text.len)
            memcpy(to, edit->text.ptr, edit->text.len);
        to += edit->text.len;
        from = edit->end;
    }
    memcpy(to, text.ptr + from, text.len - from);
    out[total] = '\0';
    *len = total;
    return out;
}
