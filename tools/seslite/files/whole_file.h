/*
 * A file that is either complete or does not exist: it is written as a temporary file of mode 0600 in the
 * same folder, flushed, and only then moved into place. A signal that ends the program removes the temporary
 * file. There is only one at a time.
 *
 * If the name is a symbolic link, its target is created or replaced. Anything that is not a regular file (a
 * pipe, a device) is written directly.
 */
#ifndef FILES_WHOLE_FILE_H
#define FILES_WHOLE_FILE_H

#include "seslite.h"
#include "text/text.h"

struct whole_file {
    char *path;
    struct text temporary; /* empty if the target is not a regular file */
    bool replaces;
    int fd; /* -1 if none is open */
};

enum whole_content { WHOLE_TEXT, WHOLE_DATABASE };

/* Begins a file. Fails with EXISTS if the file exists and `replaces` is false, if it is a store, or if it is
 * a database and the new content is not. Also CANTOPEN, IO, FULL. */
int whole_file_begin(struct whole_file *file, const char *path, enum whole_content content, bool replaces,
                     ses_error *error);
int whole_file_write(struct whole_file *file, const char *data, size_t len, ses_error *error);
/* Moves the file into place if the code is SES_OK, otherwise removes it. Returns the code, or that of a
 * failure here. */
int whole_file_end(struct whole_file *file, int code, ses_error *error);

#endif
