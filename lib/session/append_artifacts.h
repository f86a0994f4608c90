/* The part of an append that saves artifacts together with its event. The room `artifact` does it, so that
 * programs without artifacts do not link it. */
#ifndef SESLITE_SESSION_APPEND_ARTIFACTS_H
#define SESLITE_SESSION_APPEND_ARTIFACTS_H

#include "session/session.h"

/* A ses_artifacts begins with this. */
struct append_artifacts {
    struct append_artifact_rows rows;
    /* Makes the text of the event with the versions that come next, which lives until the next call. To be
     * called again if others have saved versions meanwhile (rows.outrun). */
    int (*prepare)(struct append_artifacts *artifacts, const struct session_call *at,
                   const struct limits *limits, struct span event, struct span *text, ses_error *error);
};

#endif
