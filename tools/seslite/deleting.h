/* What goes before a deletion, and what is told after it. */
#ifndef DELETING_H
#define DELETING_H

#include "command.h"

/* May it be done? With --yes, or after the question was answered with yes on a terminal, it gives EXIT_OK. Otherwise it says
 * why not. The format makes the question, without its "?". */
int confirm(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Tells how many were deleted, "session" or "event"; with --dry-run how many would be. Gives EXIT_OK, or why it cannot. */
int tell_deleted(struct run *run, const char *word, int64_t count);
/* The same where no call tells before how many it will be: so many at most. */
int tell_at_most(struct run *run, const char *word, int64_t count);
/* After SES_MORE at the end, with --secure. */
void tell_log_kept(void);

#endif
