/* The kind of file system that a file is on, and who else has the file open. */
#ifndef FILES_FILE_SYSTEM_H
#define FILES_FILE_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>

/* Writes its name, or "" if unknown. Returns true for a network file system. */
bool file_system_name(const char *path, char *name, size_t capacity);
/* True if another process is seen to hold a lock on the file, as SQLite does while it has a file with a log
 * open. Linux alone shows that. */
bool file_is_locked_by_others(const char *path);

#endif
