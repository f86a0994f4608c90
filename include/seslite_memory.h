/*
 * seslite: the memory of a user: what was said, to be found by its words in later sessions.
 *
 * Memory consists of the events of sessions. A session of the store is remembered up to a number: nothing is
 * copied, so whatever a rewind takes back, or a cut or deletion removes, is forgotten, too. Anything else is
 * copied to sessions of the kind SES_KIND_MEMORY: notes, events that are not in the store, and single events
 * among others that are not to be remembered.
 *
 * Only events with text that somebody said count: thoughts, calls and responses are neither found nor listed.
 * Otherwise a tool that searches memory would find its own answers.
 *
 * A copy can belong to a project, a part of what is remembered of a user. A search without a project does not
 * find it.
 *
 * lib/memory/README.md tells how memory meets the rest of the store. The rules at the top of seslite.h hold
 * here too. A program that calls nothing of this header links nothing of it.
 */
#ifndef SESLITE_MEMORY_H
#define SESLITE_MEMORY_H

#include "seslite_search.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Remembers the events of a session up to the number `last_seq`, or with 0 up to its newest. It may be above
 * the newest: then later events are remembered up to there as well. A number is never lowered, except by
 * ses_memory_forget. A fork begins without one.
 *
 * INVALID: a negative number, or a session of the kind SES_KIND_MEMORY.
 *
 * Codes: those of a write, INVALID, NOTFOUND.
 */
SES_API int ses_memory_add_session(ses_store *store, const ses_key *key, int64_t last_seq,
                                   const ses_call_options *options, ses_error *error);

typedef enum ses_memory_flags {
    SES_MEMORY_REPLACE = 0x1, /* what was copied of the session before is forgotten */
    SES_MEMORY_COPY = 0x2     /* also copies events that the session has: those given differ from them */
} ses_memory_flags;

typedef struct ses_memory_add_options {
    size_t size;
    unsigned flags;      /* SES_MEMORY_* */
    const char *project; /* an id; NULL: none */
    int64_t timeout_ms;  /* as in ses_call_options */
    ses_cancel *cancel;  /* as in ses_call_options */
} ses_memory_add_options;

/*
 * Remembers events, given as for ses_append. `key` names the session that they come from, which need not be
 * in the store; without a session they are notes. Events in which nobody said anything are passed over, and
 * so are those that are remembered already: of several events with one id the first counts.
 *
 * If the session is in the store and has the events, and if nobody said anything else before them that is not
 * remembered, then this is ses_memory_add_session. Otherwise they are copied: their `id`, `author`,
 * `timestamp`, `content` and `customMetadata`. A missing id or time is added. With a project, they are always
 * copied. The sessions with copies have ids that begin with `memory:` or `memory-project:`.
 *
 * `*added` (`added` may be NULL) is the number of events that are remembered by the call.
 *
 * EXISTS: a session of another kind has the id that one with copies needs. Everything is then as before, as
 * after every other failure, but for a session without events that may have been made.
 *
 * Codes: those of a write, EXISTS, INVALID, JSON, LIMIT, RANGE.
 */
SES_API int ses_memory_add_events(ses_store *store, const ses_key *key, const ses_text *events, size_t count,
                                  const ses_memory_add_options *options, size_t *added, ses_error *error);

/*
 * Remembers a text as a note: an event of the author `user`. `key` has an app and a user; a session is the
 * one that it comes from, as above.
 *
 * Codes: those of ses_memory_add_events.
 */
SES_API int ses_memory_add(ses_store *store, const ses_key *key, const char *text, size_t len,
                           const ses_memory_add_options *options, ses_error *error);

typedef struct ses_memory_options {
    size_t size;
    const char *project;      /* also what belongs to this project; NULL: only what belongs to none */
    const int64_t *since_us;  /* the event's timestamp is this or later; NULL: any */
    const int64_t *before_us; /* it is earlier than this; NULL: any */
    size_t limit;             /* hits; 0: 10; at most 10,000 */
    size_t snippet_bytes;     /* of the text around the words, about; 0: none; at most 64 KiB */
    int64_t timeout_ms;       /* as in ses_call_options */
    ses_cancel *cancel;       /* as in ses_call_options */
} ses_memory_options;

/*
 * Finds what is remembered of a user and has at least one word of a query, which may be a whole message: its
 * first 100 different words of at most 128 characters count, as in ses_store_search. Events with more of the
 * words come first, among these the latest. Hits have their JSON and a score. Events that are equal in
 * id, author, time and text are given once. A query without a word gives no hit.
 *
 * If more than 10,000 events fit, those of the sessions that were updated last are ranked. With an index
 * (ses_store_index) a search takes milliseconds; without one it reads what is remembered.
 *
 * Codes: those of a read, INVALID.
 */
SES_API int ses_memory_search(ses_store *store, const char *app, const char *user, const char *query,
                              size_t len, const ses_memory_options *options, ses_hits **hits,
                              ses_error *error);

/*
 * Lists the latest of what is remembered of a user, by the timestamps of events. The time of the last hit as
 * `before_us` gives those before it. Of each session its latest 10,000 remembered events are looked at.
 *
 * Codes: those of a read, INVALID.
 */
SES_API int ses_memory_list(ses_store *store, const char *app, const char *user,
                            const ses_memory_options *options, ses_hits **hits, ses_error *error);

/*
 * Forgets what is remembered of a session, or of a user if `key` has no session: conversations lose their
 * number and are otherwise as before; sessions with copies are deleted, with `options` and a receipt as for
 * ses_delete. With a `project`, only what belongs to it. Nothing to forget is no failure. Each session is a
 * transaction of its own: after a failure some are forgotten.
 *
 * Codes: those of ses_delete but NOTFOUND and STALE.
 */
SES_API int ses_memory_forget(ses_store *store, const ses_key *key, const char *project,
                              const ses_delete_options *options, ses_error *error);

/*
 * Forgets single events of what is remembered, by their numbers in a session, as hits have them. Copies are
 * redacted: their numbers stay. The others of a conversation that are remembered become copies, and it
 * loses its number; so they stay remembered when the conversation is deleted.
 *
 * Codes: those of a write, EXISTS, INVALID, NOTFOUND.
 */
SES_API int ses_memory_forget_events(ses_store *store, const ses_key *key, const int64_t *seqs, size_t count,
                                     const ses_call_options *options, ses_error *error);

#ifdef __cplusplus
}
#endif

#endif
