/* The report of an import: for each file what was imported, what was rejected, and what the file did not
 * contain. */
#ifndef IMPORT_REPORT_H
#define IMPORT_REPORT_H

#include "formats/formats.h"
#include "output/json.h"

struct import_report {
    struct run *run;
    const char *file;
    const char *format; /* for --json */
    const char *words;
    const char *not_in_file; /* or NULL */
    ses_import_report counts;
    /* Versions of artifacts in a folder, and the links there, which are not followed. */
    bool is_folder;
    int64_t artifacts_seen;
    int64_t artifacts; /* saved */
    int64_t artifacts_equal;
    int64_t artifacts_renumbered; /* of those that were saved */
    int64_t links;
    struct foreign_notes notes;
    struct json refusals; /* an array */
    struct json renames;
    struct json kept_keys;
    int64_t listed; /* in both arrays */
    int first_code; /* of the first rejection; 0 if there was none */
};

/* An item that was rejected or renamed. Names may be NULL. */
struct import_item {
    const char *app;
    const char *user;
    const char *session;
    const char *key; /* of a state */
    const char *artifact;
};

/* True if all rejections are to be found before anything is written: without --skip. */
bool import_is_checked(const struct run *run);
/* To be called after that, before anything is written. Returns a code of the library. */
int import_begin_writing(struct run *run);

void report_begin(struct import_report *report, struct run *run, const char *file);
/* Prints on stderr what was rejected and why, and keeps it for --json. */
void report_refused(struct import_report *report, const struct import_item *item, const ses_error *error);
void report_renamed(struct import_report *report, const struct import_item *item, const ses_key *here);
void report_key(struct import_report *report, const struct import_item *item, bool replaced);
/* Prints the report, or adds it to the rows with --json. Returns the exit code. */
int report_end(struct import_report *report, struct json_rows *rows);

#endif
