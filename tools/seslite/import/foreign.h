/* Imports a file of another program into the store. */
#ifndef IMPORT_FOREIGN_H
#define IMPORT_FOREIGN_H

#include "import/report.h"

/* Imports the sessions that run->key selects. Returns the code that ended the import; rejections have been
 * reported. */
int foreign_import(struct run *run, struct opened_file *opened, const ses_import_options *options,
                   struct import_report *report, ses_error *error);

#endif
