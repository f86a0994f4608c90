#ifndef SESLITE_AGENT_TEMPLATE_ARTIFACT_H
#define SESLITE_AGENT_TEMPLATE_ARTIFACT_H

#include "base/common.h"

/* Reads an artifact of the session, or of its user, as a ses_artifact_reader does. */
SESLITE_PRIVATE int ses__template_artifact(const ses_session *session, const char *name, char **text,
                                           size_t *len, ses_error *error);

#endif
