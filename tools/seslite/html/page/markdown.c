#include "html/page/markdown.h"

#include <string.h>

#include "html/page/markdown_inline.h"

/* A walk over the lines of a text that is ready to be shown. */
struct markdown {
    struct page *page;
    const char *at; /* the next line */
    const char *end;
    const char *line;
    size_t len; /* of the line without its end */
};

static bool next_line(struct markdown *lines)
{
    if (lines->at == lines->end)
        return false;
    const char *end = memchr(lines->at, '\n', (size_t)(lines->end - lines->at));
    lines->line = lines->at;
    lines->len = (size_t)((end ? end : lines->end) - lines->at);
    lines->at = end ? end + 1 : lines->end;
    return true;
}

static size_t blanks_before(const struct markdown *lines)
{
    size_t count = 0;

    while (count < lines->len && (lines->line[count] == ' ' || lines->line[count] == '\t'))
        count++;
    return count;
}

static bool is_blank(const struct markdown *lines)
{
    return blanks_before(lines) == lines->len;
}

static size_t run_of(const struct markdown *lines, size_t from, char byte)
{
    size_t count = 0;

    while (from + count < lines->len && lines->line[from + count] == byte)
        count++;
    return count;
}

/* ------------------------------------------------------------------------------------------- single lines */

/* The number of "#", or 0 if the line is not a heading. */
static size_t heading_level(const struct markdown *lines)
{
    const size_t level = run_of(lines, 0, '#');
    return level >= 1 && level <= 6 && level < lines->len && lines->line[level] == ' ' ? level : 0;
}

/* True for a rule: "---", "* * *". */
static bool is_rule(const struct markdown *lines)
{
    const size_t start = blanks_before(lines);
    size_t count = 0;

    if (start == lines->len || !strchr("-*_", lines->line[start]))
        return false;
    for (size_t i = start; i < lines->len; i++) {
        if (lines->line[i] == lines->line[start])
            count++;
        else if (lines->line[i] != ' ')
            return false;
    }
    return count >= 3;
}

static bool is_fence(const struct markdown *lines)
{
    const size_t start = blanks_before(lines);
    return run_of(lines, start, '`') >= 3 && !memchr(lines->line + start + 3, '`', lines->len - start - 3);
}

static bool closes_fence(const struct markdown *lines)
{
    const size_t start = blanks_before(lines);
    size_t at = start + run_of(lines, start, '`');

    if (at - start < 3)
        return false;
    while (at < lines->len && lines->line[at] == ' ')
        at++;
    return at == lines->len;
}

static bool is_quote(const struct markdown *lines)
{
    return lines->len > 0 && lines->line[0] == '>';
}

/* The length of "- " or "12. " after leading blanks, or 0 if the line is not a list item. */
static size_t marker_length(const struct markdown *lines)
{
    const size_t start = blanks_before(lines);
    size_t at = start;

    while (at < lines->len && at - start < 9 && lines->line[at] >= '0' && lines->line[at] <= '9')
        at++;
    if (at == lines->len || !strchr(at > start ? ".)" : "-*+", lines->line[at]))
        return 0;
    return at + 1 < lines->len && lines->line[at + 1] == ' ' ? at + 2 - start : 0;
}

static void put_inline(struct markdown *lines, const char *text, size_t len)
{
    markdown_inline_put(lines->page, text, len);
}

static void put_heading(struct markdown *lines, size_t level)
{
    page_print(lines->page, "<h4 class=\"level%zu\">", level);
    put_inline(lines, lines->line + level + 1, lines->len - level - 1);
    page_puts(lines->page, "</h4>\n");
}

static void put_item(struct markdown *lines, size_t marker)
{
    const size_t start = blanks_before(lines);
    const size_t depth = start / 2 < 4 ? start / 2 : 4;
    const bool bullet = strchr("-*+", lines->line[start]) != NULL;

    page_print(lines->page, "<p class=\"item depth%zu\"><span class=\"marker\">", depth);
    if (bullet)
        page_puts(lines->page, "\xe2\x80\xa2");
    else
        page_shown(lines->page, lines->line + start, marker - 1);
    page_puts(lines->page, " </span>");
    put_inline(lines, lines->line + start + marker, lines->len - start - marker);
    page_puts(lines->page, "</p>\n");
}

/* ------------------------------------------------------------------------------------------ several lines */

static void put_code(struct markdown *lines)
{
    bool first = true;

    page_puts(lines->page, "<pre>");
    while (next_line(lines) && !closes_fence(lines)) {
        page_puts(lines->page, first ? "" : "\n");
        page_shown(lines->page, lines->line, lines->len);
        first = false;
    }
    page_puts(lines->page, "</pre>\n");
}

/* Advances to the next line if it is of the same kind. */
static bool goes_on(struct markdown *lines, bool (*is)(const struct markdown *lines))
{
    struct markdown after = *lines;

    if (!next_line(&after) || !is(&after))
        return false;
    *lines = after;
    return true;
}

static void put_quote(struct markdown *lines)
{
    page_puts(lines->page, "<blockquote>");
    for (bool first = true; first || goes_on(lines, is_quote); first = false) {
        const size_t mark = lines->len > 1 && lines->line[1] == ' ' ? 2 : 1;
        page_puts(lines->page, first ? "" : "\n");
        put_inline(lines, lines->line + mark, lines->len - mark);
    }
    page_puts(lines->page, "</blockquote>\n");
}

static bool is_row(const struct markdown *lines)
{
    return memchr(lines->line, '|', lines->len) != NULL && !is_blank(lines);
}

/* True for "|---|:-:|", which follows the first row. */
static bool is_separator(const struct markdown *lines)
{
    bool dash = false;

    for (size_t i = 0; i < lines->len; i++) {
        if (!strchr("|-: \t", lines->line[i]) || !lines->line[i])
            return false;
        dash = dash || lines->line[i] == '-';
    }
    return dash && is_row(lines);
}

static bool is_table(const struct markdown *lines)
{
    struct markdown after = *lines;
    return is_row(lines) && next_line(&after) && is_separator(&after);
}

static bool is_text(const struct markdown *lines)
{
    return !is_table(lines) && !is_blank(lines) && !heading_level(lines) && !is_rule(lines) &&
           !is_fence(lines) && !is_quote(lines) && !marker_length(lines);
}

static void put_paragraph(struct markdown *lines)
{
    page_puts(lines->page, "<p>");
    put_inline(lines, lines->line, lines->len);
    while (goes_on(lines, is_text)) {
        page_puts(lines->page, "\n");
        put_inline(lines, lines->line, lines->len);
    }
    page_puts(lines->page, "</p>\n");
}

/* ------------------------------------------------------------------------------------------------- tables */

static void put_cell(struct markdown *lines, const char *cell, size_t len, const char *name)
{
    while (len > 0 && *cell == ' ') {
        cell++;
        len--;
    }
    while (len > 0 && cell[len - 1] == ' ')
        len--;
    page_print(lines->page, "<%s>", name);
    put_inline(lines, cell, len);
    page_print(lines->page, "</%s>", name);
}

/* The bars at the beginning and end of a row separate no cells. */
static void put_row(struct markdown *lines, const char *name)
{
    size_t at = blanks_before(lines);
    size_t end = lines->len;

    at += at < end && lines->line[at] == '|';
    while (end > at && (lines->line[end - 1] == ' ' || lines->line[end - 1] == '\t'))
        end--;
    end -= end > at && lines->line[end - 1] == '|';
    page_puts(lines->page, "<tr>");
    for (const char *bar; at <= end; at += (size_t)(bar - (lines->line + at)) + 1) {
        bar = at < end ? memchr(lines->line + at, '|', end - at) : NULL;
        bar = bar ? bar : lines->line + end;
        put_cell(lines, lines->line + at, (size_t)(bar - (lines->line + at)), name);
    }
    page_puts(lines->page, "</tr>\n");
}

static void put_table(struct markdown *lines)
{
    page_puts(lines->page, "<table>");
    put_row(lines, "th");
    (void)next_line(lines); /* the separator */
    while (goes_on(lines, is_row))
        put_row(lines, "td");
    page_puts(lines->page, "</table>\n");
}

/* ---------------------------------------------------------------------------------------------- the whole */

static void put_block(struct markdown *lines)
{
    const size_t level = heading_level(lines);
    const size_t marker = marker_length(lines);

    if (is_blank(lines))
        return;
    if (is_fence(lines))
        put_code(lines);
    else if (level > 0)
        put_heading(lines, level);
    else if (is_rule(lines))
        page_puts(lines->page, "<hr>\n");
    else if (marker > 0)
        put_item(lines, marker);
    else if (is_quote(lines))
        put_quote(lines);
    else if (is_table(lines))
        put_table(lines);
    else
        put_paragraph(lines);
}

void markdown_put(struct page *page, const char *text, size_t len)
{
    struct text shown = {NULL, 0, 0};

    text_add(&shown, "", 0);
    view_text(&shown, &page->redactor, text, len);
    struct markdown lines = {.page = page, .at = shown.data, .end = shown.data + shown.len};
    while (next_line(&lines))
        put_block(&lines);
    text_free(&shown);
}
