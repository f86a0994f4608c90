/* Growable texts. */
#ifndef FORMATS_TEXT_H
#define FORMATS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero is an empty text. If memory runs out the program ends, so that callers need no check. */
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

/* Zeroed memory and a copy of a text; they and the next one end the program if memory runs out. */
void *allocate(size_t bytes);
char *copy_text(const char *text);
/* Returns the items, of `size` bytes each, with room for one more than `count`. */
void *enlarge(void *items, size_t count, size_t *capacity, size_t size);
/* Prints that memory has run out, and ends the program. */
_Noreturn void end_without_memory(void);

#endif
