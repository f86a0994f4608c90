/* Bytes written to files. */
#ifndef FORMATS_BYTES_H
#define FORMATS_BYTES_H

#include <stdbool.h>
#include <stddef.h>

/* The code for an errno of a file that cannot be written. */
int file_code(int number);
/* Writes all bytes to a descriptor. Returns false on failure, with errno set. */
bool write_whole(int fd, const char *data, size_t len);

#endif
