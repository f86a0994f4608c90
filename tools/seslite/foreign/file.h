/* A file to import, recognized by its content. */
#ifndef FOREIGN_FILE_H
#define FOREIGN_FILE_H

#include "foreign/database.h"
#include "foreign/foreign.h"

enum opened_kind {
    OPENED_FOREIGN, /* a file of another program: `format` */
    OPENED_STORE,   /* a store of seslite */
    OPENED_LINES    /* JSON lines of seslite */
};

struct opened_file {
    enum opened_kind kind;
    const struct foreign_format *format;
    struct foreign_file file;
    struct foreign_database database;
    char *head;
    int64_t bytes; /* of the file; -1 if unknown */
};

/* Opens and recognizes the file. "-" is standard input, which can only be JSON lines. The address of a server
 * is a store, which is not opened here. Fails with NOTASTORE if the content is not recognized. */
int file_open(const char *path, bool zone_is_set, struct foreign_notes *notes, struct opened_file *opened,
              ses_error *error);
void file_close(struct opened_file *opened);

#endif
