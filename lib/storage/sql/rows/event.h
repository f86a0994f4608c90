/* The rows of events, with the marks of those that change what a log means. */
#ifndef SESLITE_STORAGE_SQL_ROWS_EVENT_H
#define SESLITE_STORAGE_SQL_ROWS_EVENT_H

#include "storage/sql/rows/session.h"

/* SES_EXISTS (without a message) when the session has an event of that id, or one in that place. `session` is
 * the row before the event. */
SESLITE_PRIVATE int ses__event_add(struct db *db, const struct session_row *session,
                                   const struct event_row *row, ses_error *error);

/* Replaces the body of a stored event: of the row, only its number, its ids and the new body count. */
SESLITE_PRIVATE int ses__event_replace(struct db *db, int64_t session_id, const struct event_row *row,
                                       ses_error *error);

/* Deletes the events from one number to another, both included, with their words, and counts them. CORRUPT if
 * one is left. */
SESLITE_PRIVATE int ses__events_remove(struct db *db, const struct session_row *row, int64_t first,
                                       int64_t last, int64_t *deleted, ses_error *error);

enum walk {
    WALK_FORWARD,
    WALK_FORWARD_BODIES, /* only seq and body */
    WALK_BACKWARD,
    WALK_BACKWARD_BODIES,
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
    int64_t page;       /* so many are asked for at a time; 0: there are no pages */
    int64_t page_bytes; /* INT64_MAX: of any size */
    int64_t left;       /* events that the page under way may still have ... */
    int64_t left_bytes; /* ... and bytes of theirs; below 1: it has no more */
    enum walk walk;
    struct span id; /* only the event that has it; without text: all */
};
/* A walk that needs no more than these: a number of events, or events of that many bytes together. */
struct few_events {
    int64_t count;
    int64_t bytes;
};
/* Sequence numbers from `first` to `last`, both included. */
SESLITE_PRIVATE void ses__event_rows_open(struct event_rows *rows, struct db *db, int64_t session_id,
                                          int64_t first, int64_t last, enum walk walk, ses_error *error);
/* Opens a walk that will hardly go beyond these few events. */
SESLITE_PRIVATE void ses__event_rows_open_few(struct event_rows *rows, struct db *db, int64_t session_id,
                                              int64_t first, int64_t last, const struct few_events *few,
                                              enum walk walk, ses_error *error);
/* The event of that id, or none. `id` lives until the close. */
SESLITE_PRIVATE void ses__event_row_open(struct event_rows *rows, struct db *db, int64_t session_id,
                                         struct span id, ses_error *error);
/* Texts live until the next row. */
SESLITE_PRIVATE bool ses__event_rows_next(struct event_rows *rows, struct event_row *row);
SESLITE_PRIVATE int ses__event_rows_close(struct event_rows *rows);

/* The number of one event; 0: there is none. The event of that id; the last one from `first` to `last`; and
 * the first one of an invocation there. */
SESLITE_PRIVATE int ses__event_find(struct db *db, int64_t session_id, struct span id, int64_t *seq,
                                    ses_error *error);
SESLITE_PRIVATE int ses__event_last(struct db *db, int64_t session_id, int64_t first, int64_t last,
                                    int64_t *seq, ses_error *error);
SESLITE_PRIVATE int ses__event_of_invocation(struct db *db, int64_t session_id, struct span invocation,
                                             int64_t first, int64_t last, int64_t *seq, ses_error *error);

/* --------------------------------------------------------------------------------------------- marks */

/* As event_marks keeps them. */
enum mark_kind { MARK_REWIND = 1, MARK_COMPACTION = 2 };

struct mark_row {
    int64_t seq;
    enum mark_kind kind;
    int64_t target; /* of a rewind: the first event it takes back; 0: there is none but itself */
};

/* A walk over a session's marks up to `last`, the newest first. It ends with UNSUPPORTED at a mark of an
 * unknown kind, since the live events depend on it. With `any_kind`, set after opening, it gives those,
 * too. */
struct mark_rows {
    struct query query;
    struct paging paging;
    int64_t session_id;
    int64_t next; /* none may come after it */
    bool any_kind;
};
SESLITE_PRIVATE void ses__mark_rows_open(struct mark_rows *rows, struct db *db, int64_t session_id,
                                         int64_t last, ses_error *error);
SESLITE_PRIVATE bool ses__mark_rows_next(struct mark_rows *rows, struct mark_row *row);
/* Finds the live events by the marks of the walk, and closes it. `live` is initialised; the caller frees it
 * in any case. The session may have been found since the walk was opened. */
SESLITE_PRIVATE int ses__mark_rows_take_live(struct mark_rows *rows, int64_t session_id, struct live *live);
/* Finds the live events of the log up to `last`. */
SESLITE_PRIVATE int ses__load_live(struct db *db, int64_t session_id, int64_t last, struct live *live,
                                   ses_error *error);

/* -------------------------------------------------------------------------------------------- ranges */

/*
 * A walk over the events of a range, touching only these and any that lie out of order among them: going
 * backward, the latest time so far, which every row holds, shows where older ones cannot be. Going forward it
 * does not count the newest.
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
/* Asks for the first events before any is read; and says which session it is, which was found since then. */
SESLITE_PRIVATE void ses__range_rows_ask(struct range_rows *walk);
SESLITE_PRIVATE void ses__range_rows_take(struct range_rows *walk, int64_t session_id);
SESLITE_PRIVATE bool ses__range_rows_next(struct range_rows *walk, struct event_row *row);
SESLITE_PRIVATE int ses__range_rows_close(struct range_rows *walk);

#endif
