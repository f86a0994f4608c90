/* Completion of command lines: the scripts of the shells ask the program, which answers from its tables. */
#ifndef COMPLETE_COMPLETE_H
#define COMPLETE_COMPLETE_H

#include "command.h"

/*
 * `seslite complete -- WORDS...`: prints what the last word can become, one candidate per line, with a
 * description after a tab if there is one. The words are those after the program's name, without quotes.
 * Prints no errors and ends after two seconds at the latest. Returns EXIT_OK, or EXIT_FAILED if the word is
 * the name of a file, which a shell completes itself.
 */
int complete(struct run *run, int count, char **words);

#endif
