/* Input that can be read only once, kept in a file, so that it can be read again. */
#ifndef IMPORT_SPOOL_H
#define IMPORT_SPOOL_H

#include "seslite.h"

/*
 * Copies a pipe to its end into a file without a name, in TMPDIR or /var/tmp, and gives that in *file, to be closed by the
 * caller; of a regular file *file is `from` itself.
 */
int spool_input(int from, int *file, ses_error *error);

#endif
