/* The destination of the page: standard output, or a file that is either complete or does not exist. */
#ifndef HTML_PAGE_OUTPUT_H
#define HTML_PAGE_OUTPUT_H

#include <stdio.h>

#include "command.h"
#include "files/whole_file.h"

struct output {
    struct run *run;
    FILE *file;
    struct whole_file whole; /* unless it is standard output */
};

/* Returns EXIT_OK, or prints the error. */
int output_open(struct output *output, struct run *run);
/* Closes the output. If `status` is EXIT_OK the file gets its name, otherwise it is removed. Returns the
 * status, or that of a failure here. */
int output_close(struct output *output, int status);

#endif
