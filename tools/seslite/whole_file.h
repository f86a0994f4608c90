/*
 * A file that is whole or not there: it is written in a temporary file beside it, of mode 0600, flushed, and only then put in
 * its place. A signal that ends the program removes the temporary file. There is one at a time.
 *
 * If the name is a link, the file that it leads to is made or replaced. What is no regular file (a pipe, a device) is written
 * as it is.
 */
#ifndef WHOLE_FILE_H
#define WHOLE_FILE_H

#include "seslite.h"
#include "text.h"

struct whole_file {
    char *path;
    struct text temporary; /* empty: it is no regular file */
    bool replaces;
    int fd; /* -1: there is none */
};

enum whole_content { WHOLE_TEXT, WHOLE_DATABASE };

/* EXISTS: there is one, and it is not to be replaced; or it is a database, and this is none; or it is a store. CANTOPEN, IO,
 * FULL. */
int whole_file_begin(struct whole_file *file, const char *path, enum whole_content content, bool replaces,
                     ses_error *error);
int whole_file_write(struct whole_file *file, const char *data, size_t len, ses_error *error);
/* Puts it in its place if the code is SES_OK, and else removes it. Gives the code, or why that failed. */
int whole_file_end(struct whole_file *file, int code, ses_error *error);

#endif
