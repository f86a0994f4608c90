/* What the program prints: data on stdout, words on stderr. */
#ifndef OUT_H
#define OUT_H

#include "command.h"
#include "text.h"

enum colour { COLOUR_NONE, COLOUR_DIM, COLOUR_BOLD, COLOUR_RED, COLOUR_GREEN, COLOUR_YELLOW, COLOUR_CYAN };

/* The columns of the terminal that stdout is; SIZE_MAX: it is none. */
size_t out_width(void);
/* Is stdout a terminal? */
bool out_is_terminal(void);
/* Writes to stdout what is clean already. */
void out_text(const char *text, size_t len);
void out_puts(const char *text);
void out_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same in a colour, where there are colours. */
void out_coloured(enum colour colour, const char *text, size_t len);
/* Writes what is buffered. Gives EXIT_OK, or says why that cannot be done. */
int out_flush(void);

/* Says a line on stderr, clean, after "seslite: ". */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same without that. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Says the line and how to get help. Gives EXIT_USAGE. */
int say_usage(const struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Says the message of the call that failed. Gives the exit code. */
int fail(struct run *run);
/* The exit code that a code of the library means. */
int exit_code_of(int code);

/* "1 event", "2 events", of any word that takes an s. It lives until the fourth call from now. */
const char *counted(int64_t count, const char *word);

#endif
