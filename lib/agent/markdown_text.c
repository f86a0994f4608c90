/* Texts within a Markdown document, whose blocks end where the text ends. */
#include "agent/markdown.h"

#include <string.h>
#include <strings.h>

/* A text, as it is added line by line. */
struct markdown_text {
    struct buffer *out;
    char fence; /* the character of the open fence; 0: none is open */
    size_t fence_len;
    size_t fence_indent;
    bool is_after_blank; /* the line before is empty, or there is none */
};

static void add_repeated(struct buffer *out, char byte, size_t count)
{
    while (count-- > 0)
        ses__buffer_add(out, &byte, 1);
}

static size_t count_first(struct span text, char byte)
{
    size_t count = 0;

    while (count < text.len && text.ptr[count] == byte)
        count++;
    return count;
}

static struct span after(struct span text, size_t bytes)
{
    return (struct span){text.ptr + bytes, text.len - bytes};
}

static bool is_blank(struct span text)
{
    size_t at = 0;

    while (at < text.len && (text.ptr[at] == ' ' || text.ptr[at] == '\t'))
        at++;
    return at == text.len;
}

/* ------------------------------------------------------------------------------------------------- fences */

static void close_fence(struct markdown_text *text)
{
    add_repeated(text->out, ' ', text->fence_indent);
    add_repeated(text->out, text->fence, text->fence_len);
    ses__buffer_add_word(text->out, "\n");
    text->fence = 0;
}

/*
 * Adds the line if it is part of the open fence. An indented fence may be in a list item, which ends at a
 * line with less indentation, or in none. It is closed before such a line, so that every renderer sees it end
 * there.
 */
static bool pass_fenced(struct markdown_text *text, struct span line)
{
    const size_t indent = count_first(line, ' ');
    const size_t run = count_first(after(line, indent), text->fence);
    const bool closes = indent <= 3 && run >= text->fence_len && is_blank(after(line, indent + run));

    if (closes || (!is_blank(line) && indent < text->fence_indent)) {
        close_fence(text);
        text->is_after_blank = false;
        return closes;
    }
    ses__buffer_add(text->out, line.ptr, line.len);
    ses__buffer_add_word(text->out, "\n");
    return true;
}

static bool opens_fence(struct markdown_text *text, struct span line, size_t indent)
{
    const char mark = line.ptr[0];
    const size_t run = count_first(line, mark);

    if (run < 3 || (mark != '~' && (mark != '`' || memchr(line.ptr + run, '`', line.len - run))))
        return false;
    text->fence = mark;
    text->fence_len = run;
    text->fence_indent = indent;
    return true;
}

/* -------------------------------------------------------------------------------------------------- lines */

/* Returns the number of signs of a heading, or 0. */
static size_t heading_level(struct span line)
{
    const size_t level = count_first(line, '#');

    return level <= 6 && (level == line.len || line.ptr[level] == ' ' || line.ptr[level] == '\t') ? level : 0;
}

/* A line that makes a heading of the paragraph before it. */
static bool is_underline(struct span line)
{
    const size_t run = count_first(line, line.ptr[0]);

    return (line.ptr[0] == '=' || line.ptr[0] == '-') && is_blank(after(line, run));
}

/* Begins a block of HTML that goes on beyond empty lines: kinds 1 to 5 of the specification. */
static bool begins_long_html(struct span line)
{
    static const char *const names[] = {"script", "pre", "style", "textarea"};

    if (line.len < 2 || line.ptr[0] != '<')
        return false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (line.len > strlen(names[i]) && strncasecmp(line.ptr + 1, names[i], strlen(names[i])) == 0)
            return true;
    return line.ptr[1] == '!' || line.ptr[1] == '?';
}

static void markdown_add_line(struct markdown_text *text, struct span line)
{
    enum { DEEPEST = 6, SHIFT = 2 };
    const size_t indent = count_first(line, ' ');
    const struct span rest = after(line, indent);

    if (text->fence && pass_fenced(text, line))
        return;
    if (indent <= 3 && rest.len > 0) {
        const size_t level = heading_level(rest);
        /* An empty line ends the paragraph, or the block of HTML, in which this is not what it looks like. */
        if ((is_underline(rest) || opens_fence(text, rest, indent)) && !text->is_after_blank)
            ses__buffer_add_word(text->out, "\n");
        ses__buffer_add(text->out, line.ptr, indent);
        if (level > 0)
            add_repeated(text->out, '#', level + SHIFT <= DEEPEST ? SHIFT : DEEPEST - level);
        if (begins_long_html(rest))
            ses__buffer_add_word(text->out, "\\");
        ses__buffer_add(text->out, rest.ptr, rest.len);
    } else {
        ses__buffer_add(text->out, line.ptr, line.len);
    }
    ses__buffer_add_word(text->out, "\n");
    text->is_after_blank = is_blank(line);
}

void ses__markdown_text(struct buffer *out, struct span text)
{
    struct markdown_text own = {.out = out, .is_after_blank = true};

    while (text.len > 0) {
        size_t len = 0;
        while (len < text.len && text.ptr[len] != '\n' && text.ptr[len] != '\r')
            len++;
        markdown_add_line(&own, (struct span){text.ptr, len});
        if (len + 1 < text.len && text.ptr[len] == '\r' && text.ptr[len + 1] == '\n')
            len++;
        text = after(text, len < text.len ? len + 1 : len);
    }
    if (own.fence)
        close_fence(&own);
    ses__buffer_add_word(out, "\n");
}

/* ------------------------------------------------------------------------------------------ plain texts */

void ses__markdown_plain(struct buffer *out, struct span text)
{
    for (size_t i = 0; i < text.len; i++) {
        const char byte = text.ptr[i];
        if ((unsigned char)byte < ' ') {
            ses__buffer_add_word(out, " ");
            continue;
        }
        if (strchr("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", byte))
            ses__buffer_add_word(out, "\\");
        ses__buffer_add(out, &byte, 1);
    }
}

void ses__markdown_html(struct buffer *out, struct span text)
{
    for (size_t i = 0; i < text.len; i++) {
        const char byte = text.ptr[i];
        if (byte == '&')
            ses__buffer_add_word(out, "&amp;");
        else if (byte == '<')
            ses__buffer_add_word(out, "&lt;");
        else
            ses__buffer_add(out, (unsigned char)byte < ' ' ? " " : &byte, 1);
    }
}

void ses__markdown_code(struct buffer *out, const char *language, struct span code)
{
    size_t fence = 3;

    for (size_t i = 0; i < code.len; i++) {
        const size_t run = count_first(after(code, i), '`');
        if (run >= fence)
            fence = run + 1;
        i += run;
    }
    add_repeated(out, '`', fence);
    ses__buffer_add_word(out, language);
    ses__buffer_add_word(out, "\n");
    ses__buffer_add(out, code.ptr, code.len);
    if (code.len > 0 && code.ptr[code.len - 1] != '\n')
        ses__buffer_add_word(out, "\n");
    add_repeated(out, '`', fence);
    ses__buffer_add_word(out, "\n\n");
}
