/* Reads the command line by the tables. */
#ifndef PARSE_H
#define PARSE_H

#include "command.h"

/* Gives EXIT_OK, or the code with which the program ends, after it has said why. */
int parse(struct run *run, int argc, char **argv);

#endif
