/* The rows of lists, and what finds them. */
#ifndef SESLITE_STORAGE_SQL_ROWS_LIST_H
#define SESLITE_STORAGE_SQL_ROWS_LIST_H

#include "storage/sql/rows/session.h"

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

#endif
