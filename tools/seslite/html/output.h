/* Where the page goes: standard output, or a file that is whole or not there. */
#ifndef HTML_OUTPUT_H
#define HTML_OUTPUT_H

#include <stdio.h>

#include "command.h"
#include "whole_file.h"

struct output {
    struct run *run;
    FILE *file;
    struct whole_file whole; /* if it is no standard output */
};

/* EXIT_OK, or it was said why not. */
int output_open(struct output *output, struct run *run);
/* Closes it. If `status` is EXIT_OK the file gets its name, otherwise it is removed. Gives the status, or that of what
 * failed. */
int output_close(struct output *output, int status);

#endif
