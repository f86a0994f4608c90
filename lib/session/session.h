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
    char *invocation; /* the current one, or NULL */
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

/* The session that a call is about: ON(session) through its handle, AT(store, key) by its key. The public
 * function gives it, since a trace shows the name of that function. */
struct target {
    const char *call;
    bool by_key;
    ses_session *session;
    ses_store *store;
    const ses_key *key;
};
#define ON(handle) (&(const struct target){.call = __func__, .session = (handle)})
#define AT(in_store, of_key) \
    (&(const struct target){.call = __func__, .by_key = true, .store = (in_store), .key = (of_key)})

/* Begins the call: checks the handle, or the key. Call ses__call_end only after success; it returns the
 * code that it is given. */
SESLITE_PRIVATE int ses__call_begin(struct session_call *call, const struct target *target, ses_error *error);
/* Takes the flags SES_ANYWAY and SES_AT_VERSION, and the version that goes with them. A handle has its own.
 * MISUSE: a version was given for a handle, or together with the flag that ignores it. */
SESLITE_PRIVATE int ses__call_take_version(struct session_call *call, unsigned flags, int64_t version,
                                           const char *what, ses_error *error);
static inline int ses__call_end(const struct session_call *call, int code)
{
    return ses__store_end(call->store, code);
}

/* Takes a time of expiry from options. NULL leaves `*expires_us` as it is. INVALID: it is past, or out of
 * range. */
SESLITE_PRIVATE int ses__take_expiry(const int64_t *given, int64_t now_us, int64_t *expires_us,
                                     ses_error *error);

/* ---- appending an event together with artifacts */

/* The part of an append that saves artifacts; a ses_artifacts begins with it. The room `artifact` implements
 * it, so that programs without artifacts do not link it. */
struct append_artifacts {
    struct append_artifact_rows rows;
    /* Makes the text of the event with the next versions. The text lives until the next call. Must be called
     * again if others have saved versions in the meantime (rows.outrun). */
    int (*prepare)(struct append_artifacts *artifacts, const struct session_call *at,
                   const struct limits *limits, struct span event, struct span *text, ses_error *error);
};

#endif
