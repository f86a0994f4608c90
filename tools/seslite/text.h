/* Texts that grow, and texts as a terminal may see them. */
#ifndef TEXT_H
#define TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Empty when it is all zero. Without memory the program ends, so that nobody has to look. */
struct text {
    char *data; /* ends in a NUL, unless it is NULL */
    size_t len;
    size_t capacity;
};

void text_add(struct text *text, const char *more, size_t len);
void text_puts(struct text *text, const char *more);
void text_print(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_clear(struct text *text);
void text_free(struct text *text);

enum lines {
    LINES_ONE, /* what ends a line becomes a blank */
    LINES_KEEP
};

/*
 * Adds a text so that it cannot drive a terminal: ESC becomes ^[, and other characters that are not for reading (C1, the
 * overrides of direction, what is invisible) become <U+009B>. What is not UTF-8 becomes U+FFFD.
 */
void text_add_clean(struct text *text, const char *more, size_t len, enum lines lines);
/* The same for JSON: such characters become \u009b, which means the same. */
void text_add_clean_json(struct text *text, const char *json, size_t len);

/* The number of columns that a clean text takes. */
size_t text_columns(const char *text, size_t len);
/* The bytes of as much as fits into that many columns. */
size_t text_fitting(const char *text, size_t len, size_t columns);

/* Takes the next character from a text of at least one byte. Gives the bytes taken; what is not UTF-8 is one of U+FFFD. */
size_t text_next(const char *text, size_t len, uint32_t *character);

/* malloc, which ends the program when there is no memory; and copies of a text. */
void *allocate(size_t bytes);
char *copy_text(const char *text);

#endif
