/*
 * Opening a database of another program, so that nothing of it changes: no file is made beside it, its log is
 * not copied into it, and it is never written.
 *
 *  - A file with a rollback journal is opened for reading where it is. Its writers wait while it is read.
 *  - A file with a write-ahead log that a program has open (there is a -shm file) is opened for reading too.
 *    Nobody waits.
 *  - A file with a write-ahead log that is empty or not there is opened as immutable. foreign_changed tells if
 *    somebody has begun to write meanwhile, and is asked before each commit.
 *  - Otherwise SQLite would have to write to read it: a -wal without a -shm, a hot journal, a read-only folder.
 *    Then it is copied to a temporary folder, and the copy is opened.
 */
#ifndef FOREIGN_DATABASE_H
#define FOREIGN_DATABASE_H

#include "foreign/foreign.h"

struct foreign_database {
    sqlite3 *db;
    char *copy;   /* the temporary folder; NULL: none */
    bool watched; /* opened as immutable */
    char *path;
    int64_t stamp[4];
};

/* Opens it, and begins a read transaction. */
int foreign_open_database(const char *path, size_t most_bytes, struct foreign_database *database,
                          ses_error *error);
/* BUSY: it was opened as immutable, and has changed or is being written. */
int foreign_changed(const struct foreign_database *database, ses_error *error);
void foreign_close_database(struct foreign_database *database);

#endif
