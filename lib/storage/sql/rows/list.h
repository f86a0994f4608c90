/* The rows of lists, and what finds them. */
#ifndef SESLITE_STORAGE_SQL_ROWS_LIST_H
#define SESLITE_STORAGE_SQL_ROWS_LIST_H

#include "storage/sql/rows/session.h"

/* An index that finds sessions for a filter. */
enum list_index { INDEX_NAMES, INDEX_CHILDREN, INDEX_LABELS, INDEX_ACTIVITY };
/* A range of the indexes by activity (parts.h), by its shelves. */
enum list_range { RANGE_SHOWN = SHELVES_SHOWN, RANGE_HIDDEN = SHELVES_HIDDEN, RANGE_BOTH = 0xffff };

struct list_query {
    bool whole_app;  /* all users of the app, else one */
    int64_t app_id;  /* 0 while a list is asked for: that of the app or user that this transaction finds */
    int64_t user_id; /* of the one */
    int order;       /* SES_ORDER_* */
    int64_t limit;
    enum list_range range; /* both, but in a list by update time where the caller merges them */
    bool from_start;       /* else after `after` */
    struct list_place after;
    const struct list_filter *filter;
    /* Only these sessions, which an index found for the filter. NULL: the list is walked in its own order. */
    const struct owner_list *among;
    enum list_index found_by;
};

/* A text above all that begin with a filter's prefix. */
struct prefix_end {
    char text[2 * SES_ID_MAX + 8];
};

/* The parameters for a label and the values it may have, which are three; for names that begin with a prefix,
 * and what is above them, two; and for the times of the last write, a label that is not there, shelves, and
 * the names of the session that one is a child of, six. */
enum { PASS_VALUES = 6 };
SESLITE_PRIVATE void ses__label_values(struct value *values, const struct list_filter *filter);
SESLITE_PRIVATE void ses__prefix_values(struct value *values, const struct list_filter *filter,
                                        struct prefix_end *end);
SESLITE_PRIVATE void ses__pass_values(struct value *values, const struct list_filter *filter,
                                      int64_t without_shelves);

/* A walk over the sessions of a list that match its filter. Each row comes after the one before, and the
 * first after `after`. */
struct list_rows {
    struct query query;
    const struct list_query *list;
    bool begun; /* `last` is the place of a row */
    struct list_place last;
    char last_name[SES_ID_MAX];
    struct prefix_end end; /* bound to the query */
};
SESLITE_PRIVATE void ses__list_rows_open(struct list_rows *rows, struct db *db, const struct list_query *list,
                                         ses_error *error);
/* The names live until the next row. */
SESLITE_PRIVATE bool ses__list_rows_next(struct list_rows *rows, struct session_row *row, struct span *name,
                                         struct span *user);

/* True for a list that is walked in the order of update times, and so in one of the ranges. */
SESLITE_PRIVATE bool ses__list_is_ranged(const struct list_query *list);
/* True if the filter leaves some shelf of the range. */
static inline bool ses__list_wants(const struct list_filter *filter, enum list_range range)
{
    return (~filter->without_shelves & range) != 0;
}
/* Less than 0: the place on the left comes first. */
SESLITE_PRIVATE int ses__list_compare(int order, const struct list_place *left,
                                      const struct list_place *right);

/* Numbers of sessions, in no order. */
struct found {
    const ses_allocator *allocator;
    int64_t *items;
    size_t count;
    size_t capacity;
};
/* Finds at most `limit` sessions by one part of the filter: the start of their names, which needs a user,
 * their label, the session that they are children of, or the times. Those with a label, and children, are of
 * all users of the app. `found` is to be freed in any case. */
SESLITE_PRIVATE int ses__list_find(struct db *db, const struct list_query *list, enum list_index index,
                                   int64_t limit, struct found *found, ses_error *error);
SESLITE_PRIVATE int ses__list_count_all(struct db *db, const struct list_query *list, int64_t *count,
                                        ses_error *error);

#endif
