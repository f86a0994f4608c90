/* Reads and writes the tables row by row, inside a transaction. Every value that is read is checked
 * against its bounds and its owner, and is CORRUPT if it does not fit. */
#ifndef SESLITE_STORAGE_SQL_ROWS_SESSION_H
#define SESLITE_STORAGE_SQL_ROWS_SESSION_H

#include "storage/door.h"
#include "storage/sql/query.h"

/* SES_NOTFOUND (without a message) when there is none. */
SESLITE_PRIVATE int ses__session_find(struct db *db, const ses_key *key, struct session_row *row,
                                      ses_error *error);
SESLITE_PRIVATE int ses__session_by_id(struct db *db, int64_t id, struct session_row *row, ses_error *error);
/* Two halves of ses__session_of: queries that are opened between them are about the session that it finds. On
 * a file, the first half finds it; on a server the row has only the known members until the second. */
SESLITE_PRIVATE int ses__session_ask(struct query *query, struct db *db, const struct session_ref *ref,
                                     struct session_row *row, ses_error *error);
SESLITE_PRIVATE int ses__session_take(struct query *query, const struct session_ref *ref,
                                      struct session_row *row);
/* The session of the ref; NOTFOUND with a message. */
SESLITE_PRIVATE int ses__session_of(struct db *db, const struct session_ref *ref, struct session_row *row,
                                    ses_error *error);
/* CORRUPT when the session, its user or its app has another name in its row than in the index that led to it.
 * To be called before a session is deleted. */
SESLITE_PRIVATE int ses__session_check_key(struct db *db, int64_t id, const ses_key *key, ses_error *error);
/* Makes app and user where they are new. There must be no such session; its version begins above those of all
 * that were deleted. */
struct session_times {
    int64_t now_us;
    int64_t created_us;
    int64_t expires_us; /* INT64_MAX: never */
};
SESLITE_PRIVATE int ses__session_add(struct db *db, const ses_key *key, const struct session_times *times,
                                     struct session_row *row, ses_error *error);
/* Writes what a session begins with: the initial state, without text none, and the title and labels. */
SESLITE_PRIVATE int ses__details_add(struct db *db, struct session_row *row, struct span initial,
                                     const struct annotating *annotating, ses_error *error);

/* A session of which other tables hold more, as its row says, and where that goes. */
struct described {
    const struct session_row *row;
    const char *app;           /* the parent's, too */
    struct snapshot *snapshot; /* gets the parent; NULL: that is not read */
    struct annotations *annotations;
};
struct described_list {
    const struct described *sessions;
    size_t count;
    int64_t *ids; /* room for two each, until the details are taken */
};
/* Reads the parent, title and labels of one, with nothing asked where there is nothing. */
SESLITE_PRIVATE int ses__load_details_of(struct db *db, const struct described *session, ses_error *error);
/* The same in two halves. No session: of the one that this transaction finds. */
struct details_of {
    bool any; /* is asked */
    struct query query;
};
SESLITE_PRIVATE void ses__details_of_ask(struct details_of *asked, struct db *db,
                                         const struct described *session, ses_error *error);
SESLITE_PRIVATE int ses__details_of_take(struct details_of *asked, const struct described *session);
/* The details of many sessions: two statements at most. No list: of the page that is read. */
struct details_asked {
    bool has_details;
    bool has_labels;
    struct owner_list described;
    struct owner_list labelled;
    struct query details; /* parents, titles, archive */
    struct query labels;
};
SESLITE_PRIVATE void ses__details_ask(struct details_asked *asked, struct db *db,
                                      const struct described_list *list, ses_error *error);
SESLITE_PRIVATE int ses__details_take(struct details_asked *asked, const struct described_list *list);
/* The title and the labels of a session before a change. */
struct annotated {
    bool has_title;
    size_t other_labels; /* that the change does not name */
};
/* Sets or removes title and labels. The row is brought up to date. LIMIT. */
SESLITE_PRIVATE int ses__details_annotate(struct db *db, struct session_row *row,
                                          const struct annotating *change, const struct annotated *now,
                                          ses_error *error);
/* Puts the session into the archive, or (0) takes it out of there. The row is brought up to date. */
SESLITE_PRIVATE int ses__details_archive(struct db *db, struct session_row *row, int64_t archived_us,
                                         ses_error *error);
/* Gives the session other `details`, whose DETAIL_HIDDEN differ: so does its place in lists. */
SESLITE_PRIVATE int ses__session_shelve(struct db *db, struct session_row *row, int64_t details,
                                        ses_error *error);
/* Makes a session that is new a child of another. The row is brought up to date. */
SESLITE_PRIVATE int ses__details_make_child(struct db *db, struct session_row *row, const ses_key *child_of,
                                            ses_error *error);
/* Gives the session a number of origin if it has none, which moves no version; and reads it. */
SESLITE_PRIVATE int ses__origin_ensure(struct db *db, int64_t session_id, ses_error *error);
SESLITE_PRIVATE int ses__origin_find(struct db *db, int64_t session_id, int64_t *origin, ses_error *error);
/* Sets the number of the last event that is remembered; 0: none is. The row is brought up to date. */
SESLITE_PRIVATE int ses__details_remember(struct db *db, struct session_row *row, int64_t seq,
                                          ses_error *error);
/* Finds that number of a conversation; MAX_SEQ for one of the kind memory. */
SESLITE_PRIVATE int ses__remembered_of(struct db *db, int64_t session_id, int64_t *seq, ses_error *error);
/* Looks what a session has, in two halves. Number 0: the one that this transaction finds. */
SESLITE_PRIVATE void ses__annotated_ask(struct query *query, struct db *db, int64_t session_id,
                                        ses_error *error);
SESLITE_PRIVATE int ses__annotated_take(struct query *query, const struct annotating *change,
                                        struct annotated *now);

/* Writes version, last_seq, event_count, updated_us and changed_us; `before` is the row as it is now. */
SESLITE_PRIVATE int ses__session_touch(struct db *db, const struct session_row *before,
                                       const struct session_row *after, ses_error *error);
/* With its events and its session state. */
SESLITE_PRIVATE int ses__session_remove(struct db *db, const struct session_row *row, ses_error *error);

/* Copies the events up to `last` to a session that is new, with marks; and with base and labels, too. Counts
 * the events. */
SESLITE_PRIVATE int ses__events_copy(struct db *db, int64_t from, int64_t to, int64_t last, int64_t *count,
                                     ses_error *error);
SESLITE_PRIVATE int ses__log_copy(struct db *db, int64_t from, int64_t to, int64_t last, int64_t *count,
                                  ses_error *error);
/* Writes what a session that was filled from elsewhere has: all of its row but names, creation and expiry. */
SESLITE_PRIVATE int ses__session_fill(struct db *db, const struct session_row *row, ses_error *error);

/* load.c: what only a session that is loaded gets. */
SESLITE_PRIVATE int ses__base_add(struct db *db, int64_t session_id, const struct base_value *base,
                                  size_t count, ses_error *error);
/* These give each key of the state at the session's base to the function, or each of its artifacts, or both
 * in the order of names, until it returns another code than SES_OK. */
typedef int base_visitor(void *context, const struct base_value *value, ses_error *error);
SESLITE_PRIVATE int ses__base_visit(struct db *db, const struct session_row *row, base_visitor *visit,
                                    void *context, ses_error *error);
SESLITE_PRIVATE int ses__base_visit_artifacts(struct db *db, const struct session_row *row,
                                              base_visitor *visit, void *context, ses_error *error);
SESLITE_PRIVATE int ses__base_visit_all(struct db *db, const struct session_row *row, base_visitor *visit,
                                        void *context, ses_error *error);
/* Gives the name without the prefix (empty for the row of the prefix alone) and the version, or -1. */
SESLITE_PRIVATE struct span ses__base_artifact(const struct base_value *value, int64_t *version);

struct user_row {
    int64_t id;
    int64_t app_id;
};
/* The search for a user, or (no user) for an app, in two halves. The row of an app has the user's
 * number 0. */
SESLITE_PRIVATE void ses__owner_ask(struct query *query, struct db *db, const char *app, const char *user,
                                    ses_error *error);
SESLITE_PRIVATE int ses__owner_take(struct query *query, struct user_row *row);
SESLITE_PRIVATE int ses__owner_find(struct db *db, const char *app, const char *user, struct user_row *row,
                                    ses_error *error);
/* With all sessions and the user state; counts them. */
SESLITE_PRIVATE int ses__user_remove(struct db *db, const struct user_row *user, int64_t *sessions,
                                     int64_t *state_keys, ses_error *error);

/* With its state, when it has no user and no session any more. */
SESLITE_PRIVATE int ses__app_remove(struct db *db, int64_t id, ses_error *error);

/* Sessions that are to be deleted. */
struct due {
    enum {
        DUE_OF_APP,   /* all of the app */
        DUE_OF_USER,  /* all of the user */
        DUE_EXPIRED,  /* of the app: those that expire at `bound` or earlier */
        DUE_IDLE,     /* of the app: those last written to before `bound`, but memory; INT64_MIN: none */
        DUE_MEMORY,   /* memory of the app, in the same way */
        DUE_BEYOND,   /* of the user, without memory: the least recently updated beyond the newest `bound` */
        DUE_UNWRITTEN /* the same by the last writes */
    } kind;
    int64_t owner; /* the number of the app or user */
    int64_t bound;
};
SESLITE_PRIVATE int ses__due_find(struct db *db, const struct due *due, int64_t limit,
                                  struct session_ids *ids, ses_error *error);
/* Removes them, which are the app's, and counts them, until `limit` are. */
SESLITE_PRIVATE int ses__due_remove(struct db *db, int64_t app_id, const struct due *due, int64_t limit,
                                    int64_t *deleted, ses_error *error);
/* `has`: the user has more sessions than that. */
SESLITE_PRIVATE int ses__user_has_more(struct db *db, int64_t user_id, int64_t sessions, bool *has,
                                       ses_error *error);
/* The pages of a walk that asks for its rows page by page, where the db does. */
struct paging {
    int64_t rows; /* of the next page */
    int64_t left; /* rows that the page under way may still have */
};

/* A walk over the names of all apps, or of an app's users, in their order. */
struct name_rows {
    struct query query;
    struct span prefix;
    char last[SES_ID_MAX + 1]; /* the name, with a NUL after it */
    size_t last_len;
};
/* `app_id` 0: of the apps. Names after `after` that begin with the prefix; both live until the close. */
SESLITE_PRIVATE void ses__name_rows_open(struct name_rows *rows, struct db *db, int64_t app_id,
                                         struct span after, struct span prefix, int64_t limit,
                                         ses_error *error);
/* The number of the app or user; its name is `rows->last`. */
SESLITE_PRIVATE bool ses__name_rows_next(struct name_rows *rows, int64_t *id);

/* A walk over a user's sessions by name, after `after`. */
struct named_rows {
    struct query query;
    struct paging paging;
    const struct user_row *user;
    char from[SES_ID_MAX]; /* the name after which the page under way begins */
    char last[SES_ID_MAX];
    size_t last_len;
};
SESLITE_PRIVATE void ses__named_rows_open(struct named_rows *rows, struct db *db, const struct user_row *user,
                                          const char *after, ses_error *error);
/* The session's name is `rows->last`. */
SESLITE_PRIVATE bool ses__named_rows_next(struct named_rows *rows, struct session_row *row);

/* A walk over the sessions of an app, or (number 0) of the store, by their numbers. */
struct numbered_rows {
    struct query query;
    struct paging paging;
    int64_t app_id;
    int64_t since_us; /* INT64_MIN: all sessions; otherwise those that were updated then or later */
    int64_t last;     /* only numbers after this one */
};
SESLITE_PRIVATE void ses__numbered_rows_open(struct numbered_rows *rows, struct db *db, ses_error *error);
SESLITE_PRIVATE bool ses__numbered_rows_next(struct numbered_rows *rows, struct session_row *row);
/* Finds the names of a session that is there. */
SESLITE_PRIVATE int ses__session_names(struct db *db, int64_t id, struct arena *arena, ses_key *names,
                                       ses_error *error);
/* Looks at the recent sessions of an app or the store, and at those of each in the list. */
SESLITE_PRIVATE int ses__watch_recent(struct db *db, struct watched *watched, ses_error *error);
SESLITE_PRIVATE int ses__watch_wide(struct db *db, const struct watch_op *op, ses_error *error);

/* -------------------------------------------------------------------------------------------- leases */

enum { LEASE_OWNER_MAX = 128 };

struct lease_row {
    int64_t session_id;
    int64_t token; /* 0: nobody has ever taken it */
    int64_t taken_us;
    int64_t until_us;
    char owner[LEASE_OWNER_MAX + 1];
    char next_owner[LEASE_OWNER_MAX + 1]; /* "": none */
    int64_t next_until_us;                /* 0: none */
};
SESLITE_PRIVATE int ses__lease_find(struct db *db, int64_t session_id, struct lease_row *row,
                                    ses_error *error);
/* The same in two halves. Number 0 is the session that this transaction finds. If `now_us` is not NULL and
 * the engine has a clock of its own, `*now_us` becomes its time. */
SESLITE_PRIVATE void ses__lease_ask(struct query *query, struct db *db, int64_t session_id, ses_error *error);
SESLITE_PRIVATE int ses__lease_take(struct query *query, int64_t session_id, struct lease_row *row,
                                    int64_t *now_us);
/* Gives the lease to the row's owner, with a token that is new, in place of that of the row, if
 * it has one. */
SESLITE_PRIVATE int ses__lease_give(struct db *db, struct lease_row *row, ses_error *error);
/* Writes the row's times and next owner. */
SESLITE_PRIVATE int ses__lease_set(struct db *db, const struct lease_row *row, ses_error *error);

/* -------------------------------------------------------------------------------------------- drafts */

struct session_draft {
    int64_t updated_us;
    struct span body;
};
/* Reads the draft of a session, if it has one. Number 0 is the session that this transaction finds. The text
 * is borrowed until the query ends. */
SESLITE_PRIVATE void ses__session_draft_ask(struct query *rows, struct db *db, int64_t session_id,
                                            ses_error *error);
SESLITE_PRIVATE bool ses__session_draft_next(struct query *rows, struct session_draft *draft);
SESLITE_PRIVATE int ses__session_draft_set(struct db *db, int64_t session_id,
                                           const struct session_draft *draft, ses_error *error);
/* Appends call these two without linking what reads drafts and inputs. */
static inline int ses__session_draft_remove(struct db *db, int64_t session_id, ses_error *error)
{
    return ses__query_do(db, STATEMENT_DRAFT_DELETE, error, VALUES(INT(session_id)));
}
static inline int ses__inbox_remove(struct db *db, int64_t session_id, const char *request, ses_error *error)
{
    return ses__query_do(db, STATEMENT_INBOX_REMOVE, error, VALUES(INT(session_id), STRING(request)));
}

/* -------------------------------------------------------------------------------------------- inboxes */

/* An input that waits. The texts are borrowed until the next row. */
struct inbox_row {
    int64_t id; /* ascends as inputs are added */
    int64_t session_id;
    int64_t added_us;
    struct span request;
    struct span body;
    struct span app;
    struct span user;
    struct span session;
};

/* Which inputs, in the order of their numbers. */
struct inbox_range {
    enum { INBOX_OF_STORE, INBOX_OF_APP, INBOX_OF_SESSION } of;
    int64_t owner;   /* the number of the app, or the session; 0: of the session that is found */
    int64_t user_id; /* of the app: only of this user; 0: of all */
    int64_t after;
    int64_t limit;
    const char *lease_owner; /* only of sessions whose lease nobody else has; NULL: of all */
    int64_t now_us;          /* for that, where the engine has no clock of its own */
};
SESLITE_PRIVATE void ses__inbox_ask(struct query *rows, struct db *db, const struct inbox_range *range,
                                    ses_error *error);
SESLITE_PRIVATE bool ses__inbox_next(struct query *rows, struct inbox_row *row);

#endif
