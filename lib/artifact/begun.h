/* Parts of calls that have begun (see session/handle.h). */
#ifndef SESLITE_ARTIFACT_BEGUN_H
#define SESLITE_ARTIFACT_BEGUN_H

#include "base/limits.h"
#include "base/memory.h"
#include "seslite_artifact.h"

/* ses_artifact_open, of this version of that name. */
SESLITE_PRIVATE int ses__begun_artifact_open(ses_store *store, const ses_key *key, struct span name,
                                             int64_t version, const ses_artifact_open_options *options,
                                             ses_artifact **artifact, ses_error *error);
/* Opens the version to which an address leads. INVALID: it is not the address of an artifact of the session
 * or its user. */
SESLITE_PRIVATE int ses__begun_artifact_follow(ses_store *store, const ses_key *key, struct span uri,
                                               const ses_artifact_open_options *options,
                                               ses_artifact **artifact, ses_error *error);
/* ses_artifact_read. */
SESLITE_PRIVATE int ses__begun_artifact_read(ses_artifact *artifact, int64_t offset, char *buffer,
                                             size_t capacity, size_t *len, ses_error *error);

/* ---- inline.c */

/* The artifacts that replace references to them. */
struct artifact_inlining {
    ses_store *store;
    const ses_key *key;
    const struct limits *limits;
    int64_t left;       /* bytes of artifacts that may still be put in place */
    struct arena arena; /* of the addresses */
};
/* Adds the event's content to `out`, with inline data in place of references. Adds nothing if all of them
 * stay. */
SESLITE_PRIVATE int ses__begun_artifacts_inline(struct artifact_inlining *inlining, struct span content,
                                                struct span event, struct buffer *out, ses_error *error);

#endif
