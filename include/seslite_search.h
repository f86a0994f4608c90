/*
 * seslite: searching events by words.
 *
 * A search finds the events that have all of some words, in the texts of their contents: what users and
 * models wrote, the names of calls, and the texts in their arguments and responses. It does not look into
 * images and other inline data, or into the keys of objects.
 *
 * Words are compared without regard to case, accents and width: `hello` finds `Hello` and `HELLO`, and a word
 * without accents one with them. Chinese, Japanese, Korean, Thai, Lao, Khmer and Burmese are written without
 * spaces between words, so there each character is a word, and characters that are asked for without a space
 * between them must follow each other. In all other scripts only whole words are found.
 *
 * The rules at the top of seslite.h hold here too. A program that calls nothing of this header links nothing
 * of it.
 */
#ifndef SESLITE_SEARCH_H
#define SESLITE_SEARCH_H

#include "seslite.h"

#ifdef __cplusplus
extern "C" {
#endif

/* SES_SEARCH_ANY and SES_SEARCH_PHRASE exclude each other. */
typedef enum ses_search_flags {
    SES_SEARCH_ANY = 0x1,    /* events with at least one of the words */
    SES_SEARCH_PHRASE = 0x2, /* the words must follow each other as they do in the text that is given */
    SES_SEARCH_LIVE = 0x4,   /* only events that no rewind has taken back */
    SES_SEARCH_JSON = 0x8    /* gives each event with its hit */
} ses_search_flags;

typedef struct ses_search_options {
    size_t size;
    unsigned flags;           /* SES_SEARCH_* */
    const int64_t *since_us;  /* the event's timestamp is this or later; NULL: any */
    const int64_t *before_us; /* it is earlier than this; NULL: any */
    size_t limit;             /* hits per page; 0: 20; at most 1,000 */
    const char *token;        /* the token of the previous page; NULL: the first page */
    size_t snippet_bytes;     /* of the text around the words, about; 0: none; at most 64 KiB */
    const ses_filter *filter; /* only in these sessions; NULL: in all; MISUSE in a search of a single one */
    int64_t timeout_ms;       /* as in ses_call_options */
    ses_cancel *cancel;       /* as in ses_call_options */
} ses_search_options;

/* An event that was found, lent by a page: never make or copy this struct. */
typedef struct ses_hit {
    const char *user;     /* whose session it is in */
    const char *session;  /* the id of that */
    const char *id;       /* the id of the event */
    const char *author;   /* "" when the event has none */
    int64_t seq;          /* its number in the session */
    int64_t time_us;      /* its timestamp */
    const char *snippet;  /* a piece of the text in which a word was found first; NULL: none was asked for */
    size_t snippet_len;   /* bytes */
    size_t snippet_found; /* the byte of it at which that word begins */
    const char *json;     /* the event as it is stored; NULL without SES_SEARCH_JSON */
    size_t json_len;      /* bytes */
    double score; /* the part of the words asked for that it has, for ses_memory_search; otherwise 0 */
} ses_hit;

/* A page of hits. */
typedef struct ses_hits ses_hits;

/*
 * Searches the sessions of an app, of a user or a single one: members of `scope` are NULL from the right.
 * `words` (`len` may be SES_NUL) are separated by white space. Punctuation in them separates words, and there
 * is no other syntax. `don't` is the words `don` and `t`, one directly after the other.
 *
 * The sessions that were updated last come first, and in each the newest events. The token of a page leads to
 * the next one, which may be empty. A session that is updated meanwhile moves to the front, so later pages
 * miss it, unless it is the session in which the page ended.
 *
 * All events of the scope are read until the page is full, unless the store has an index (see ses_store_index
 * below). Sessions that are deleted meanwhile are left out.
 *
 * INVALID: an id breaks its rules, there is no word, a limit is too large, or the token is not one of a
 * search. MISUSE: `scope` has a session, but no user. LIMIT: there are more than 100 words, or 64 KiB.
 * NOTFOUND: there is no such session, if the scope is one.
 *
 * Codes: those of a read, INVALID, LIMIT, NOTFOUND.
 */
SES_API int ses_store_search(ses_store *store, const ses_key *scope, const char *words, size_t len,
                             const ses_search_options *options, ses_hits **hits, ses_error *error);
/* Returns the number of hits on the page. */
SES_API size_t ses_hits_count(const ses_hits *hits);
/* Returns a hit, borrowed until the page is closed, or NULL past the end. */
SES_API const ses_hit *ses_hits_at(const ses_hits *hits, size_t index);
/* Returns the token of the next page, or NULL if this is the last. It is borrowed until this page is
 * closed. */
SES_API const char *ses_hits_token(const ses_hits *hits);
/* Returns 1 if the index was used, and 0 if the events were read because there is no index, or none that is
 * sound and up to date. */
SES_API int ses_hits_indexed(const ses_hits *hits);
/* Frees the page. NULL is allowed. */
SES_API void ses_hits_close(ses_hits *hits);

/* ---------------------------------------------------------------------------------------------- the index */

typedef enum ses_index_flags {
    SES_INDEX_REBUILD = 0x1, /* drops the index first, and makes it again */
    SES_INDEX_DROP = 0x2     /* only drops it */
} ses_index_flags;

typedef struct ses_index_options {
    size_t size;
    unsigned flags; /* SES_INDEX_* */
    /* Called after each step with the number of events that are done, and about how many there are. Non-zero
     * ends the call with INTERRUPTED. It must not use the store. May be NULL. */
    int (*progress)(void *context, int64_t done, int64_t total);
    void *progress_context;
    int64_t timeout_ms; /* as in ses_call_options */
    ses_cancel *cancel; /* as in ses_call_options */
} ses_index_options;

/*
 * Makes the index of a store, or brings it up to date. Searches use it from then on, and take milliseconds
 * instead of reading every event. The results are the same.
 *
 * Appends do not write to the index, so they cost what they did. A search first adds the events of its scope
 * that the index lacks: after many appends that takes a while, unless this call was made in between. Both
 * work in steps of about a MiB of events, each in a transaction of its own. Deleting, cutting and pruning
 * events also removes them from the index, in the same transaction. (A deletion with SES_SECURE writes the
 * whole index again, so that no word stays in the file.) ses_store_check with SES_CHECK_LOG finds out whether
 * the index holds the words of the events and no others.
 *
 * An index that is damaged, or was made by other rules than those of this version, counts as not there:
 * searches read the events, and a deletion makes the index void. This call then makes it again. A deletion
 * with SES_SECURE, and ses_redact, also drop what is void from the file, or return SES_MORE.
 *
 * The index is in the file, as a feature of it (see sql/README.md): with FTS5, about a tenth of the size of
 * the events, and up to a third if they are in Chinese; or it is a table in a database of PostgreSQL. A
 * search that finds more than 10,000 events reads them instead, which gives a page sooner.
 *
 * `*events` (`events` may be NULL) is set to the number of events that were added. After a failure the events
 * that were added stay in the index.
 *
 * UNSUPPORTED: the SQLite in use has no FTS5 (https://www.sqlite.org/fts5.html#compiling_and_using_fts5), or
 * the store is on MySQL. EXISTS: the file has a table of your own with a name that begins with
 * `search_words`, or `search_places`.
 *
 * Codes: those of a write, EXISTS, INTERRUPTED, UNSUPPORTED.
 */
SES_API int ses_store_index(ses_store *store, const ses_index_options *options, int64_t *events,
                            ses_error *error);

#ifdef __cplusplus
}
#endif

#endif
