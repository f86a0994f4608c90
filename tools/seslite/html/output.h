/* Where the page goes: standard output, or a file that is complete or not there at all. */
#ifndef HTML_OUTPUT_H
#define HTML_OUTPUT_H

#include <stdio.h>

#include "command.h"

struct output {
    FILE *file;
    const char *path; /* NULL: standard output, or what is no regular file */
    char *temporary;  /* the file that becomes `path` when it is complete */
};

/* EXIT_OK, or it was said why not. */
int output_open(struct output *output, const struct run *run);
/* Closes it. If `status` is EXIT_OK the file gets its name, otherwise it is removed. Gives the status, or that of what
 * failed. */
int output_close(struct output *output, int status);

#endif
