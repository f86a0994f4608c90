/*
 * seslite: drafts. A draft is a text beside the log of a session that is replaced in place, such as a message
 * that grows while a model writes it. A reader who comes in the middle of it, or comes back, can read it.
 *
 * The rules at the top of seslite.h hold here too. A program that calls nothing of this header links nothing
 * of it.
 */
#ifndef SESLITE_DRAFT_H
#define SESLITE_DRAFT_H

#include "seslite.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A session has one draft, or none. It is no event: it changes no version, no time and no state of the
 * session, and wakes no follower. Lists, exports, usage and the search for words leave it out. It is kept
 * until it is cleared, an append takes it (SES_APPEND_TAKES_DRAFT), the session is deleted, or ses_redact
 * removes it. Rewinds, cuts and prunes leave it, a fork has none, and copies and backups of the store have
 * it.
 *
 * Setting it is a transaction of its own, which writes a page of the file, or more if the text is longer than
 * about half a page. So do not set it for every token, but a few times a second. A writer that dies leaves
 * its draft: the next one replaces or clears it.
 */

typedef struct ses_draft_options {
    size_t size;
    /* The token of a lease (see One turn at a time in seslite_live.h). The call is LEASED once another owner
     * has taken the lease. 0: no lease is required. */
    int64_t lease;
    int64_t timeout_ms; /* as in ses_call_options */
    ses_cancel *cancel; /* as in ses_call_options */
} ses_draft_options;

/*
 * Sets the draft of a session, in place of the one that it has. `body` is any UTF-8 without a NUL, and may be
 * empty (`len` may be SES_NUL). INVALID: it is not that, or the token is negative. LIMIT: it is longer than
 * max_event_bytes. NOTFOUND: there is no such session. LEASED: another owner has taken the lease whose token
 * is `lease`; the draft stays as it is.
 *
 * Codes: those of a write, INVALID, LIMIT, NOTFOUND, LEASED.
 */
SES_API int ses_draft_set(ses_store *store, const ses_key *key, const char *body, size_t len,
                          const ses_draft_options *options, ses_error *error);
/*
 * Reads the draft of a session: `*body` and `*len` (may be NULL) become its text, and `*updated_us` (may be
 * NULL) the time at which it was set, by the store's clock. Returns 0, or SES_ABSENT if there is none. Free
 * the text with ses_free. NOTFOUND: there is no such session.
 *
 * A reader reads the events first and the draft after them. The message is then in the draft, or among the
 * events that follow, and never in none.
 *
 * Codes: those of a read, INVALID, NOTFOUND.
 */
SES_API int ses_draft_get(ses_store *store, const ses_key *key, const ses_call_options *options, char **body,
                          size_t *len, int64_t *updated_us, ses_error *error);
/*
 * Removes the draft of a session, for a message that will not be appended. Returns 0, or SES_UNCHANGED if
 * there is none. INVALID, NOTFOUND and LEASED as for ses_draft_set.
 *
 * Codes: those of a write, INVALID, NOTFOUND, LEASED.
 */
SES_API int ses_draft_clear(ses_store *store, const ses_key *key, const ses_draft_options *options,
                            ses_error *error);

#ifdef __cplusplus
}
#endif

#endif
