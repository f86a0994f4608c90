/* The input that a command stores: a file, or standard input. */
#ifndef WRITE_INPUT_H
#define WRITE_INPUT_H

#include "command.h"
#include "text/text.h"

/* More than this is refused. */
enum { INPUT_MAX_MIB = 64 };

/* The name of the input in messages: the path, or "standard input" for "-". */
const char *input_name(const char *path);
/* Opens it. Returns EXIT_OK, or prints why it cannot be opened. */
int input_open(struct run *run, const char *path, int *fd);
void input_close(int fd);
/* Reads all of it. Returns EXIT_OK, or prints why it cannot be read. The text is not NULL afterwards. */
int input_read(struct run *run, const char *path, struct text *input);

#endif
