/* Texts cleaned for a terminal. */
#ifndef TEXT_TEXT_H
#define TEXT_TEXT_H

#include "formats/text.h"

enum lines {
    LINES_ONE, /* line breaks become blanks */
    LINES_KEEP
};

/*
 * Adds a text so that it cannot control a terminal: ESC becomes ^[, and other unreadable characters (C1
 * controls, overrides of direction, invisible ones) become <U+009B>. Invalid UTF-8 becomes U+FFFD.
 */
void text_add_clean(struct text *text, const char *more, size_t len, enum lines lines);
/* Does this for JSON: such characters become \u009b, which has the same meaning. */
void text_add_clean_json(struct text *text, const char *json, size_t len);

/* The number of columns that a clean text takes. */
size_t text_columns(const char *text, size_t len);
/* The number of bytes that fit into that many columns. */
size_t text_fitting(const char *text, size_t len, size_t columns);

/* Reads the next character of a text of at least one byte. Returns the number of bytes read; invalid UTF-8 is
 * one byte, read as U+FFFD. */
size_t text_next(const char *text, size_t len, uint32_t *character);

#endif
