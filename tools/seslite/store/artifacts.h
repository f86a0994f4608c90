/* The artifacts of a session or a user. */
#ifndef STORE_ARTIFACTS_H
#define STORE_ARTIFACTS_H

#include "output/json.h"
#include "text/text.h"

/* Sets run->key to whose artifacts are meant: the session of --session, otherwise the user's. Names that are
 * given in full are taken as they are, since artifacts may be stored of a session that is in no list. Returns
 * EXIT_OK, or prints the choices. */
int choose_artifacts(struct run *run);

/* Calls `visit` for the newest version of each artifact, or for each version of the one of that name, until
 * it returns something other than EXIT_OK. */
typedef int visit_artifact(void *context, const ses_artifact_info *info);
int each_artifact(struct run *run, const char *name, visit_artifact *visit, void *context);

/* Adds all that is known of a version. */
void artifact_json(struct json *json, const ses_artifact_info *info);
/* Adds its type and size in words: ", image/png, 1234 bytes". */
void artifact_type_words(struct text *text, const ses_artifact_info *info);

/* Calls `visit` for each artifact that the actions of an event say it saved, as google-adk writes them:
 * {"artifactDelta":{NAME:VERSION}}. A version that is not a number is -1. */
typedef void visit_saved(void *context, const struct text *name, int64_t version);
void each_saved_artifact(const ses_text *actions, visit_saved *visit, void *context);
/* Opens such a version, or what it refers to, of the chosen session. On failure returns NULL, and run->error
 * has the reason. */
ses_artifact *open_saved_artifact(struct run *run, const struct text *name, int64_t version);

#endif
