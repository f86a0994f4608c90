/* What an import tells: of each file what was brought, what was refused, and what the file could not tell. */
#ifndef IMPORT_REPORT_H
#define IMPORT_REPORT_H

#include "foreign/file.h"
#include "json.h"

struct import_report {
    struct run *run;
    const char *file;
    const char *format; /* for --json */
    const char *words;
    const char *untold; /* or NULL */
    ses_import_report counts;
    struct foreign_notes notes;
    struct json refusals; /* an array */
    struct json renames;
    struct json kept_keys;
    int64_t listed; /* in these */
    int first_code; /* of what was refused first; 0: nothing was */
};

/* Something that was refused, or is here by another name. Names may be NULL. */
struct import_item {
    const char *app;
    const char *user;
    const char *session;
    const char *key;
};

void report_begin(struct import_report *report, struct run *run, const char *file);
/* Says on stderr what was refused and why, and keeps it for --json. */
void report_refused(struct import_report *report, const struct import_item *item, const ses_error *error);
void report_renamed(struct import_report *report, const struct import_item *item, const ses_key *here);
void report_key(struct import_report *report, const struct import_item *item, bool replaced);
/* Prints it, or adds it to the rows with --json. Gives the exit code of printing. */
int report_end(struct import_report *report, struct json_rows *rows);

#endif
