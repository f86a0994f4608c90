/* The output of the program: data on stdout, messages on stderr. */
#ifndef OUTPUT_OUT_H
#define OUTPUT_OUT_H

#include "command.h"
#include "text/text.h"

enum colour { COLOUR_NONE, COLOUR_DIM, COLOUR_BOLD, COLOUR_RED, COLOUR_GREEN, COLOUR_YELLOW, COLOUR_CYAN };

/* The columns of the terminal on stdout, or SIZE_MAX if stdout is not a terminal. */
size_t out_width(void);
/* True if stdout is a terminal. */
bool out_is_terminal(void);
/* Writes a text that is already clean to stdout. */
void out_text(const char *text, size_t len);
void out_puts(const char *text);
void out_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Writes it in a colour if the terminal has colours. */
void out_coloured(enum colour colour, const char *text, size_t len);
/* Flushes stdout. Returns EXIT_OK, or prints why it failed. */
int out_flush(void);

/* Prints a cleaned line on stderr, after "seslite: ". */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints a cleaned line on stderr without the prefix. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints the line and how to get help. Returns EXIT_USAGE. */
int say_usage(const struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints the message of the call that failed. Returns the exit code. */
int fail(struct run *run);
/* The exit code for a code of the library. */
int exit_code_of(int code);

/* "1 event", "2 events": for any word with a plural in s. The text is valid until the fourth call after this
 * one. */
const char *counted(int64_t count, const char *word);

#endif
