/* The confirmation before a deletion and the report after it. */
#ifndef OUTPUT_DELETING_H
#define OUTPUT_DELETING_H

#include "command.h"
#include "output/json.h"

/* Asks for confirmation. Returns EXIT_OK if it was given on a terminal or by --yes; otherwise prints why not
 * and returns the exit code. The format is the question without its "?". */
int confirm(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Reports how many were deleted, or with --dry-run would be. `word` is "session" or "event". Returns the exit
 * code. */
int report_deleted(struct run *run, const char *word, int64_t count);
/* Reports an upper bound, where the exact number is not known in advance. */
int report_at_most(struct run *run, const char *word, int64_t count);
/* The same with the receipt of the calls. */
int report_erased(struct run *run, const char *word, int64_t count, const ses_erased *erased);
/* Adds up the receipts of several calls; the last one says which forks are left. */
void erased_add(ses_erased *sum, const ses_erased *erased);
/* Adds the members of a receipt. */
void erased_json(struct json *json, const ses_erased *erased);
/* Prints what is left, if anything is. */
void note_left(const ses_erased *erased);
/* Reports that --secure ended with SES_MORE. */
void report_log_kept(void);

#endif
