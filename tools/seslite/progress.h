/* A bar on stderr for what takes longer than a second, if stderr is a terminal. There is one at a time. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdint.h>

/* Begins; `what` is a word such as "searching". */
void progress_begin(const char *what);
/* How far it is. Draws at most ten times a second. A total of 0 or less is not known. */
void progress_set(int64_t done, int64_t total);
/* The same as a function that the library calls. Returns 0: go on. */
int progress_tell(void *context, int64_t done, int64_t total);
/* Takes the bar away until it is drawn again: something else is going to be printed. */
void progress_hide(void);
/* Ends. */
void progress_end(void);

#endif
