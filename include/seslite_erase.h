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
     * one, those from which it was forked, and so on, whoever the user is, and also if one between them was
     * deleted. Sessions are known to be forks of each other by a number that they have in common and that
     * exports keep, never by what they contain. (Forks of a session that was deleted before the store was
     * upgraded from version 0.2.0 are known by the name of that session.) A copy has the same number, id,
     * invocation, author, branch and time. The copies of a memory service (lib/memory/README.md) have the
     * number of origin, too; such a copy has the same id, author and time. The versions of these sessions go
     * up, too. In the memory of this session, `forks_left` counts what the flag does not reach: copies that
     * an older version has made, and events that may be copies, as this session has none of their ids. */
    SES_REDACT_FORKS = 0x20,
    /* Only counts what the call would do: it is done and rolled back, so the store must be open for
     * writing. */
    SES_REDACT_DRY_RUN = 0x40,
    /* Also removes names in which `find` finds something: keys of state, with their values, from all events
     * and from the state, but there not `app:` and `user:` keys that another session has set since; the
     * title; and labels, if it is in their name or value. Ids stay. It needs SES_REDACT_STATE, `find`, and
     * `seqs` NULL, so that the state at every point still follows from the log. Forks keep their names:
     * redact each. Without the flag the receipt counts the names. */
    SES_REDACT_NAMES = 0x80
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
 * one member "redacted", inline data and files a part with that text. Code and its results become `text`,
 * too, so an event that was not final, as its last part is such a result, is not final afterwards. Strings
 * elsewhere become `text`, and objects and arrays empty: error messages, transcriptions, customMetadata,
 * grounding metadata. Where google-adk takes no such value, and in all fields that are not known here, the
 * field is removed. Signatures of thoughts are removed. The versions of the session's artifacts that the
 * event names in `artifactDelta` are deleted, with the copies of them that rewinds have made, and so are
 * their names there. A value in state becomes `text`, as a JSON string; a removed key stays removed, and the
 * names of keys stay.
 *
 * With `find`, artifacts and their names stay. If something is found in a field that takes only a number, a
 * word of an enumeration or a signature, the field is removed. In base64, the bytes are searched. In a field
 * that is not known here, a number in which something is found becomes null; if something is found in its
 * name, the field is removed.
 *
 * The session's draft (seslite_draft.h) and the inputs in its inbox (seslite_inbox.h) are removed if `seqs`
 * is NULL, and with `find` only those in which something is found. The receipt does not count them.
 *
 * A rewind repeats values. Its copies of a replaced value are replaced, too, and so is the same value of the
 * same key at the base of a pruned log. Changes of `app:` and `user:` keys that other sessions have made
 * stay, whatever the value. The index of words follows in the same transaction; if it is damaged, it is
 * dropped. With SES_SECURE nothing of what was replaced remains in the file and its log.
 *
 * The version goes up by one, so other handles become STALE, followers return SES_RESET, and cursors end with
 * STALE at the next page. The given handle shows the events, and with SES_REDACT_NAMES the title and the
 * labels, as they are now. An append that repeats the original event is EXISTS, since another event has its
 * id now. `*erased` (may be NULL) becomes the receipt. Returns 0, SES_UNCHANGED if nothing had to be
 * replaced, or SES_MORE: with SES_SECURE, or if a damaged index could not be dropped.
 *
 * NOTFOUND: there is no such event; nothing has changed. INVALID: an event is a rewind or a compaction, which
 * are only redacted with `seqs` NULL; a number is negative; or `text` or `content` is not valid. JSON:
 * `content` is not JSON. LIMIT: an event would become longer than it is, and longer than max_event_bytes.
 * MISUSE: `content` and `find` are both given, or SES_REDACT_NAMES is, without what it needs.
 *
 * Codes: those of a write, INVALID, JSON, LIMIT, NOTFOUND, STALE.
 */
SES_API int ses_redact(ses_session *session, const int64_t *seqs, size_t count,
                       const ses_redact_options *options, ses_erased *erased, ses_error *error);
SES_API int ses_redact_by_key(ses_store *store, const ses_key *key, const int64_t *seqs, size_t count,
                              const ses_redact_options *options, ses_erased *erased, ses_error *error);

/* ---------------------------------------------------------------------------------------------- finding */

/* The kinds of places in which a text can be found. */
typedef enum ses_found {
    SES_FOUND_ID = 1,      /* the id of the session, or of the user, or of the app: the last that is there */
    SES_FOUND_PARENT = 2,  /* a session from which it was forked, or that it is a child of, or its user */
    SES_FOUND_TITLE = 3,   /* its title */
    SES_FOUND_LABEL = 4,   /* the name or the value of the label `name` */
    SES_FOUND_KEY = 5,     /* the name of a state key */
    SES_FOUND_VALUE = 6,   /* the value of the state key `name` */
    SES_FOUND_INITIAL = 7, /* a key or value of the state that the session was created with */
    SES_FOUND_BASE = 8,    /* a key or value of the state before the first event that was not pruned */
    SES_FOUND_EVENT = 9,   /* the event `seq`: anything in it, with its ids, inline data also decoded */
    SES_FOUND_ARTIFACT = 10, /* an artifact's name, type, display name or metadata */
    SES_FOUND_BYTES = 11,    /* the bytes of an artifact */
    SES_FOUND_DRAFT = 12,    /* the draft of the session (seslite_draft.h); if it is JSON, also its strings */
    SES_FOUND_INPUT = 13     /* an input in its inbox (seslite_inbox.h); `name` is its request */
} ses_found;

/* One place in which the text was found, lent by a page: never make or copy this struct. */
typedef struct ses_finding {
    int kind;            /* SES_FOUND_* */
    const char *app;     /* the app that has the place */
    const char *user;    /* NULL: it belongs to the app */
    const char *session; /* NULL: it belongs to the app or the user */
    const char *name;    /* of the key, with its prefix, the label, the artifact or the input; NULL: none */
    int64_t seq;         /* of the event; 0: none */
    int64_t version;     /* of the artifact; -1: none */
    /* The first piece that was found there, with up to 60 bytes before it, and up to 200 from its beginning
     * on, in whole characters. NULL: these are not UTF-8. */
    const char *text;
    size_t text_len;   /* bytes */
    size_t text_found; /* the offset in `text` at which the piece begins, in bytes */
} ses_finding;

/* A page of findings. */
typedef struct ses_findings ses_findings;

typedef enum ses_find_flags {
    SES_FIND_IGNORE_CASE = 0x1 /* ignores the case of ASCII letters in `text` */
} ses_find_flags;

typedef struct ses_find_options {
    size_t size;
    unsigned flags;    /* SES_FIND_* */
    size_t limit;      /* findings per page, about; 0: 100; at most 10,000 */
    const char *token; /* the token of the previous page; NULL: the first page */
    /* In place of `text`, which is NULL then: finds pieces as in ses_redact_options, but without a lock. */
    ses_redact_finder *find;
    void *find_context;
    int64_t timeout_ms; /* as in ses_call_options */
    ses_cancel *cancel; /* as in ses_call_options */
} ses_find_options;

/*
 * Finds a text wherever the store holds it: the request of a person who asks what is known about them begins
 * here. `scope` is a session, a user (without `session`), an app (without `user`), or NULL for the whole
 * store. `text` (`len` may be SES_NUL) is compared byte by byte. It is looked for in ids, titles and labels,
 * in the names and values of state, in the state that sessions began with, in all events, in artifacts,
 * in drafts and in inboxes. Memory is kept in sessions, and so is found there. Each place is found once,
 * however often it has the text.
 *
 * The parts of one app, user or session, but for its events and artifacts, are not divided into pages, so a
 * page may have more than `limit` findings. A page ends after about 16 MiB of what was read, so it can have
 * none, and yet a token. Sessions come in the order in which they were created. Those that are created
 * meanwhile are found; in what is written while the pages are read, the text may be missed. In artifacts, a
 * piece that `find` finds may be missed if it is longer than 4 KiB.
 *
 * Derived data is not looked at: it says nothing that the events do not. Nor are backups and exports.
 *
 * Close the page with ses_findings_close. A failure of `find` ends the call with its code.
 *
 * INVALID: an id breaks its rules, `text` is empty or longer than 4 KiB, the limit is too large, or the token
 * is not from the same search. MISUSE: `scope` has a session, but no user; `text` and `find` are both given,
 * or neither; or `find` gave a piece that is empty or outside of the text. NOTFOUND: the scope is a session
 * that does not exist.
 *
 * Codes: those of a read, INVALID, NOTFOUND.
 */
SES_API int ses_store_find(ses_store *store, const ses_key *scope, const char *text, size_t len,
                           const ses_find_options *options, ses_findings **findings, ses_error *error);
/* Returns the number of findings on the page. */
SES_API size_t ses_findings_count(const ses_findings *findings);
/* Returns a finding, borrowed until the page is closed, or NULL past the end. */
SES_API const ses_finding *ses_findings_at(const ses_findings *findings, size_t index);
/* Returns the token of the next page, or NULL if this is the last. It is borrowed until this page is
 * closed. */
SES_API const char *ses_findings_token(const ses_findings *findings);
/* Frees the page. NULL is allowed. */
SES_API void ses_findings_close(ses_findings *findings);

#ifdef __cplusplus
}
#endif

#endif
