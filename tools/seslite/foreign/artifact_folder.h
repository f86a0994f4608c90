/*
 * A folder in which google-adk's FileArtifactService keeps artifacts:
 *
 *     apps/APP/users/USER/artifacts/PATH/versions/N/{FILE,metadata.json}
 *     apps/APP/users/USER/sessions/SESSION/artifacts/PATH/versions/N/{FILE,metadata.json}
 *
 * PATH is the name of the artifact, and FILE its last part. The writer of the folder is not trusted: no link
 * in it is followed, and the names and places in metadata.json are not read.
 */
#ifndef FOREIGN_ARTIFACT_FOLDER_H
#define FOREIGN_ARTIFACT_FOLDER_H

#include <stdbool.h>

#include "base/common.h"
#include "foreign/foreign.h"

/* A version. Everything in it is valid during the visit. */
struct folder_artifact {
    const char *app;
    const char *user;
    const char *session; /* NULL: the artifact is the user's */
    const char *name;    /* without "user:" */
    int64_t version;
    int fd; /* its bytes, a regular file at its beginning */
    int64_t bytes;
    bool described;           /* there is a metadata.json; otherwise the members below are empty */
    const char *mime_type;    /* NULL: it is a text */
    const char *display_name; /* or NULL */
    struct span metadata;     /* an object; ptr is NULL if it is empty */
    int64_t created_us;       /* or FOREIGN_NO_TIME */
};

/* Calls `visit` for each version, the versions of an artifact in order. If one cannot be read, `code` and
 * `error` say why, and it has no fd. A negative code that it returns ends the walk. */
typedef int visit_folder_artifact(void *context, const struct folder_artifact *artifact, int code,
                                  const ses_error *error);

/* True if the path is a folder. */
bool is_folder(const char *path);
/* Fails with NOTASTORE if this is not such a folder. */
int artifact_folder_check(const char *path, ses_error *error);
/* `*links` becomes the number of links, which were left out. */
int artifact_folder_walk(const char *path, visit_folder_artifact *visit, void *context, int64_t *links,
                         ses_error *error);

#endif
