/*
 * seslite: leases, with which workers take turns in a session, and followers, which return events as they are
 * appended.
 *
 * It is a part of seslite.h, which includes it, and whose rules hold here too.
 */
#ifndef SESLITE_LIVE_H
#define SESLITE_LIVE_H

#include "seslite.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------- one turn at a time */

/*
 * A lease makes the turns of a session run one at a time, across threads and processes. A worker takes the
 * lease before its turn, and appends with the lease's token. While one owner has the lease, others wait. A
 * turn that has begun is therefore not refused halfway, with the user's message stored and no answer to it.
 *
 * The lease is kept in the file and needs no thread. It runs out by the store's clock unless it is renewed,
 * so turns continue if a worker dies. (For a store on a server that is the server's clock, whatever the
 * clocks of its clients show, unless the open options give a clock.) If the clock is set back, the lease ends
 * at most its duration after the first attempt that notices this. If it is set forward, the lease ends that
 * much earlier. It belongs to no handle, changes no version and no time, and ends when the session is
 * deleted. A lease is advisory: it does not block appends without a token.
 *
 * An owner is a name of 1 to 128 bytes of valid UTF-8. Equal names are the same owner, so make a name for
 * each turn, for example from the names of the worker and the request. The token changes with the owner, and
 * is never given twice in a file.
 */

typedef struct ses_lease_options {
    size_t size;
    int64_t duration_us; /* how long the lease holds unless it is renewed; 0: 60 seconds; negative: INVALID */
    int64_t wait_ms;     /* how long taking waits for other owners; 0: the busy timeout; negative: no wait */
    int64_t timeout_ms;  /* as in ses_call_options */
    ses_cancel *cancel;  /* as in ses_call_options */
} ses_lease_options;

/* A lease that was taken. The size of this struct will not change; later versions may use the reserved
 * members. */
typedef struct ses_lease {
    int64_t token;       /* for appends; 1 or more */
    int64_t until_us;    /* the lease holds until then, by the store's clock */
    int64_t reserved[2]; /* 0 */
} ses_lease;

/*
 * Takes the lease of a session for `owner`, for `duration_us` from now on. It succeeds at once if the lease
 * is free, was released, has run out, or is the owner's already; then the owner keeps its token. While
 * another owner has it, the call waits. It wakes at once when the lease is released by a call on this store,
 * and within about 50 ms when another process releases it. Waiters of one store are served in the order in
 * which they came. Between processes no order is promised, but none starves: a call that has waited for a
 * moment goes before later calls of other processes.
 *
 * BUSY: another owner still has the lease after `wait_ms`; the message says until when. INVALID: the name or
 * the duration breaks its rules. NOTFOUND: there is no such session, or it was deleted meanwhile.
 * INTERRUPTED: ses_close or ses_store_interrupt was called while the call waited.
 *
 * Codes: those of a write, INVALID, NOTFOUND, INTERRUPTED.
 */
SES_API int ses_lease_take(ses_store *store, const ses_key *key, const char *owner,
                           const ses_lease_options *options, ses_lease *lease, ses_error *error);
/*
 * Lets the lease hold for `duration_us` from now on: 60 seconds without options, whatever it was taken for. A
 * lease that has run out can be renewed as long as no other owner has taken it. `wait_ms` is not used.
 * `lease` may be NULL. LEASED: another owner has taken the lease, or the token was never one of this
 * session's. INVALID: the duration is negative, or the token is not positive.
 *
 * Codes: those of a write, INVALID, NOTFOUND, LEASED.
 */
SES_API int ses_lease_renew(ses_store *store, const ses_key *key, int64_t token,
                            const ses_lease_options *options, ses_lease *lease, ses_error *error);
/*
 * Gives the lease back; the next waiter takes it. Releasing a lease that was already released, or has run
 * out, is not an error. LEASED as for ses_lease_renew.
 *
 * Codes: those of ses_lease_renew.
 */
SES_API int ses_lease_release(ses_store *store, const ses_key *key, int64_t token,
                              const ses_call_options *options, ses_error *error);

/* ---------------------------------------------------------------------------------------------- following */

/*
 * A follower returns the events of one session, or of all sessions of a user, an app or the store, as this
 * process or another appends them. Each event comes once, in order within its session, and never before its
 * commit.
 */
typedef struct ses_follower ses_follower;

typedef enum ses_follow_flags {
    SES_FOLLOW_NEW = 0x1 /* only events that are appended after the follower was opened */
} ses_follow_flags;

/* At most one of SES_FOLLOW_NEW, `after_seq` and `place` can be given. */
typedef struct ses_follow_options {
    size_t size;
    unsigned flags;    /* SES_FOLLOW_* */
    int64_t after_seq; /* for one session: begin after the event with this number; 0: with the first */
    const char *place; /* continue after this place (ses_follower_place, ses_session_place); not for an app or
                          the store */
    void (*notify)(void *context); /* see ses_follower_next; NULL: none */
    void *notify_context;
    int64_t timeout_ms; /* as in ses_call_options */
    ses_cancel *cancel; /* as in ses_call_options */
} ses_follow_options;

/*
 * Opens a follower. With `key->session` it follows that session, which must exist. With NULL it follows all
 * sessions of the user, including those created later; neither the sessions nor the user need to exist yet.
 * With `key->user` NULL too it follows an app, and with `key->app` NULL too the whole store. Such a follower
 * returns only new events, so it needs SES_FOLLOW_NEW, and it has no place. It reads the rows of all sessions
 * when it is opened (about a tenth of a second for 100,000), and keeps 32 to 64 bytes for each of them.
 *
 * A follower needs no thread of its own. Appends in this process wake the followers that they concern. For
 * other processes the first follower of a store starts one thread, which looks at the file while a follower
 * waits: every few milliseconds while events come, and about eight times a second when none do.
 *
 * INVALID: `after_seq` is negative or beyond the last event, or `place` is not a place of this session or
 * user. MISUSE: `after_seq` with a user, more than one place to begin, or an app or the store without
 * SES_FOLLOW_NEW. NOMEM also means that the system could not start a thread.
 *
 * Codes: those of a read, INVALID, NOTFOUND.
 */
SES_API int ses_follower_open(ses_store *store, const ses_key *key, const ses_follow_options *options,
                              ses_follower **follower, ses_error *error);
/*
 * Returns SES_ROW and the next event, borrowed until the next call on the follower. If there is none, it
 * waits for one for up to `timeout_ms`; 0 does not wait, and a negative time waits without limit. `*event` is
 * NULL unless SES_ROW is returned.
 *
 *  - 0: the time has passed, or ses_follower_wake was called.
 *  - SES_RESET: events of ses_follower_session were cut, or were pruned before they were returned, or, for a
 *    user, that session was deleted. Read the session again. For an app or the store, no session means that
 *    some were deleted: list them again. The follower continues with events that are appended after the last
 *    one that existed when it noticed. A place that is no longer valid also leads to SES_RESET: its session
 *    was deleted and created again, events were cut since, the events after it were pruned, or an older copy
 *    of the file was put back and has not grown beyond the place.
 *  - NOTFOUND: the session was deleted, even if another one now has its name. Every later call returns
 *    NOTFOUND too.
 *  - INTERRUPTED: ses_store_interrupt or ses_close was called while this call waited. After ses_close, every
 *    later call returns MISUSE.
 *  - After any other failure the next call tries again. No event is lost.
 *
 * A busy session does not hold up the user's other sessions forever. A follower of a user looks only at the
 * sessions to which this process has written, if it has seen all others and no other process has written. A
 * look at all takes some milliseconds of processor time for ten thousand sessions. It is made at first, after
 * writes of other processes, in each call with a timeout of 0 and no `notify`, and otherwise at most four
 * times a second.
 *
 * After writes of other processes, a follower of an app or the store looks only at the sessions that were
 * updated lately: in the two minutes before the newest event, by the times of the events. More sessions do
 * not make that slower, except on MySQL and MariaDB, which read an index of all. Some changes are seen only
 * by a look at all: a deletion or a cut, and events with an older time in a session that was quiet. It is
 * made after something was written, but not before 50 times as long as it takes have passed since the one
 * before: some seconds with 100,000 sessions. Writes of this process are seen at once, except for deletions.
 *
 * In an event loop, call with a timeout of 0 until the call returns 0. From then on `notify` is called once,
 * when there may be something to get or when ses_follower_wake, ses_store_interrupt or ses_close is called.
 * ses_follower_wake counts even if it was called earlier, since the last call that returned 0. The next call
 * that returns 0 arms it again. `notify` may run on any thread, within this call too, and while the library
 * holds locks. It must not call the library, and may only wake the caller's loop, for example by writing to a
 * pipe or an eventfd. It is not called after ses_follower_close has returned.
 *
 * Codes: those of a read, NOTFOUND.
 */
SES_API int ses_follower_next(ses_follower *follower, int64_t timeout_ms, const ses_event **event,
                              ses_error *error);
/*
 * Returns the session of the event or SES_RESET that ses_follower_next returned last, borrowed until the next
 * call on the follower, or NULL if it returned neither. After SES_RESET, NULL means that sessions of a place
 * were deleted before the follower was opened: list the user's sessions again. A follower of one session
 * always returns that session.
 */
SES_API const char *ses_follower_session(const ses_follower *follower);
/* Returns the same with the app and the user, borrowed until the next call on the follower. Where
 * ses_follower_session returns NULL, so is `session`, and the others are those that the follower was opened
 * with. It is never NULL itself. */
SES_API const ses_key *ses_follower_key(const ses_follower *follower);
/*
 * Returns the place after the last event or SES_RESET that ses_follower_next returned: letters, digits, `-`
 * and `_`, fit for `id:` of server-sent events and for URLs. A follower of the same session or user, in any
 * process, can continue after it. The text is borrowed until the next call on the follower. NULL means out of
 * memory. The place of a session has at most 35 characters. The place of a user grows with the number of
 * sessions, by about ten characters each. Servers and proxies refuse headers above about 8 kB, and with them
 * a `Last-Event-ID` for a user with more than about 500 sessions. Keep such a place on the server, and send a
 * short name for it as `id:`. A follower of an app or the store has no place: NULL.
 */
SES_API const char *ses_follower_place(ses_follower *follower);
/* Makes ses_follower_next return 0: the call that waits now, or the next one that would wait. Any thread may
 * call it until ses_follower_close is called. */
SES_API void ses_follower_wake(ses_follower *follower);
/* Frees the follower. NULL is allowed. The store may be closed already. */
SES_API void ses_follower_close(ses_follower *follower);
/* Returns the place after the last event that the handle knows, for ses_follow_options. The text is borrowed
 * until the next call of this function, or until the handle is closed. NULL means out of memory. */
SES_API const char *ses_session_place(ses_session *session);

#ifdef __cplusplus
}
#endif

#endif /* SESLITE_LIVE_H */
