/* The handle: a snapshot of one session, and its current invocation; and calls on a session. */
#ifndef SESLITE_SESSION_SESSION_H
#define SESLITE_SESSION_SESSION_H

#include "model/snapshot.h"
#include "session/store.h"
#include "storage/door.h"

struct ses_session {
    ses_store *store;
    unsigned references; /* the handle itself, and each ses__session_retain */
    bool closed;
    ses_key key; /* in the snapshot's arena */
    struct snapshot snapshot;
    char *invocation; /* the current invocation; NULL: none */
    char *place;      /* the text that ses_session_place returned last */
};

/* Makes a handle that shows nothing yet. `key` is copied. */
SESLITE_PRIVATE int ses__session_new(ses_store *store, const ses_key *key, ses_session **session,
                                     ses_error *error);
/* Makes a handle that shows the snapshot. It takes the snapshot over, unless the snapshot is still there. */
SESLITE_PRIVATE int ses__session_adopt(ses_store *store, const ses_key *key, struct snapshot *snapshot,
                                       ses_session **session, ses_error *error);

/* ---- calls with two forms: through a handle, or by key */

/* Must not be moved, because `ref` points into it. */
struct session_call {
    ses_store *store;
    ses_session *session;      /* NULL: by key */
    struct snapshot *snapshot; /* the handle's; NULL: by key */
    ses_key key;
    struct session_ref ref;
    /* The findings of ses__call_take_version. */
    bool anyway;
    bool checks_version;
    int64_t version;
};

/* Begins the call: checks the handle, or the key. Call ses__call_end only after success; it returns the
 * code that it is given. */
#define ses__call_on_handle(call, session, error) ses__call_on_handle_as((call), __func__, (session), (error))
#define ses__call_by_key(call, store, key, error) \
    ses__call_by_key_as((call), __func__, (store), (key), (error))
SESLITE_PRIVATE int ses__call_on_handle_as(struct session_call *call, const char *name, ses_session *session,
                                           ses_error *error);
SESLITE_PRIVATE int ses__call_by_key_as(struct session_call *call, const char *name, ses_store *store,
                                        const ses_key *key, ses_error *error);
/* Takes the flags SES_ANYWAY and SES_AT_VERSION, and the version that goes with them. A handle has its own.
 * MISUSE: a version was given for a handle, or together with the flag that ignores it. */
SESLITE_PRIVATE int ses__call_take_version(struct session_call *call, unsigned flags, int64_t version,
                                           const char *what, ses_error *error);
SESLITE_PRIVATE int ses__call_end(struct session_call *call, int code);

/* Takes a time of expiry from options. NULL leaves `*expires_us` as it is. INVALID: it is past, or out of
 * range. */
SESLITE_PRIVATE int ses__take_expiry(const int64_t *given, int64_t now_us, int64_t *expires_us,
                                     ses_error *error);

#endif
