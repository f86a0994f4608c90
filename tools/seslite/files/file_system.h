/* The kind of file system that a file is on. */
#ifndef FILES_FILE_SYSTEM_H
#define FILES_FILE_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>

/* Writes its name, or "" if unknown. Returns true for a network file system. */
bool file_system_name(const char *path, char *name, size_t capacity);

#endif
