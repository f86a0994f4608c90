/* Imports JSON lines and seslite stores, which are read as JSON lines. */
#ifndef IMPORT_LINES_H
#define IMPORT_LINES_H

#include "import/report.h"

/* Returns the code of ses_store_import. Rejections have been reported and are not in the message. */
int lines_import(struct run *run, const struct opened_file *opened, const ses_import_options *options,
                 struct import_report *report, ses_error *error);
/* Imports from the store `path` the sessions that `from` selects. */
int store_import(struct run *run, const char *path, const ses_key *from, const ses_import_options *options,
                 struct import_report *report, ses_error *error);

#endif
