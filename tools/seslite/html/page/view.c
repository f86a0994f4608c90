#include "html/page/view.h"

#include <string.h>

#include "text/scan.h"

enum {
    LINE = 60,    /* values up to so many bytes are shown on one line */
    INDENTED = 40 /* levels: with deeper indents a small text could make a huge page */
};

struct view {
    struct text *text;
    const struct redactor *redactor;
    enum layout layout;
    bool empty;          /* the object or array has no members yet */
    bool named;          /* the value follows a name */
    size_t inline_depth; /* of the object with inline data, or 0 */
    bool inline_is_next; /* the last name was inlineData */
    struct text name;    /* the last one, decoded */
};

static void begin_line(struct view *view, size_t depth)
{
    if (view->layout == LAYOUT_LINES)
        text_print(view->text, "\n%*s", (int)(2 * (depth < INDENTED ? depth : INDENTED)), "");
}

/* Adds the separator before a value or a name: a comma, a new line. */
static void begin_item(struct view *view, size_t depth)
{
    if (view->named || depth == 0) {
        view->named = false;
        return;
    }
    if (!view->empty)
        text_puts(view->text, ",");
    begin_line(view, depth);
    view->empty = false;
}

static void end_level(struct view *view, size_t depth, const struct piece *piece)
{
    if (!view->empty)
        begin_line(view, depth);
    text_add(view->text, piece->text, piece->len);
    view->empty = false;
    if (depth < view->inline_depth)
        view->inline_depth = 0;
}

/* The lone surrogate whose bytes, written by scan_decode, are here, or 0. */
static unsigned surrogate_at(const char *bytes, size_t len)
{
    if (len < 3 || (unsigned char)bytes[0] != 0xed || (unsigned char)bytes[1] < 0xa0)
        return 0;
    return 0xd000 | ((unsigned char)bytes[1] & 0x3fU) << 6 | ((unsigned char)bytes[2] & 0x3fU);
}

/* Adds a text as the inside of a JSON string. */
static void add_quoted(struct text *text, const char *more, size_t len)
{
    struct text quoted = {NULL, 0, 0};

    for (size_t i = 0; i < len; i++) {
        unsigned char byte = (unsigned char)more[i];
        unsigned surrogate = surrogate_at(more + i, len - i);
        if (surrogate) {
            text_print(&quoted, "\\u%04x", surrogate);
            i += 2;
        } else if (byte == '"' || byte == '\\')
            text_print(&quoted, "\\%c", byte);
        else if (byte == '\n')
            text_puts(&quoted, "\\n");
        else if (byte < 0x20)
            text_print(&quoted, "\\u%04x", byte);
        else
            text_add(&quoted, more + i, 1);
    }
    text_add_clean_json(text, quoted.data, quoted.len);
    text_free(&quoted);
}

/* A string keeps its spelling unless a part of it is hidden. */
static void add_string(struct view *view, const struct piece *string)
{
    struct text decoded = {NULL, 0, 0};
    struct text shown = {NULL, 0, 0};

    if (view->redactor->count > 0)
        scan_decode(&decoded, string);
    if (redactor_add(view->redactor, &shown, decoded.data ? decoded.data : "", decoded.len)) {
        text_puts(view->text, "\"");
        add_quoted(view->text, shown.data, shown.len);
        text_puts(view->text, "\"");
    } else {
        text_add_clean_json(view->text, string->text, string->len);
    }
    text_free(&decoded);
    text_free(&shown);
}

static void add_other(struct view *view, const struct piece *piece)
{
    struct text shown = {NULL, 0, 0};
    bool hidden = redactor_add(view->redactor, &shown, piece->text, piece->len);

    if (hidden)
        text_puts(view->text, "\"" REDACTED "\"");
    else
        text_add(view->text, piece->text, piece->len);
    text_free(&shown);
}

static bool is_inline_data(const struct text *name)
{
    return strcmp(name->data, "inlineData") == 0 || strcmp(name->data, "inline_data") == 0;
}

/* Adds the name of a member, and a replacement if its value is not shown. */
static void add_name(struct view *view, struct scan *scan, const struct piece *name)
{
    struct piece value;

    text_clear(&view->name);
    scan_decode(&view->name, name);
    begin_item(view, scan->depth);
    add_string(view, name);
    text_puts(view->text, view->layout == LAYOUT_LINES ? ": " : ":");
    view->named = true;
    view->inline_is_next = is_inline_data(&view->name);
    if (redactor_hides(view->redactor, view->name.data, view->name.len)) {
        if (scan_value(scan, &value))
            text_puts(view->text, "\"" REDACTED "\"");
        view->named = false;
    } else if (view->inline_depth == scan->depth && strcmp(view->name.data, "data") == 0) {
        if (scan_value(scan, &value))
            text_print(view->text, "\"(%zu bytes of base64, not shown)\"", value.len > 2 ? value.len - 2 : 0);
        view->named = false;
    }
}

static void open_level(struct view *view, const struct scan *scan, const struct piece *piece)
{
    begin_item(view, scan->depth - 1);
    text_add(view->text, piece->text, piece->len);
    view->empty = true;
    if (view->inline_is_next)
        view->inline_depth = scan->depth;
    view->inline_is_next = false;
}

void view_json(struct text *text, const struct redactor *redactor, const char *json, size_t len,
               enum layout layout)
{
    struct view view = {.text = text, .redactor = redactor, .layout = layout, .empty = true};
    struct scan scan;
    struct piece piece;

    scan_begin(&scan, json, len);
    for (enum token token; (token = scan_next(&scan, &piece)) != TOKEN_END;) {
        if (token == TOKEN_OPEN) {
            open_level(&view, &scan, &piece);
        } else if (token == TOKEN_CLOSE) {
            end_level(&view, scan.depth, &piece);
        } else if (token == TOKEN_NAME) {
            add_name(&view, &scan, &piece);
        } else {
            begin_item(&view, scan.depth);
            view.inline_is_next = false;
            if (token == TOKEN_STRING)
                add_string(&view, &piece);
            else
                add_other(&view, &piece);
        }
    }
    text_add(text, "", 0);
    text_free(&view.name);
}

void view_value(struct text *text, const struct redactor *redactor, const char *json, size_t len)
{
    view_json(text, redactor, json, len, len > LINE ? LAYOUT_LINES : LAYOUT_LINE);
}

void view_name(struct text *text, const struct redactor *redactor, const char *name, size_t len)
{
    struct text shown = {NULL, 0, 0};

    (void)redactor_add(redactor, &shown, name, len);
    add_quoted(text, shown.data, shown.len);
    text_free(&shown);
}

void view_text(struct text *text, const struct redactor *redactor, const char *more, size_t len)
{
    struct text shown = {NULL, 0, 0};

    (void)redactor_add(redactor, &shown, more, len);
    text_add_clean(text, shown.data, shown.len, LINES_KEEP);
    text_free(&shown);
}
