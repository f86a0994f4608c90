/* The key of a file, which is read from a descriptor: never from the command line, which others see. */
#ifndef FILES_KEY_H
#define FILES_KEY_H

#include <stdbool.h>

#include "seslite.h"

/* Reads SES_KEY_BYTES, or as many pairs of hexadecimal digits, to the end of the descriptor. A newline may
 * follow the digits. False: it has anything else. */
bool key_read(int fd, unsigned char key[SES_KEY_BYTES]);
void key_wipe(void *memory, size_t bytes);

#endif
