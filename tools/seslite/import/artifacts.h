/* Imports a folder of artifacts. */
#ifndef IMPORT_ARTIFACTS_H
#define IMPORT_ARTIFACTS_H

#include "import/report.h"

/* Imports those that --app, --user and --session select, into the open store. If `writes` is false it only
 * finds out what would be rejected. Returns a code of the library. */
int artifacts_import(struct run *run, const char *path, bool writes, const ses_import_options *options,
                     struct import_report *report, ses_error *error);

#endif
