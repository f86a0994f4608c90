/* Shared by the export formats. */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include "command.h"
#include "formats/write.h"

struct export
{
    struct run *run;
    const char *format;
    const char *path; /* NULL for standard output */
    int64_t sessions;
    int64_t events;
    int64_t keys;
    int64_t artifacts; /* versions */
    int64_t damaged;   /* sessions, or other parts, that --skip left out */
    struct writing writing;
};

/* With --skip, says that a session is left out if the last call of the library failed because of damage, and
 * returns EXIT_OK. Otherwise prints the failure and returns its exit code. */
int export_fail(struct export *export, const ses_key *key);

/* Reports what was written and what the format cannot hold. Returns the exit code. */
int export_report(struct export *export);

/* The formats. Each writes the sessions that --app, --user and --session select, and returns an exit code. */
int export_sqlite(struct export *export);
int export_sessions(struct export *export);
int export_vertex(struct export *export);
int export_markdown(struct export *export);
int export_lines(struct export *export);
/* Writes the artifacts of the same sessions, and of their users, into the folder `into`, as google-adk's
 * FileArtifactService keeps them. Without a folder, counts those that the format leaves out. */
int export_artifacts(struct export *export, struct artifact_tree *into);

#endif
