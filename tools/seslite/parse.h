/* Reads the command line by the tables. */
#ifndef PARSE_H
#define PARSE_H

#include "command.h"

/* Returns EXIT_OK, or the exit code after printing the error. */
int parse(struct run *run, int argc, char **argv);

/* The meaning that the beginning of a command line gives to its next word. */
struct unfinished {
    size_t option; /* whose value it is; otherwise OPTION_COUNT */
    bool options_end;
};

/* Reads the beginning of a command line. Returns true if something valid can follow. */
bool parse_unfinished(struct run *run, int count, char **words, struct unfinished *next);
/* True if the option may be given here: to every command, or to this one. */
bool parse_knows(const struct run *run, size_t option);

#endif
