/* The handle: a snapshot of one session, and its current invocation. */
#ifndef SESLITE_SESSION_SESSION_H
#define SESLITE_SESSION_SESSION_H

#include "model/snapshot.h"
#include "session/store.h"
#include "storage/door.h"

struct ses_session {
    ses_store *store;
    unsigned references; /* the handle itself, and each ses__session_retain */
    bool closed;
    const char *app; /* in the snapshot's arena, as the next two */
    const char *user;
    const char *id;
    struct snapshot snapshot;
    char *invocation; /* the current invocation; NULL: none */
    char *place;      /* the text that ses_session_place returned last */
};

/* Begins a public call on a handle: clears the error. MISUSE for NULL and for a closed handle. */
SESLITE_PRIVATE int ses__session_check(const ses_session *session, ses_error *error);
/* The same for a call that needs its store. */
SESLITE_PRIVATE int ses__session_enter(const ses_session *session, ses_error *error);

/* Makes a handle that shows nothing yet. `key` is copied. */
SESLITE_PRIVATE int ses__session_new(ses_store *store, const ses_key *key, ses_session **session,
                                     ses_error *error);
/* Makes a handle that shows the snapshot. It takes the snapshot over, unless the snapshot is still there. */
SESLITE_PRIVATE int ses__session_adopt(ses_store *store, const ses_key *key, struct snapshot *snapshot,
                                       ses_session **session, ses_error *error);
SESLITE_PRIVATE ses_key ses__session_key(const ses_session *session);

#endif
