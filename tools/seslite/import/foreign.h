/* A file of another program, into the store. */
#ifndef IMPORT_FOREIGN_H
#define IMPORT_FOREIGN_H

#include "import/report.h"

/* Of the app, user and session that run->key names. Gives the code of what ended it; what was refused was told. */
int foreign_import(struct run *run, struct opened_file *opened, const ses_import_options *options,
                   struct import_report *report, ses_error *error);

#endif
