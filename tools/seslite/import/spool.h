/* Stores input that can be read only once in a file, so that it can be read again. */
#ifndef IMPORT_SPOOL_H
#define IMPORT_SPOOL_H

#include "seslite.h"

/*
 * Copies a pipe to its end into an unlinked file in TMPDIR or /var/tmp, and sets *file to it; the caller
 * closes it. For a regular file, *file is `from` itself.
 */
int spool_input(int from, int *file, ses_error *error);

#endif
