/* A progress bar on stderr for operations that take longer than a second, if stderr is a terminal. There is
 * only one at a time. */
#ifndef OUTPUT_PROGRESS_H
#define OUTPUT_PROGRESS_H

#include <stdint.h>

/* Begins; `what` is a word such as "searching". */
void progress_begin(const char *what);
/* Sets the progress. Draws at most ten times a second. A total of 0 or less means unknown. */
void progress_set(int64_t done, int64_t total);
/* progress_set as a callback of the library. Returns 0, to continue. */
int progress_report(void *context, int64_t done, int64_t total);
/* Erases the bar before other output, until it is drawn again. */
void progress_hide(void);
/* Ends. */
void progress_end(void);

#endif
