/* JSON lines, and stores of seslite, which are read as JSON lines. */
#ifndef IMPORT_LINES_H
#define IMPORT_LINES_H

#include "import/report.h"

/* Gives the code of ses_import; what was refused, and so was told, is not in the message. */
int lines_import(struct run *run, const struct opened_file *opened, const ses_import_options *options,
                 struct import_report *report, ses_error *error);
/* The same from the store `path`, of the app, user and session of `from`. */
int store_import(struct run *run, const char *path, const ses_key *from, const ses_import_options *options,
                 struct import_report *report, ses_error *error);

#endif
