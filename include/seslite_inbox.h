/*
 * seslite: inboxes. Inputs for a session, such as the messages of a user, wait in its inbox until a worker
 * takes them, one turn at a time. The inboxes of a store, an app or a user are a work queue.
 *
 * The rules at the top of seslite.h hold here too. A program that calls nothing of this header links nothing
 * of it.
 */
#ifndef SESLITE_INBOX_H
#define SESLITE_INBOX_H

#include "seslite.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * An input is a JSON value, and has the id of its request. A worker takes the oldest one together with the
 * lease of its session (see One turn at a time in seslite_live.h), and answers it: it appends the answer with
 * the lease's token, and names the request in ses_append_options.answers. The input is removed in the
 * transaction of that append, if an event is stored. Until then it stays, so that it is taken again if the
 * worker dies and its lease runs out. An append without `answers` costs nothing more than it did.
 *
 * If the event that stores the input itself has the request as its id, the same request is a duplicate even
 * after it was answered.
 *
 * An input is no event: it changes no version, no time and no state of the session, and wakes no follower.
 * Lists, exports, usage and the search for words leave it out; ses_store_find finds it. Rewinds, cuts and
 * prunes leave it, a fork has none, and copies and backups of the store have it. It goes with its session,
 * also if the session expires, and ses_redact of all events removes it.
 */

/* An input, lent by a page: never make or copy this struct. */
typedef struct ses_input {
    const char *app;     /* the app, the user and the id of the session in whose inbox it waits */
    const char *user;    /* see `app` */
    const char *session; /* see `app` */
    const char *request; /* the id that it was added with */
    const char *body;    /* JSON, with a NUL after it */
    size_t body_len;
    int64_t added_us; /* when it was added, by the store's clock */
    int64_t place;    /* in the order of all inputs of the store; 1 or more */
} ses_input;

/* Inputs in the order in which they were added. */
typedef struct ses_inputs ses_inputs;

typedef enum ses_inbox_flags {
    SES_INBOX_CREATES = 0x1 /* creates the session, without state, if there is none */
} ses_inbox_flags;

typedef struct ses_inbox_add_options {
    size_t size;
    unsigned flags;      /* SES_INBOX_* */
    int64_t max_waiting; /* how many inputs may wait in the session; 0: 1000 */
    int64_t timeout_ms;  /* as in ses_call_options */
    ses_cancel *cancel;  /* as in ses_call_options */
} ses_inbox_add_options;

/*
 * Adds an input to the inbox of a session. `request` is an id, unique in the session. `body` is any JSON text
 * of at most max_event_bytes (`len` may be SES_NUL). A call on this store that waits for an input wakes at
 * once. Returns 0, or SES_DUPLICATE.
 *
 *  - DUPLICATE: the input waits already, or the session has an event with this id, be it live or taken back
 *    by a rewind. Nothing is added, so it is safe to repeat the call.
 *  - EXISTS: an input with this request waits that has a different body.
 *  - LIMIT: the body is too long, or `max_waiting` inputs wait already.
 *  - NOTFOUND: there is no such session, and SES_INBOX_CREATES is not set.
 *  - INVALID: an id breaks its rules, or `max_waiting` is negative. JSON: `body` is not JSON.
 *
 * Codes: those of a write, INVALID, JSON, LIMIT, EXISTS, NOTFOUND.
 */
SES_API int ses_inbox_add(ses_store *store, const ses_key *key, const char *request, const char *body,
                          size_t len, const ses_inbox_add_options *options, ses_error *error);

typedef struct ses_inbox_take_options {
    size_t size;
    int64_t duration_us; /* of the lease, as in ses_lease_options */
    int64_t wait_ms;     /* how long to wait for an input; 0: not at all; negative: without limit */
    int64_t timeout_ms;  /* as in ses_call_options */
    ses_cancel *cancel;  /* as in ses_call_options */
} ses_inbox_take_options;

/*
 * Takes the lease of a session in which an input waits, for `owner`, and gives the oldest input of that
 * session, in one transaction. `key` is a session, a user (without `session`), an app (without `user`), or
 * NULL for the whole store; it need not exist yet. Among their sessions it is the one whose oldest input
 * waits for the longest time, leaving out those whose lease another owner has. An owner who has the lease of
 * a session keeps its token, and gets the same input again until it is answered or removed.
 *
 * Returns 0, or SES_ABSENT if there is no input after `wait_ms`; `*input` is then NULL, and `*lease`
 * unchanged. `*input` has one input: close it with ses_inputs_close.
 *
 * A call that waits wakes at once when a call on this store adds an input or releases a lease. For inputs of
 * other processes, and leases that run out, one of the waiting calls for the same app, user or session looks:
 * at first after a few milliseconds, then less and less often, at last about eight times a second.
 *
 * INVALID: the owner's name or the duration breaks the rules of leases, or an id its rules. MISUSE: the key
 * has a session, but no user. INTERRUPTED: also if ses_close or ses_store_interrupt was called while the call
 * waited.
 *
 * Codes: those of a write, INVALID, INTERRUPTED.
 */
SES_API int ses_inbox_take(ses_store *store, const ses_key *key, const char *owner,
                           const ses_inbox_take_options *options, ses_inputs **input, ses_lease *lease,
                           ses_error *error);

typedef struct ses_inbox_list_options {
    size_t size;
    size_t limit;       /* inputs; 0: 100; at most 10,000 */
    int64_t after;      /* only inputs after this place; 0: from the oldest on */
    int64_t timeout_ms; /* as in ses_call_options */
    ses_cancel *cancel; /* as in ses_call_options */
} ses_inbox_list_options;

/*
 * Lists the inputs that wait, with those that were taken and are not answered yet. `key` is as for
 * ses_inbox_take. If there are as many as `limit`, the `place` of the last one is the `after` of the next
 * page. INVALID: an id breaks its rules, the limit is too large, or `after` is negative.
 *
 * Codes: those of a read, INVALID.
 */
SES_API int ses_inbox_list(ses_store *store, const ses_key *key, const ses_inbox_list_options *options,
                           ses_inputs **inputs, ses_error *error);
/* Returns the number of inputs on the page. */
SES_API size_t ses_inputs_count(const ses_inputs *inputs);
/* Returns an input, borrowed until the page is closed, or NULL past the end. */
SES_API const ses_input *ses_inputs_at(const ses_inputs *inputs, size_t index);
/* Frees the page. NULL is allowed. */
SES_API void ses_inputs_close(ses_inputs *inputs);

/*
 * Removes an input that nobody is to answer. It is not an error if a worker has taken it: its append stores
 * the answer as it would have. Returns 0, or SES_UNCHANGED if no such input waits. NOTFOUND: there is no such
 * session.
 *
 * Codes: those of a write, INVALID, NOTFOUND.
 */
SES_API int ses_inbox_remove(ses_store *store, const ses_key *key, const char *request,
                             const ses_call_options *options, ses_error *error);

#ifdef __cplusplus
}
#endif

#endif
