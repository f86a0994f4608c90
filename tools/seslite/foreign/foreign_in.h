/* A file of another program, into the store. */
#ifndef FOREIGN_FOREIGN_IN_H
#define FOREIGN_FOREIGN_IN_H

#include "foreign/report.h"

/* Of the app, user and session that run->key names. Gives the code of what ended it; what was refused was told. */
int foreign_import(struct run *run, struct opened_file *opened, const ses_import_options *options,
                   struct import_report *report, ses_error *error);

#endif
