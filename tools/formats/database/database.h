/*
 * Opens a database of another program without changing anything: no file is created next to it, its WAL is
 * not checkpointed, and it is never written.
 *
 * - A file with a rollback journal is opened read-only in place. Its writers wait while it is read. - A file
 * with a write-ahead log that a program has open (a -shm file exists) is also opened read-only in place.
 * Nobody waits. - A file whose write-ahead log is empty or absent is opened as immutable. foreign_changed
 * detects if somebody has begun to write in the meantime, and is called before each commit. - In all other
 * cases (a -wal without a -shm, a hot journal, a read-only folder) SQLite would have to write in order to
 * read. The file is then copied to a temporary folder, and the copy is opened.
 */
#ifndef FORMATS_DATABASE_DATABASE_H
#define FORMATS_DATABASE_DATABASE_H

#include <sqlite3.h>

#include "formats/formats.h"

struct foreign_database {
    sqlite3 *db;
    char *copy;   /* the temporary folder, or NULL */
    bool watched; /* opened as immutable */
    char *path;
    int64_t stamp[4];
};

/* Opens the database and begins a read transaction. */
int foreign_open_database(const char *path, size_t max_bytes, struct foreign_database *database,
                          ses_error *error);
/* Returns BUSY if the database was opened as immutable and has changed or is being written. */
int foreign_changed(const struct foreign_database *database, ses_error *error);
void foreign_close_database(struct foreign_database *database);

#endif
