/*
 * seslite: the tokens that models have used.
 *
 * An event with `usageMetadata` is a model call, and says how many tokens the call used. This part adds them
 * up, by app, user, session, day, model and invocation, as the view `usage` of a store does (see
 * sql/README.md), but in a fraction of its time if the store keeps a tally.
 *
 * Usage follows the events that are stored. A rewind takes back what was said, not what it cost: its events
 * still count. Events that a fork has copied count in the fork, too. Events that are deleted, cut, pruned or
 * expired do not count any more. To keep a bill for longer, save the result before that.
 *
 * The rules at the top of seslite.h hold here too. A program that calls nothing of this header links nothing
 * of it.
 */
#ifndef SESLITE_USAGE_H
#define SESLITE_USAGE_H

#include "seslite.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The parts of a row's key: usage is added up for each combination of them. */
typedef enum ses_usage_flags {
    SES_USAGE_BY_APP = 0x1,        /* by the name of the app */
    SES_USAGE_BY_USER = 0x2,       /* by the name of the user */
    SES_USAGE_BY_SESSION = 0x4,    /* by the id of the session, which two users may have */
    SES_USAGE_BY_DAY = 0x8,        /* by the day of the event's timestamp */
    SES_USAGE_BY_MODEL = 0x10,     /* by the event's `modelVersion` */
    SES_USAGE_BY_INVOCATION = 0x20 /* by the event's `invocationId` */
} ses_usage_flags;

typedef struct ses_usage_options {
    size_t size;
    unsigned flags;           /* SES_USAGE_BY_*; 0: all calls in one row */
    const int64_t *since_us;  /* the event's timestamp is this or later; NULL: any */
    const int64_t *before_us; /* it is earlier than this; NULL: any */
    /* Returns how many seconds the time zone in which days begin is ahead of UTC at that time. It may be
     * called on any thread, about once for each quarter of an hour with calls, and must not use the store.
     * NULL: days are those of UTC. */
    int (*zone)(void *context, int64_t time_us);
    void *zone_context;
    size_t limit;       /* rows per page; 0: 100; at most 10,000 */
    const char *token;  /* the token of the previous page; NULL: the first page */
    int64_t timeout_ms; /* as in ses_call_options */
    ses_cancel *cancel; /* as in ses_call_options */
    const ses_filter
        *filter; /* only sessions that match it; its id_prefix needs a user in the scope; NULL: all */
} ses_usage_options;

/* Model calls that were added up, lent by a page: never make or copy this struct. A count that no event has
 * is 0, and a sum that is too large is INT64_MAX. */
typedef struct ses_usage_row {
    const char *app;        /* NULL: rows are not by app; the same for the other texts */
    const char *user;       /* the user */
    const char *session;    /* the id of the session */
    const char *day;        /* as in 2024-01-15 */
    const char *model;      /* modelVersion; "": the event has none, or one that breaks the rules of ids */
    const char *invocation; /* the id of the invocation; "": the event has none */
    int64_t calls;          /* events with `usageMetadata` */
    int64_t prompt;         /* promptTokenCount, `cached` included */
    int64_t cached;         /* cachedContentTokenCount */
    int64_t candidates;     /* candidatesTokenCount: the model's answer */
    int64_t thoughts;       /* thoughtsTokenCount */
    int64_t tool_use;       /* toolUsePromptTokenCount */
    int64_t total;          /* totalTokenCount */
    int64_t odd;            /* counts that are not integers from 0 to 2^53 - 1, and were taken as absent */
    int64_t first_us;       /* the timestamp of the earliest call */
    int64_t last_us;        /* the timestamp of the latest call */
} ses_usage_row;

/* A page of rows. */
typedef struct ses_usage_rows ses_usage_rows;

/*
 * Adds up the tokens that models have used in the sessions of an app, of a user or in a single one: members
 * of `scope` are NULL from the right. NULL, or a scope without an app, is the whole store.
 *
 * The rows are in the order of their texts, from left to right, by bytes. The token of a page leads to the
 * next one. Each page is computed again, as of one moment.
 *
 * If the store keeps a tally, the call first brings it up to date. If there is no tally, it is damaged, or it
 * cannot be written, the call reads the events, with the same result. For rows by invocation it always reads
 * them.
 *
 * INVALID: an id breaks its rules, `limit` is too large, or the token is not one of such a call. MISUSE:
 * `scope` has a session, but no user, or a user, but no app. NOTFOUND: there is no such session, if the scope
 * is one.
 *
 * Codes: those of a read, INVALID, NOTFOUND.
 */
SES_API int ses_store_usage(ses_store *store, const ses_key *scope, const ses_usage_options *options,
                            ses_usage_rows **rows, ses_error *error);
/* Returns the number of rows on the page. */
SES_API size_t ses_usage_rows_count(const ses_usage_rows *rows);
/* Returns a row, borrowed until the page is closed, or NULL past the end. */
SES_API const ses_usage_row *ses_usage_rows_at(const ses_usage_rows *rows, size_t index);
/* Returns the sum of all rows, including those of other pages, borrowed until the page is closed. Its texts
 * are NULL. */
SES_API const ses_usage_row *ses_usage_rows_sum(const ses_usage_rows *rows);
/* Returns the token of the next page, or NULL if this is the last. It is borrowed until this page is
 * closed. */
SES_API const char *ses_usage_rows_token(const ses_usage_rows *rows);
/* Frees the page. NULL is allowed. */
SES_API void ses_usage_rows_close(ses_usage_rows *rows);

/* ---------------------------------------------------------------------------------------------- the tally */

typedef enum ses_tally_flags {
    SES_TALLY_REBUILD = 0x1, /* drops the tally first, and makes it again */
    SES_TALLY_DROP = 0x2     /* only drops it */
} ses_tally_flags;

typedef struct ses_tally_options {
    size_t size;
    unsigned flags; /* SES_TALLY_* */
    /* Called after each step with the number of events that are done, and about how many there are. Non-zero
     * ends the call with INTERRUPTED. It must not use the store. May be NULL. */
    int (*progress)(void *context, int64_t done, int64_t total);
    void *progress_context;
    int64_t timeout_ms; /* as in ses_call_options */
    ses_cancel *cancel; /* as in ses_call_options */
} ses_tally_options;

/*
 * Makes the tally of a store, or brings it up to date: a table with the sums of each session, and of each
 * model in a quarter of an hour in it. ses_store_usage uses it from then on. The results are the same as
 * without it.
 *
 * Appends do not write to the tally, so they cost what they did. ses_store_usage first adds the calls of its
 * scope that the tally lacks. Both work in steps of about a MiB of events, each in a transaction of its own.
 * When events of a session are deleted, cut or pruned, its calls leave the tally in the same transaction, and
 * those that are left are counted again by the next call. A tally that is damaged counts as not there: this
 * call makes it again, and a deletion that it is in the way of drops it.
 *
 * The tally is a feature of the file (see sql/README.md) that every library may ignore. On a server it is a
 * table, and only the owner of the schema can make or drop it.
 *
 * `*events` (`events` may be NULL) is set to the number of events that were looked at. After a failure the
 * calls that were added stay in the tally.
 *
 * EXISTS: the file has a table of your own with the name `usage_sums`.
 *
 * Codes: those of a write, EXISTS, INTERRUPTED.
 */
SES_API int ses_store_tally(ses_store *store, const ses_tally_options *options, int64_t *events,
                            ses_error *error);

#ifdef __cplusplus
}
#endif

#endif
