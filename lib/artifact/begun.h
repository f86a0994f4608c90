/* Parts of calls that have begun (see session/handle.h). */
#ifndef SESLITE_ARTIFACT_BEGUN_H
#define SESLITE_ARTIFACT_BEGUN_H

#include "base/common.h"
#include "seslite_artifact.h"

/* Opens the version to which the address of an artifact leads, as ses_artifact_open does; the version in the
 * options is not used. INVALID: it is not the address of an artifact of the session or its user. */
SESLITE_PRIVATE int ses__begun_artifact_open(ses_store *store, const ses_key *key, struct span uri,
                                             const ses_artifact_open_options *options,
                                             ses_artifact **artifact, ses_error *error);
/* ses_artifact_read. */
SESLITE_PRIVATE int ses__begun_artifact_read(ses_artifact *artifact, int64_t offset, char *buffer,
                                             size_t capacity, size_t *len, ses_error *error);

#endif
