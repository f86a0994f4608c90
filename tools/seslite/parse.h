/* Reads the command line by the tables. */
#ifndef PARSE_H
#define PARSE_H

#include "command.h"

/* Returns EXIT_OK, or the exit code after printing the error. */
int parse(struct run *run, int argc, char **argv);

#endif
