/*
 * seslite: the state of a session at any point of its log, going back to a point (rewind, cut, fork), and
 * keeping a store small (prune, expire).
 *
 * It is a part of seslite.h, which includes it, and whose rules hold here too.
 */
#ifndef SESLITE_HISTORY_H
#define SESLITE_HISTORY_H

#include "seslite.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------ history */

/*
 * The state of a session follows from its log, so any point of the log can be read again. Three calls go back
 * to a point:
 *
 *  - ses_rewind takes back the events after a point. It deletes nothing: it appends an event that records
 *    this and gives the session's own keys the values they had. ses_redo takes the newest rewind back.
 *  - ses_cut deletes the events after a point for good, and ses_pop also returns them.
 *  - ses_fork makes a new session from the log up to a point. The original stays as it is.
 *
 * All three leave `app:` and `user:` keys alone, because other sessions share them. Own state means the state
 * without those keys.
 *
 * Live events are those that no rewind has taken back. A rewind event names an invocation, and takes back
 * everything from the first event of that invocation in the log up to itself. This is the ADK's rule, and
 * applies to the rewind events of any ADK. Rewind events are never live.
 *
 * Near the end of a log, the own state at a point is found from the end. A call then reads the session's own
 * keys, the events after the point, and of those before it as many as it takes to find the last values of the
 * keys that later events have changed: up to the whole log for a key that was set long ago, or for the first
 * time. For a point further back, it reads all events up to the point. So do ses_rewind, ses_cut, ses_pop and
 * ses_fork if later events name artifacts.
 *
 * An event of a number or an id is found at once. SES_POINT_INVOCATION, SES_POINT_LAST_TURN, ses_rewind and
 * ses_redo look for the first event of an invocation. On a server the storage goes through the log for it,
 * and reads no JSON. A file has filters, about 5 bytes for each event, and reads only the events that these
 * name. A rewind or redo, and a cut or pop at such a point, bring the filters up to date first if more than
 * 500 events have come since: they go through these once, in transactions of their own. Appends write none of
 * it. After a redaction the filters are made anew. (Where many invocations went on later with a message of
 * the user, all events are read for the last turn.)
 *
 * To know which events are live, a call reads a short row for each rewind and compaction. ses_cut and ses_pop
 * also read and delete the events after the point, and ses_fork copies those up to it. Nothing else makes
 * these calls slower in a longer log.
 *
 * Every call comes in two forms, as for append: for a handle, and by key. After another writer has cut events
 * of the session, all of them return STALE for the handle, whatever the flags, because its points may be
 * gone.
 */

/* How a point of a log is given. */
typedef enum ses_point_kind {
    SES_POINT_NOW = 0,        /* after the last event; for a handle, after the last that it knows */
    SES_POINT_SEQ = 1,        /* after the event number `seq`; 0: as the session was created */
    SES_POINT_EVENT = 2,      /* after the event whose id is `id` */
    SES_POINT_INVOCATION = 3, /* before the first event of the invocation `id` */
    /* Before the last turn: the last live invocation whose first event is by "user" and has content other
     * than function responses. */
    SES_POINT_LAST_TURN = 4
} ses_point_kind;

/*
 * A point of a log. NULL in place of a point means SES_POINT_NOW. A point that does not exist is NOTFOUND,
 * and so is one before the last event that was pruned; the message says where the known history begins.
 */
typedef struct ses_point {
    size_t size;
    int kind;       /* SES_POINT_* */
    int64_t seq;    /* for SES_POINT_SEQ */
    const char *id; /* for SES_POINT_EVENT and SES_POINT_INVOCATION */
} ses_point;

typedef enum ses_as_of_flags {
    SES_AS_OF_SHARED = 0x1 /* with the `app:` and `user:` keys that this session itself had written by then */
} ses_as_of_flags;

typedef struct ses_as_of_options {
    size_t size;
    unsigned flags;     /* SES_AS_OF_* */
    int64_t timeout_ms; /* as in ses_call_options */
    ses_cancel *cancel; /* as in ses_call_options */
} ses_as_of_options;

/*
 * These calls give the own state as it was at a point, as one JSON object sorted by key. Values keep the
 * bytes that were written. With SES_AS_OF_SHARED, all events up to the point are read. `*json` belongs to the
 * caller (ses_free). `len` may be NULL.
 *
 * Codes: those of a read, INVALID, NOTFOUND, STALE (handle).
 */
SES_API int ses_state_json_as_of(ses_session *session, const ses_point *point,
                                 const ses_as_of_options *options, char **json, size_t *len,
                                 ses_error *error);
SES_API int ses_state_json_as_of_by_key(ses_store *store, const ses_key *key, const ses_point *point,
                                        const ses_as_of_options *options, char **json, size_t *len,
                                        ses_error *error);

/*
 * These calls give the state that the session was created with, shared keys included, without `temp:` keys:
 * the bytes that were given, "{}" if there were none. They can be read after events were pruned, too, and no
 * event is read for it. `*json` belongs to the caller (ses_free). `len` may be NULL.
 *
 * Codes: those of a read, INVALID, NOTFOUND.
 */
SES_API int ses_state_json_initial(ses_session *session, const ses_call_options *options, char **json,
                                   size_t *len, ses_error *error);
SES_API int ses_state_json_initial_by_key(ses_store *store, const ses_key *key,
                                          const ses_call_options *options, char **json, size_t *len,
                                          ses_error *error);

typedef struct ses_rewind_options {
    size_t size;
    unsigned flags;  /* SES_ANYWAY, SES_AT_VERSION */
    int64_t version; /* for SES_AT_VERSION */
    /* For artifacts that another service keeps: the versions that they have after the rewind, as a JSON
     * object, which becomes the event's `actions.artifactDelta`. NULL: the store looks after its own. */
    const char *artifact_delta;
    size_t artifact_delta_len;
    int64_t timeout_ms; /* as in ses_call_options */
    ses_cancel *cancel; /* as in ses_call_options */
} ses_rewind_options;

/*
 * Takes back everything after the point, by appending an event in one transaction. Nothing is deleted. The
 * event is by "user", in an invocation of its own, and names in `actions.rewindBeforeInvocationId` the
 * invocation after the point. Its `actions.stateDelta` restores the own state of the point: keys that differ
 * get their bytes back, and keys that did not exist are removed. (The ADK's own rewind writes null for both,
 * and for keys that were given when the session was created.) Artifacts of the session that later events have
 * named are saved once more, as they were at the point, or as a tombstone if they did not exist; their new
 * versions are the event's `actions.artifactDelta`. Those of the user stay. Returns 0. Returns SES_UNCHANGED,
 * and stores nothing, if the live events and the own state are already those of the point, or if
 * SES_POINT_LAST_TURN is given and no turn is left.
 *
 * INVALID: the point lies inside an invocation, or the event after it has no invocation, or has one that
 * occurs earlier in the log: the ADK's event would take back more than what came after the point. STALE as
 * for ses_append. UNKNOWN: the event may be stored or not; `appended->made_id` is its id. `appended` may be
 * NULL.
 *
 * A handle moves forward to the new event, as by ses_append. Its list of events still holds those that were
 * taken back. To see only the others, read the session again with SES_RANGE_LIVE.
 *
 * Codes: those of ses_append except EXISTS and LEASED.
 */
SES_API int ses_rewind(ses_session *session, const ses_point *point, const ses_rewind_options *options,
                       ses_appended *appended, ses_error *error);
SES_API int ses_rewind_by_key(ses_store *store, const ses_key *key, const ses_point *point,
                              const ses_rewind_options *options, ses_appended *appended, ses_error *error);

/*
 * Takes a rewind back, by a rewind to before the invocation of the rewind event. The search for that event
 * goes backward from the newest event, and at each rewind skips back to before the invocation that the rewind
 * names. The first rewind that it meets before any live event is taken back. A rewind that names the
 * invocation of another rewind is itself a redo and is passed over, so two undos and two redos end where they
 * began. Returns 0. Returns SES_UNCHANGED, and stores nothing, if there is nothing to redo: a live event
 * comes after the newest rewind, or there is no rewind. INVALID: another program made the rewind in an
 * invocation that has earlier events, or without an invocation.
 *
 * Codes: those of ses_rewind.
 */
SES_API int ses_redo(ses_session *session, const ses_rewind_options *options, ses_appended *appended,
                     ses_error *error);
SES_API int ses_redo_by_key(ses_store *store, const ses_key *key, const ses_rewind_options *options,
                            ses_appended *appended, ses_error *error);

typedef struct ses_cut_options {
    size_t size;
    unsigned flags;     /* SES_ANYWAY, SES_AT_VERSION, SES_SECURE */
    int64_t version;    /* for SES_AT_VERSION */
    int64_t timeout_ms; /* as in ses_call_options */
    ses_cancel *cancel; /* as in ses_call_options */
    ses_erased *erased; /* becomes the receipt of the call; NULL: none */
} ses_cut_options;

/*
 * Deletes the events after the point for good, in one transaction. The own state becomes that of the point.
 * The version goes up by one, so other handles become STALE. Sequence numbers are not used again, and the
 * update time does not change. The versions of the session's artifacts that only the deleted events have
 * named are deleted with them. A version stays if an event that stays names it, in its
 * `actions.artifactDelta` or by an address. `*deleted` (may be NULL) is the number of events deleted. Returns
 * 0, SES_UNCHANGED if there are no events after the point, or, with SES_SECURE, SES_MORE.
 *
 * Codes: those of a write, INVALID, LIMIT, NOTFOUND, STALE.
 */
SES_API int ses_cut(ses_session *session, const ses_point *point, const ses_cut_options *options,
                    int64_t *deleted, ses_error *error);
SES_API int ses_cut_by_key(ses_store *store, const ses_key *key, const ses_point *point,
                           const ses_cut_options *options, int64_t *deleted, ses_error *error);

/* Events that were popped. */
typedef struct ses_popped ses_popped;

/*
 * Deletes the events after the point, as ses_cut does, and returns them: the newest turn of a session that is
 * used as a stack, for example, with SES_POINT_LAST_TURN, which is NOTFOUND once no turn is left. They are
 * read and deleted in one transaction, so no two callers get the same event. `*popped` holds copies of them,
 * which may outlive the handle and the store; close it with ses_popped_close. Returns 0, SES_UNCHANGED if
 * there are no events after the point, or, with SES_SECURE, SES_MORE. UNKNOWN: the events may be gone; a
 * handle still shows those that it held.
 *
 * Codes: those of ses_cut.
 */
SES_API int ses_pop(ses_session *session, const ses_point *point, const ses_cut_options *options,
                    ses_popped **popped, ses_error *error);
SES_API int ses_pop_by_key(ses_store *store, const ses_key *key, const ses_point *point,
                           const ses_cut_options *options, ses_popped **popped, ses_error *error);
/* Returns the number of events. */
SES_API size_t ses_popped_count(const ses_popped *popped);
/* Returns an event, oldest first, or NULL past the end. It is borrowed until the object is closed. */
SES_API const ses_event *ses_popped_event(const ses_popped *popped, size_t index);
/* Frees the events. NULL is allowed. */
SES_API void ses_popped_close(ses_popped *popped);

typedef enum ses_fork_flags {
    SES_FORK_OTHER_USER = 0x1 /* the new session may belong to another user */
} ses_fork_flags;

typedef struct ses_fork_options {
    size_t size;
    unsigned flags;            /* SES_FORK_* */
    const ses_range *range;    /* the events that `*fork` holds; NULL: all */
    const int64_t *created_us; /* the time of creation; NULL: the store's clock */
    int64_t timeout_ms;        /* as in ses_call_options */
    ses_cancel *cancel;        /* as in ses_call_options */
    const int64_t *expires_us; /* as in ses_create_options; INT64_MAX: never; NULL: when the original does */
} ses_fork_options;

/*
 * Makes the session `to`, in one transaction, from the log of another session up to the point. Its events
 * have the same ids, numbers, times and bytes, its own state is that of the point, and its initial state,
 * title and labels are copied, and so are the session's artifacts, except the versions that only later events
 * have named. It expires when the original does unless the options say otherwise, so that a copy is not kept
 * longer than what was copied. Changes of `app:` and `user:` keys are not applied again. The stamps of
 * google-adk's ToolCallIntegrityPlugin are copied with the events. They are made for a session's id, so they
 * do not verify in the fork, and the plugin ends a run in it with ToolCallIntegrityError. ses_session_parent
 * names the original. If `to` or `to->session` is NULL, the store makes an id. `*fork` (may be NULL) shows
 * the new session; close it with ses_session_close.
 *
 * EXISTS: the session `to` already exists, or artifacts were saved for it before it does. INVALID: `to` is in
 * another app, or another user's without SES_FORK_OTHER_USER, or a time is invalid.
 *
 * Codes: those of a write, INVALID, LIMIT, NOTFOUND, EXISTS, STALE (handle).
 */
SES_API int ses_fork(ses_session *session, const ses_point *point, const ses_key *to,
                     const ses_fork_options *options, ses_session **fork, ses_error *error);
SES_API int ses_fork_by_key(ses_store *store, const ses_key *key, const ses_point *point, const ses_key *to,
                            const ses_fork_options *options, ses_session **fork, ses_error *error);

/* How another session is related to one. */
typedef enum ses_relation {
    SES_RELATION_PARENT = 1,  /* the session was forked from it, after the event `seq` */
    SES_RELATION_FORK = 2,    /* it was forked from the session, after the event `seq` */
    SES_RELATION_SIBLING = 3, /* both were forked from another, which may be deleted, after the event `seq` */
    SES_RELATION_CHILD_OF = 4, /* the session is a child of it */
    SES_RELATION_CHILD = 5     /* it is a child of the session */
} ses_relation;

/* A session that is related to another of its app, lent by a family: never make or copy this struct. */
typedef struct ses_relative {
    int relation;        /* SES_RELATION_* */
    const char *user;    /* its user ... */
    const char *session; /* ... and its id */
    int64_t seq;         /* 0 for children */
    int64_t created_us;  /* microseconds */
} ses_relative;

/* The relatives of a session. */
typedef struct ses_family ses_family;

/*
 * Reads the sessions that are related to one, in the order of creation. A fork that has no event of its
 * parent's own counts as forked from what that was forked from, through up to 100 of these. So the
 * versions of what follows an event, such as the answers to a message, are the session itself, and its
 * parent, forks and siblings with the number of that event; for an event before the one after which the
 * session was forked, those of its parent. Deleted sessions are not among them. Close the result with
 * ses_family_close.
 *
 * The cost grows with the number of sessions that were forked from each other or are children of each other.
 *
 * Codes: those of a read, INVALID, NOTFOUND.
 */
SES_API int ses_family_open(ses_store *store, const ses_key *key, const ses_call_options *options,
                            ses_family **family, ses_error *error);
/* Returns the number of relatives. */
SES_API size_t ses_family_count(const ses_family *family);
/* Returns a relative, which is borrowed until the close. An index past the end returns NULL. */
SES_API const ses_relative *ses_family_at(const ses_family *family, size_t index);
/* Frees the relatives. NULL is allowed. */
SES_API void ses_family_close(ses_family *family);

/* ---------------------------------------------------------------------------------- keeping a store small */

/* Select the events to prune: the longest first part of the log whose events meet all flags that are set. At
 * least one flag is required. */
typedef enum ses_prune_parts {
    SES_PRUNE_KEEP = 0x1,     /* all but the newest `keep` events */
    SES_PRUNE_BEFORE = 0x2,   /* events before the first one whose time is `before_us` or later */
    SES_PRUNE_SEQ = 0x4,      /* events with numbers up to `last_seq` */
    SES_PRUNE_COMPACTED = 0x8 /* only events that a live compaction covers, or that rewinds have taken back */
} ses_prune_parts;

typedef struct ses_prune_options {
    size_t size;
    unsigned which;     /* SES_PRUNE_* */
    unsigned flags;     /* SES_SECURE */
    int64_t keep;       /* for SES_PRUNE_KEEP; 0 or more */
    int64_t before_us;  /* for SES_PRUNE_BEFORE */
    int64_t last_seq;   /* for SES_PRUNE_SEQ */
    int64_t limit;      /* events per transaction; 0: 10,000 */
    int64_t timeout_ms; /* as in ses_call_options */
    ses_cancel *cancel; /* as in ses_call_options */
    ses_erased *erased; /* becomes the receipt of the call; NULL: none */
} ses_prune_options;

/*
 * Deletes the oldest events of a session. A call reads the remaining log once to find out which events it may
 * delete. It then deletes them in transactions of about `limit` events, until half of the events that it read
 * are gone, another writer appends, or a transaction fails. The own state, the numbers and the history after
 * the pruned events stay exact, because the state at that point is kept, and so are the versions of the
 * session's artifacts there: a later rewind restores what it would have restored without the prune. Fewer
 * events are pruned than the options select where an invocation, a function call and its response, or a
 * rewind and the events that it takes back would be separated. The version does not change, and no handle
 * becomes STALE. A cursor that still needed these events returns STALE. Ids of pruned events are forgotten:
 * the same event can be appended again. Through a handle, only events that it knows are pruned.
 *
 * `*deleted` (may be NULL) is the number of events that this call deleted. Returns 0, SES_UNCHANGED if there
 * is nothing to prune, or SES_MORE if a further call has more to prune (or, with SES_SECURE, to empty the
 * log). It also returns SES_MORE if a transaction failed after others succeeded; the next call then reports
 * the failure, if it persists. A transaction may exceed `limit` where events must stay together.
 *
 * Codes: those of a write, INVALID, NOTFOUND, STALE (handle).
 */
SES_API int ses_prune(ses_session *session, const ses_prune_options *options, int64_t *deleted,
                      ses_error *error);
SES_API int ses_prune_by_key(ses_store *store, const ses_key *key, const ses_prune_options *options,
                             int64_t *deleted, ses_error *error);

/*
 * Sets the time from which the session may be removed; NULL: never. Nothing is hidden: the session can be
 * read as before until ses_store_expire removes it. Neither the version nor the update time changes. Only one
 * row is written, however long the log is. INVALID: the time is not later than the store's clock, or not
 * before the year 10000.
 *
 * Codes: those of a write, INVALID, NOTFOUND.
 */
SES_API int ses_expiry_set(ses_session *session, const int64_t *expires_us, const ses_call_options *options,
                           ses_error *error);
SES_API int ses_expiry_set_by_key(ses_store *store, const ses_key *key, const int64_t *expires_us,
                                  const ses_call_options *options, ses_error *error);

typedef enum ses_expire_flags {
    SES_EXPIRE_DRY_RUN = 0x10, /* deletes nothing: `*deleted` is how many sessions all calls would delete */
    SES_EXPIRE_CHANGED = 0x20  /* `sessions_per_user` keeps the first in SES_ORDER_CHANGED */
} ses_expire_flags;

typedef struct ses_expire_options {
    size_t size;
    unsigned flags;            /* SES_EXPIRE_*, SES_SECURE */
    const int64_t *now_us;     /* the caller's clock; NULL: the store's */
    int64_t idle_us;           /* also sessions last written to longer ago than this, but memory; 0: none */
    int64_t sessions_per_user; /* also a user's least recently updated sessions beyond this number; 0: none */
    int64_t limit;             /* sessions per call; 0: 100 */
    int64_t timeout_ms;        /* as in ses_call_options */
    ses_cancel *cancel;        /* as in ses_call_options */
    ses_erased *erased;        /* becomes the receipt of the call; NULL: none */
    int64_t memory_us;         /* also memory last written to longer ago than this; 0: none */
} ses_expire_options;

/*
 * Deletes sessions whose expiry time has come, and others that the options select, in one app, or in all apps
 * if `app` is NULL. Expired and idle sessions go first. `*deleted` (may be NULL) is the number of sessions
 * deleted. Returns SES_MORE if `limit` was reached or more may be due: call again. The library starts no
 * thread and deletes nothing by itself.
 *
 * A session is idle since it was last written to, by the store's clock, whatever times its events have. A
 * session that was loaded, or created with `created_us`, is idle since its update time. The sessions that
 * `sessions_per_user` keeps are those with the latest update time, which the clocks of clients give, and
 * those in the archive and children of other sessions, which count as well, go before all others; with
 * SES_EXPIRE_CHANGED those that were written to last. Memory does not count there, nor is it deleted.
 *
 * With SES_EXPIRE_DRY_RUN the call looks at every session of the app, as of one moment and whatever `limit`
 * says. It returns 0, and works on a store that was opened read-only.
 *
 * The cost of a call grows with the sessions that it deletes and their events. Those that have expired or are
 * idle are found by indexes; `sessions_per_user` also looks at users, one after the other.
 *
 * Codes: those of a write, INVALID, INTERRUPTED (with SES_EXPIRE_DRY_RUN).
 */
SES_API int ses_store_expire(ses_store *store, const char *app, const ses_expire_options *options,
                             int64_t *deleted, ses_error *error);

typedef struct ses_maintain_options {
    size_t size;
    int64_t limit;      /* free pages to give back per call; 0: 10,000 */
    int64_t timeout_ms; /* as in ses_call_options */
    ses_cancel *cancel; /* as in ses_call_options */
} ses_maintain_options;

/*
 * Gives free pages of the file back to the file system, empties the write-ahead log, and refreshes the
 * statistics that SQLite plans with. Returns SES_MORE if free pages are left, or a reader keeps the log from
 * being emptied for the busy timeout: call again later. Writers wait while pages are moved and copied, but
 * not for readers. With SES_CHECKPOINT_EXTERNAL the log is left alone.
 *
 * Codes: those of a write, INVALID.
 */
SES_API int ses_store_maintain(ses_store *store, const ses_maintain_options *options, ses_error *error);

/* How much of the file is in use. */
typedef struct ses_space {
    size_t size;        /* input: sizeof(ses_space) */
    int64_t bytes;      /* size of the stored data, once the write-ahead log is copied into the file */
    int64_t free_bytes; /* free part of `bytes`: used again, or given back by ses_store_maintain */
} ses_space;

/* Fills `space`, whose `size` the caller sets. Codes: those of a read. */
SES_API int ses_store_space(ses_store *store, const ses_call_options *options, ses_space *space,
                            ses_error *error);

#ifdef __cplusplus
}
#endif

#endif /* SESLITE_HISTORY_H */
