/* What kind of file system a file is on. */
#ifndef FILE_SYSTEM_H
#define FILE_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>

/* Writes its name, or "" where it cannot be known. Gives whether it is one of a network. */
bool file_system_name(const char *path, char *name, size_t capacity);

#endif
