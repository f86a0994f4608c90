/*
 * A new folder in which google-adk's FileArtifactService finds artifacts:
 *
 *     apps/APP/users/USER/artifacts/PATH/versions/N/{FILE,metadata.json}
 *     apps/APP/users/USER/sessions/SESSION/artifacts/PATH/versions/N/{FILE,metadata.json}
 *
 * PATH is the name of the artifact, without "user:", and FILE its last part. A name that would lead anywhere
 * else is refused. Each version is complete or absent: until it is, its folder is called .N.pending, which
 * the service and import pass over. Only the owner may read what is written.
 */
#ifndef EXPORT_ARTIFACT_TREE_H
#define EXPORT_ARTIFACT_TREE_H

#include <stdbool.h>

#include "seslite_artifact.h"
#include "text/text.h"

struct artifact_tree {
    const char *path;
    int top; /* folders */
    int apps;
    size_t name_max;
};

/* Makes the folder, if it is not there, and apps in it. Fails with EXISTS if that is there. */
int artifact_tree_begin(struct artifact_tree *tree, const char *path, ses_error *error);
/* If the export has failed, apps is removed unless something was written there. */
void artifact_tree_end(const struct artifact_tree *tree, bool failed);

/* Says why the service cannot keep an artifact of that name; NULL: it can. `name` is without "user:". */
const char *artifact_tree_fault(const struct artifact_tree *tree, const ses_key *key, const char *name);

/* A version that is being written. */
struct tree_version {
    const struct artifact_tree *tree;
    int versions; /* folders; -1: none */
    int folder;
    int fd;              /* of the bytes */
    struct text pending; /* the name of the folder */
    const char *file;    /* in the artifact's name */
};

/* Begins a version of an artifact whose name has no fault. To be ended if it returns SES_OK. */
int tree_version_begin(struct tree_version *version, const struct artifact_tree *tree, const ses_key *key,
                       const char *name, int64_t number, ses_error *error);
int tree_version_write(struct tree_version *version, const char *bytes, size_t len, ses_error *error);
/* Gives the version its name if the code is SES_OK, otherwise removes it. Returns the code, or that of a
 * failure here. */
int tree_version_end(struct tree_version *version, int code, const struct text *metadata, ses_error *error);

#endif
