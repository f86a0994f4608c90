/* Reads and writes the tables row by row, inside a transaction. Every value that is read is checked
 * against its bounds and its owner, and is CORRUPT if it does not fit. */
#ifndef SESLITE_STORAGE_SQL_ROWS_H
#define SESLITE_STORAGE_SQL_ROWS_H

#include "storage/door.h"
#include "storage/sql/query.h"

/* As many events as a session can have. */
#define MAX_SEQ INT64_C(0xFFFFFFFF)

/* ------------------------------------------------------------------------------ apps, users, sessions */

/* SES_NOTFOUND (without a message) when there is none. */
SESLITE_PRIVATE int ses__session_find(struct db *db, const ses_key *key, struct session_row *row,
                                      ses_error *error);
SESLITE_PRIVATE int ses__session_by_id(struct db *db, int64_t id, struct session_row *row, ses_error *error);
/* The session of the ref; NOTFOUND with a message. */
SESLITE_PRIVATE int ses__session_of(struct db *db, const struct session_ref *ref, struct session_row *row,
                                    ses_error *error);
/* CORRUPT when the session, its user or its app has another name in its row than in the index that led to it. To be
 * called before a session is deleted. */
SESLITE_PRIVATE int ses__session_check_key(struct db *db, int64_t id, const ses_key *key, ses_error *error);
/* Makes app and user where they are new. There must be no such session; its version begins above those of all that
 * were deleted. */
struct session_times {
    int64_t now_us;
    int64_t created_us;
    int64_t expires_us; /* INT64_MAX: never */
};
SESLITE_PRIVATE int ses__session_add(struct db *db, const ses_key *key, const struct session_times *times,
                                     struct session_row *row, ses_error *error);
SESLITE_PRIVATE int ses__details_add(struct db *db, int64_t id, struct span initial_state, ses_error *error);

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
    int64_t *ids; /* room for one each */
};
/* Reads parents, titles and labels, of all with two statements at most, and with none where there is nothing. */
SESLITE_PRIVATE int ses__load_details(struct db *db, const struct described_list *list, ses_error *error);
SESLITE_PRIVATE int ses__load_details_of(struct db *db, const struct described *session, ses_error *error);
/* Sets or removes title and labels; `before` is what the session has. The row is brought up to date. LIMIT. */
SESLITE_PRIVATE int ses__details_annotate(struct db *db, struct session_row *row,
                                          const struct annotating *change, const struct annotations *before,
                                          ses_error *error);

/* Writes version, last_seq, event_count, updated_us and changed_us; `before` is the row as it is now. */
SESLITE_PRIVATE int ses__session_touch(struct db *db, const struct session_row *before,
                                       const struct session_row *after, ses_error *error);
/* With its events and its session state. */
SESLITE_PRIVATE int ses__session_remove(struct db *db, int64_t id, ses_error *error);

/* Copies the events up to `last` to a session that is new, with marks; and with base and labels, too. Counts the events. */
SESLITE_PRIVATE int ses__events_copy(struct db *db, int64_t from, int64_t to, int64_t last, int64_t *count,
                                     ses_error *error);
SESLITE_PRIVATE int ses__log_copy(struct db *db, int64_t from, int64_t to, int64_t last, int64_t *count,
                                  ses_error *error);
SESLITE_PRIVATE int ses__session_state_copy(struct db *db, int64_t from, int64_t to, ses_error *error);
/* Initial state and title; and where the copy comes from. */
SESLITE_PRIVATE int ses__details_copy(struct db *db, int64_t from, int64_t to, const ses_key *parent,
                                      int64_t parent_seq, ses_error *error);
/* Writes what a session that was filled from elsewhere has: all of its row but names, creation and expiry. */
SESLITE_PRIVATE int ses__session_fill(struct db *db, const struct session_row *row, ses_error *error);

/* rows_load.c: what only a session that is loaded gets. */
SESLITE_PRIVATE int ses__parent_add(struct db *db, struct session_row *row, const ses_key *parent,
                                    int64_t parent_seq, ses_error *error);
SESLITE_PRIVATE int ses__base_add(struct db *db, int64_t session_id, const struct base_value *base,
                                  size_t count, ses_error *error);
/* Gives each row of the session's base to the function, until it returns another code than SES_OK. */
SESLITE_PRIVATE int ses__base_visit(struct db *db, const struct session_row *row,
                                    int (*visit)(void *context, const struct base_value *value,
                                                 ses_error *error),
                                    void *context, ses_error *error);
/* Is this the base of the session? The values are in the order of their names. */
SESLITE_PRIVATE int ses__base_is(struct db *db, int64_t session_id, const struct base_value *base,
                                 size_t count, bool *is, ses_error *error);
SESLITE_PRIVATE int ses__session_name(struct db *db, int64_t session_id, const char *name, ses_error *error);
/* Has the log of `other` all events of `row`'s, byte for byte? `*seq`: the first that it has not; 0: it has them. */
SESLITE_PRIVATE int ses__events_first_difference(struct db *db, const struct session_row *row, int64_t other,
                                                 int64_t *seq, ses_error *error);

struct user_row {
    int64_t id;
    int64_t app_id;
};
SESLITE_PRIVATE int ses__app_find(struct db *db, const char *app, int64_t *id, ses_error *error);
SESLITE_PRIVATE int ses__user_find(struct db *db, const char *app, const char *user, struct user_row *row,
                                   ses_error *error);
/* With all sessions and the user state; counts them. */
SESLITE_PRIVATE int ses__user_remove(struct db *db, const struct user_row *user, int64_t *sessions,
                                     int64_t *state_keys, ses_error *error);

/* With its state, when it has no user and no session any more. */
SESLITE_PRIVATE int ses__app_remove(struct db *db, int64_t id, ses_error *error);

/* A few sessions that are to be deleted. */
enum { MAX_SESSION_IDS = 100 };
struct session_ids {
    int64_t items[MAX_SESSION_IDS];
    size_t count;
};
/* Sessions of the app, at most `limit`: any of them; those that expire at `until_us` or earlier; those last written to
 * before it. */
SESLITE_PRIVATE int ses__sessions_of_app(struct db *db, int64_t app_id, int64_t limit,
                                         struct session_ids *ids, ses_error *error);
SESLITE_PRIVATE int ses__sessions_expired(struct db *db, int64_t app_id, int64_t until_us, int64_t limit,
                                          struct session_ids *ids, ses_error *error);
SESLITE_PRIVATE int ses__sessions_idle(struct db *db, int64_t app_id, int64_t before_us, int64_t limit,
                                       struct session_ids *ids, ses_error *error);
/* The least recently updated sessions of a user beyond the newest `keep`. */
SESLITE_PRIVATE int ses__sessions_beyond(struct db *db, int64_t user_id, int64_t keep, int64_t limit,
                                         struct session_ids *ids, ses_error *error);
/* Has the user more sessions than that? */
SESLITE_PRIVATE int ses__user_has_more(struct db *db, int64_t user_id, int64_t sessions, bool *has,
                                       ses_error *error);
/* Removes them, which are the app's. */
SESLITE_PRIVATE int ses__sessions_remove(struct db *db, int64_t app_id, const struct session_ids *ids,
                                         ses_error *error);

/* Of a walk that asks for its rows page by page, where the db does. */
struct paging {
    int64_t rows; /* of the next page */
    int64_t left; /* rows that the page under way may still have */
};

/* The app with the next number; 0: there is none. */
SESLITE_PRIVATE int ses__app_after(struct db *db, int64_t after, int64_t *id, ses_error *error);
/* A walk over the users of an app by name, after `after`. */
struct user_rows {
    struct query query;
    char last[SES_ID_MAX];
    size_t last_len;
    int code;
};
SESLITE_PRIVATE void ses__user_rows_open(struct user_rows *rows, struct db *db, int64_t app_id,
                                         struct span after, int64_t limit, ses_error *error);
/* The user's number; its name is `rows->last`. */
SESLITE_PRIVATE bool ses__user_rows_next(struct user_rows *rows, int64_t *id);
SESLITE_PRIVATE int ses__user_rows_close(struct user_rows *rows);

/* A walk over the names of all apps, or of an app's users, in their order. */
struct name_rows {
    struct query query;
    struct span prefix;
    char last[SES_ID_MAX + 1]; /* the name, with a NUL after it */
    size_t last_len;
    int code;
};
/* `app_id` 0: of the apps. Names after `after` that begin with the prefix; both live until the close. */
SESLITE_PRIVATE void ses__name_rows_open(struct name_rows *rows, struct db *db, int64_t app_id,
                                         struct span after, struct span prefix, int64_t limit,
                                         ses_error *error);
/* The number of the app or user; its name is `rows->last`. */
SESLITE_PRIVATE bool ses__name_rows_next(struct name_rows *rows, int64_t *id);
SESLITE_PRIVATE int ses__name_rows_close(struct name_rows *rows);

/* A walk over a user's sessions by name, after `after`. */
struct named_rows {
    struct query query;
    struct paging paging;
    const struct user_row *user;
    char from[SES_ID_MAX]; /* the name after which the page under way begins */
    char last[SES_ID_MAX];
    size_t last_len;
    int code;
};
SESLITE_PRIVATE void ses__named_rows_open(struct named_rows *rows, struct db *db, const struct user_row *user,
                                          const char *after, ses_error *error);
/* The session's name is `rows->last`. */
SESLITE_PRIVATE bool ses__named_rows_next(struct named_rows *rows, struct session_row *row);
SESLITE_PRIVATE int ses__named_rows_close(struct named_rows *rows);

/* ------------------------------------------------------------------------------------------- lists */

struct list_query {
    bool whole_app; /* all users of the app, else one */
    int64_t app_id;
    int64_t user_id; /* of the one */
    int order;       /* SES_ORDER_* */
    int64_t limit;
    bool from_start; /* else after `after` */
    struct list_place after;
    const struct list_filter *filter; /* of which the walk knows the times, and only in orders by them */
    /* Only these sessions, in this order, which is the list's. NULL for all of the list. */
    const struct owner_list *chosen;
};

/* A walk over a list. Each row comes after the one before, and the first after `after`. */
struct list_rows {
    struct query query;
    const struct list_query *list;
    bool begun; /* `last` is the place of a row */
    struct list_place last;
    char last_name[SES_ID_MAX];
    int code;
};
SESLITE_PRIVATE void ses__list_rows_open(struct list_rows *rows, struct db *db, const struct list_query *list,
                                         ses_error *error);
/* The names live until the next row. */
SESLITE_PRIVATE bool ses__list_rows_next(struct list_rows *rows, struct session_row *row, struct span *name,
                                         struct span *user);
SESLITE_PRIVATE int ses__list_rows_close(struct list_rows *rows);
/* Where the walk of a list by update time begins, by the place after which it does and the filter's times. */
SESLITE_PRIVATE struct list_place ses__list_begin(const struct list_query *list);
/* The hours between which an app's sessions of these update times lie, the first of the walk first. */
SESLITE_PRIVATE void ses__list_hours(const struct list_query *list, int64_t *first, int64_t *last);

/* Numbers of sessions, as they were found. */
struct found {
    const ses_allocator *allocator;
    int64_t *ids;
    size_t count;
    size_t capacity;
};

SESLITE_PRIVATE int ses__found_add(struct found *found, int64_t id, ses_error *error);

/* Of the sessions that the filter asks for, the first `list->limit` in the list's order: all of a user's; those of an app
 * that have the label; those of an app that were active between the filter's times; or of an app, those of `among` that
 * have any label. They are added to `found`. */
enum choice { CHOICE_OF_USER, CHOICE_LABELLED, CHOICE_ACTIVE, CHOICE_AMONG };
SESLITE_PRIVATE int ses__list_choose(struct db *db, const struct list_query *list, enum choice choice,
                                     const struct owner_list *among, struct found *found, ses_error *error);
/* Adds the sessions of the app that have the filter's label, at most `limit`, in no order. */
SESLITE_PRIVATE int ses__labelled_ids(struct db *db, const struct list_query *list, int64_t limit,
                                      struct found *found, ses_error *error);
/* Has the session the filter's label? */
SESLITE_PRIVATE int ses__session_is_labelled(struct db *db, const struct session_row *row,
                                             const struct list_filter *filter, bool *is, ses_error *error);
SESLITE_PRIVATE int ses__list_count_all(struct db *db, const struct list_query *list, int64_t *count,
                                        ses_error *error);

/* A walk over an app's sessions in the list's order by hours (and numbers within one), or of creation, from a place on. */
struct hour_rows {
    struct query query;
    struct paging paging;
    const struct list_query *list;
    bool looks_up; /* whether each row has the label */
    bool within;   /* one hour */
    int64_t hour;  /* the place of the last row */
    int64_t id;
    bool begun;
    bool labelled; /* the row has the filter's label */
    int code;
};
/* From an hour on (in order of creation: from a number on). */
SESLITE_PRIVATE void ses__hour_rows_open(struct hour_rows *rows, struct db *db, const struct list_query *list,
                                         int64_t hour, bool looks_up, ses_error *error);
/* From a number on, within an hour. */
SESLITE_PRIVATE void ses__hour_rows_open_within(struct hour_rows *rows, struct db *db,
                                                const struct list_query *list, int64_t hour, int64_t id,
                                                ses_error *error);
SESLITE_PRIVATE bool ses__hour_rows_next(struct hour_rows *rows);
SESLITE_PRIVATE int ses__hour_rows_close(struct hour_rows *rows);

/* -------------------------------------------------------------------------------------------- state */

enum { STORED_SCOPES = SCOPE_TEMP };

/* A walk over one scope of an app, a user or a session; keys without their prefix, values as JSON text. */
struct state_rows {
    struct query query;
    int code;
};
SESLITE_PRIVATE void ses__state_rows_open(struct state_rows *rows, struct db *db, enum scope scope,
                                          int64_t owner, ses_error *error);
/* One key: one row, or none. `key` lives until the close. */
SESLITE_PRIVATE void ses__state_row_open(struct state_rows *rows, struct db *db, enum scope scope,
                                         int64_t owner, struct span key, ses_error *error);
/* Texts live until the next row. */
SESLITE_PRIVATE bool ses__state_rows_next(struct state_rows *rows, struct span *key, struct span *value);
SESLITE_PRIVATE int ses__state_rows_close(struct state_rows *rows);

/* Loads a scope of the session's into the state; or all that are stored. */
SESLITE_PRIVATE int ses__load_scope(struct db *db, struct state *state, enum scope scope,
                                    const struct session_row *session, ses_error *error);
SESLITE_PRIVATE int ses__load_scopes(struct db *db, struct state *state, const struct session_row *session,
                                     ses_error *error);
/* Loads the user or session scope of many owners, which must be different ones, with one statement. Their states must
 * have nothing in that scope. */
SESLITE_PRIVATE int ses__load_owners(struct db *db, enum scope scope, const struct owner_list *owners,
                                     struct state *const *states, ses_error *error);
SESLITE_PRIVATE int64_t ses__scope_owner(enum scope scope, const struct session_row *session);
/* The name of the first key of which something else is stored than what was seen (an operation that removes: that the key
 * does not exist); NULL: there is none. */
SESLITE_PRIVATE int ses__state_find_changed(struct db *db, const struct delta *seen,
                                            const struct session_row *session, const char **changed,
                                            ses_error *error);
/* Writes the changes of the stored scopes, as made by event `seq` of the session; 0: its creation. */
SESLITE_PRIVATE int ses__delta_store(struct db *db, const struct delta *delta,
                                     const struct session_row *session, int64_t seq, ses_error *error);

/* Makes the session's own keys those of the state, which holds nothing else, with the events that had set them. */
SESLITE_PRIVATE int ses__session_state_restore(struct db *db, const struct session_row *session,
                                               const struct state *state, ses_error *error);

/* -------------------------------------------------------------------------------------------- events */

/* SES_EXISTS (without a message) when the session has an event of that id, or one in that place. `session` is the row
 * before the event. */
SESLITE_PRIVATE int ses__event_add(struct db *db, const struct session_row *session,
                                   const struct event_row *row, ses_error *error);

/* Deletes the events from one number to another, both included, and counts them. */
SESLITE_PRIVATE int ses__events_remove(struct db *db, int64_t session_id, int64_t first, int64_t last,
                                       int64_t *deleted, ses_error *error);
/* Deletes the events after `seq`, with their marks; counts the events. */
SESLITE_PRIVATE int ses__events_cut(struct db *db, int64_t session_id, int64_t seq, int64_t *deleted,
                                    ses_error *error);

enum walk {
    WALK_FORWARD,
    WALK_FORWARD_BODIES, /* only seq and body */
    WALK_BACKWARD,
    WALK_BACKWARD_TIMES /* only seq, time_us and high_us */
};

/* A walk over a session's events, in order; rows must lie between `first` and `last`, which draw together. */
struct event_rows {
    struct query query;
    bool empty;
    int64_t session_id;
    uint64_t place; /* which an event's has before its number */
    uint64_t first;
    uint64_t last;
    int64_t page; /* so many are asked for at a time; 0: there are no pages */
    int64_t page_bytes;
    int64_t left;       /* events that the page under way may still have ... */
    int64_t left_bytes; /* ... and bytes of theirs; below 1: it has no more */
    enum walk walk;
    struct span id; /* only the event that has it; without text: all */
    int code;
};
/* So many may do, or as many as have so many bytes. */
struct few_events {
    int64_t count;
    int64_t bytes;
};
/* Sequence numbers from `first` to `last`, both included. */
SESLITE_PRIVATE void ses__event_rows_open(struct event_rows *rows, struct db *db, int64_t session_id,
                                          int64_t first, int64_t last, enum walk walk, ses_error *error);
/* The same for a walk that will hardly go beyond the first few, or so many bytes of them. */
SESLITE_PRIVATE void ses__event_rows_open_few(struct event_rows *rows, struct db *db, int64_t session_id,
                                              int64_t first, int64_t last, const struct few_events *few,
                                              enum walk walk, ses_error *error);
/* The event of that id, or none. `id` lives until the close. */
SESLITE_PRIVATE void ses__event_row_open(struct event_rows *rows, struct db *db, int64_t session_id,
                                         struct span id, ses_error *error);
/* Texts live until the next row. */
SESLITE_PRIVATE bool ses__event_rows_next(struct event_rows *rows, struct event_row *row);
SESLITE_PRIVATE int ses__event_rows_close(struct event_rows *rows);

/* --------------------------------------------------------------------------------------------- marks */

/* As event_marks keeps them. */
enum mark_kind { MARK_REWIND = 1, MARK_COMPACTION = 2 };

struct mark_row {
    int64_t seq;
    enum mark_kind kind;
    int64_t target; /* of a rewind: the first event it takes back; 0: there is none but itself */
};

/* A walk over a session's marks up to `last`, the newest first. */
struct mark_rows {
    struct query query;
    struct paging paging;
    int64_t session_id;
    int64_t next; /* none may come after it */
    int code;
};
SESLITE_PRIVATE void ses__mark_rows_open(struct mark_rows *rows, struct db *db, int64_t session_id,
                                         int64_t last, ses_error *error);
SESLITE_PRIVATE bool ses__mark_rows_next(struct mark_rows *rows, struct mark_row *row);
SESLITE_PRIVATE int ses__mark_rows_close(struct mark_rows *rows);
/* Finds the live events of the log up to `last`. The call initialises `live`; the caller frees it in any
 * case. */
SESLITE_PRIVATE int ses__load_live(struct db *db, int64_t session_id, int64_t last, struct live *live,
                                   ses_error *error);

/* -------------------------------------------------------------------------------------------- leases */

struct lease_row {
    int64_t token; /* 0: nobody has ever taken it */
    int64_t taken_us;
    int64_t until_us;
    char owner[LEASE_OWNER_MAX + 1];
    char next_owner[LEASE_OWNER_MAX + 1]; /* "": none */
    int64_t next_until_us;                /* 0: none */
};
SESLITE_PRIVATE int ses__lease_find(struct db *db, int64_t session_id, struct lease_row *row,
                                    ses_error *error);
/* The same, and what time it is where the engine has a clock of its own; else *now_us stays. */
SESLITE_PRIVATE int ses__lease_find_now(struct db *db, int64_t session_id, struct lease_row *row,
                                        int64_t *now_us, ses_error *error);
/* Gives the lease to the row's owner, with a token that is new, in place of that of the row, if it has one. */
SESLITE_PRIVATE int ses__lease_give(struct db *db, int64_t session_id, struct lease_row *row,
                                    ses_error *error);
/* Writes the row's times and next owner. */
SESLITE_PRIVATE int ses__lease_set(struct db *db, int64_t session_id, const struct lease_row *row,
                                   ses_error *error);

/* -------------------------------------------------------------------------------------------- ranges */

/*
 * A walk over the events of a range, touching only these and any that lie out of order among them: going backward, the
 * latest time so far, which every row holds, shows where older ones cannot be. Going forward it does not count the newest.
 */
struct range_rows {
    struct event_rows rows; /* of one stretch */
    struct db *db;
    int64_t session_id;
    const struct range *range;
    const struct live *live; /* NULL: all events are walked */
    size_t stretch;          /* of live numbers: the next one */
    enum walk how;
    int64_t left; /* more than that are not in the range; above 0 at the end: the walk has seen all rows */
    struct few_events few; /* INT64_MAX, unless it is set before the first */
    ses_error *error;
};
/* `range` and `live` must live until the close. */
SESLITE_PRIVATE void ses__range_rows_open(struct range_rows *walk, struct db *db, int64_t session_id,
                                          const struct range *range, const struct live *live, enum walk how,
                                          ses_error *error);
SESLITE_PRIVATE bool ses__range_rows_next(struct range_rows *walk, struct event_row *row);
SESLITE_PRIVATE int ses__range_rows_close(struct range_rows *walk);

#endif
