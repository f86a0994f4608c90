/*
 * A file that is whole or not there: it is written in a temporary file beside it, of mode 0600, flushed, and only then put in
 * its place. A signal that ends the program removes the temporary file.
 */
#ifndef FOREIGN_EXPORT_FILE_H
#define FOREIGN_EXPORT_FILE_H

#include "base/common.h"
#include "text.h"

struct export_file {
    const char *path;
    struct text temporary;
    int fd;
};

/* EXISTS: there is one, and it is not to be replaced. CANTOPEN, IO. */
int export_file_begin(struct export_file *file, const char *path, bool replace, ses_error *error);
int export_file_write(struct export_file *file, const char *data, size_t len, ses_error *error);
/* Puts it in its place if the code is SES_OK, and else removes it. Gives the code, or why that failed. */
int export_file_end(struct export_file *file, bool replace, int code, ses_error *error);

#endif
