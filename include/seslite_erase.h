/*
 * seslite: erasing what must not be kept from events that are to stay, such as a password in a message.
 *
 * A redacted event keeps its number, id, invocation, author, time and branch, the ids and names of its
 * function calls and responses, and the usage of tokens. Its contents are replaced. So counts and numbers
 * stay as they are, each call keeps its response, and a model accepts the rest of the conversation.
 *
 * lib/erase/README.md says what else a right to erasure needs. The rules at the top of seslite.h hold here
 * too. A program that calls nothing of this header links nothing of it.
 */
#ifndef SESLITE_ERASE_H
#define SESLITE_ERASE_H

#include "seslite.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ses_redact_flags {
    /* Also replaces the values that the events have set: in the events, and in the stored state where the
     * value is still theirs. The state at every point of the log follows from the log as before. Without the
     * flag, `stateDelta` stays as it is. */
    SES_REDACT_STATE = 0x10,
    /* Also redacts the copies of the events in other sessions of the app: those that were forked from this
     * one, those from which it was forked, and so on, whoever the user is. A copy has the same number, id,
     * invocation, author, branch and time. Their versions go up, too. */
    SES_REDACT_FORKS = 0x20,
    /* Only counts what the call would do: it is done and rolled back, so the store must be open for
     * writing. */
    SES_REDACT_DRY_RUN = 0x40
} ses_redact_flags;

/*
 * A callback that finds the next piece of a text that is to be replaced. It searches from the byte `from` on.
 * It returns 1 with the piece in `*begin` and `*end` (the byte after it), 0 if there is none, or a negative
 * code, which ends the call. An empty piece, or one outside the text, is MISUSE; one that begins or ends
 * within a character is extended to whole characters. It may get the same text several times, each time with
 * 0 at first. It is called while the store is locked for writing, and must not use it.
 */
typedef int ses_redact_finder(void *context, const char *text, size_t len, size_t from, size_t *begin,
                              size_t *end, ses_error *error);

typedef struct ses_redact_options {
    size_t size;
    unsigned flags;   /* SES_REDACT_*, SES_ANYWAY, SES_AT_VERSION, SES_SECURE */
    int64_t version;  /* for SES_AT_VERSION */
    const char *text; /* in place of a text; at most SES_ID_MAX bytes of UTF-8; NULL: "[redacted]" */
    /* In place of the event's `content`, for one event: a JSON object with the same function calls and
     * responses, by their ids and names, in the same order; otherwise INVALID. NULL: none. */
    const char *content;
    size_t content_len;
    /* If it is given, only the pieces that it finds are replaced: in messages, in arguments and responses and
     * the names of their members, in numbers, in inline data (decoded first), and in everything else that is
     * not kept. NULL: events are redacted as a whole. */
    ses_redact_finder *find;
    void *find_context;
    int64_t timeout_ms; /* as in ses_call_options */
    ses_cancel *cancel; /* as in ses_call_options */
} ses_redact_options;

/*
 * Redacts events, in one transaction. `seqs` are `count` numbers of events, in any order. 0 stands for the
 * initial state of the session, and the number of a pruned event for the values that the event has left; both
 * need SES_REDACT_STATE. NULL: all events, and with SES_REDACT_STATE these two as well.
 *
 * An event that is redacted stays one that google-adk can read: what replaces a value is of its field's type.
 * In an event that is redacted as a whole, texts become `text`, arguments and responses an object with the
 * one member "redacted", inline data and files a part with that text. Code and its results become `text`, too,
 * so an event that was not final, as its last part is such a result, is not final afterwards. Strings elsewhere
 * become `text`, and objects and arrays empty: error messages, transcriptions, customMetadata, grounding
 * metadata. Where google-adk takes no such value, and in all fields that are not known here, the field is
 * removed. Signatures of thoughts are removed. The versions of the session's artifacts that the event names in
 * `artifactDelta` are deleted, with the copies of them that rewinds have made, and so are their names there. A
 * value in state becomes `text`, as a JSON string; a removed key stays removed, and the names of keys stay.
 *
 * With `find`, artifacts and their names stay. If something is found in a field that takes only a number, a word
 * of an enumeration or a signature, the field is removed. In base64, the bytes are searched. In a field that is
 * not known here, a number in which something is found becomes null.
 *
 * A rewind repeats values. Its copies of a replaced value are replaced, too, and so is the same value of the
 * same key at the base of a pruned log. Changes of `app:` and `user:` keys that other sessions have made
 * stay, whatever the value. The index of words follows in the same transaction. With SES_SECURE nothing of
 * what was replaced remains in the file and its log.
 *
 * The version goes up by one, so other handles become STALE, followers return SES_RESET, and cursors end with
 * STALE at the next page. The given handle shows the events as they are now. An append that repeats the
 * original event is EXISTS, since another event has its id now. `*erased` (may be NULL) becomes the receipt.
 * Returns 0, SES_UNCHANGED if nothing had to be replaced, or, with SES_SECURE, SES_MORE.
 *
 * NOTFOUND: there is no such event; nothing has changed. INVALID: an event is a rewind or a compaction, which
 * are only redacted with `seqs` NULL; a number is negative; or `text` or `content` is not valid. JSON:
 * `content` is not JSON. LIMIT: an event would become longer than it is, and longer than max_event_bytes.
 * MISUSE: `content` and `find` are both given.
 *
 * Codes: those of a write, INVALID, JSON, LIMIT, NOTFOUND, STALE.
 */
SES_API int ses_redact(ses_session *session, const int64_t *seqs, size_t count,
                       const ses_redact_options *options, ses_erased *erased, ses_error *error);
SES_API int ses_redact_by_key(ses_store *store, const ses_key *key, const int64_t *seqs, size_t count,
                              const ses_redact_options *options, ses_erased *erased, ses_error *error);

#ifdef __cplusplus
}
#endif

#endif
