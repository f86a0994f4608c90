/* Shared by the files of rows. */
#ifndef SESLITE_STORAGE_SQL_ROWS_PARTS_H
#define SESLITE_STORAGE_SQL_ROWS_PARTS_H

#include "storage/sql/rows/event.h"
#include "storage/sql/rows/list.h"
#include "storage/sql/rows/session.h"
#include "storage/sql/rows/state.h"

/* CORRUPT: an index led to the row of another `what`. */
SESLITE_PRIVATE int ses__refuse_stranger(const struct db *db, const char *what, ses_error *error);
/* Ends a query that looks for one `what`: NOTFOUND (without a message) without a row, CORRUPT if the row is
 * another's. */
SESLITE_PRIVATE int ses__end_found(struct query *query, bool found, bool is_it, const char *what);
/* Runs a statement that must change its one row, since a loop that goes on without would never end: CORRUPT
 * when it changed none. */
SESLITE_PRIVATE int ses__change_one(struct db *db, const struct statement *statement, const char *table,
                                    ses_error *error, const struct value *values);
SESLITE_PRIVATE int ses__refuse_unchanged(const struct db *db, const char *table, ses_error *error);
/* CORRUPT: the session does not have as many events as its row says. */
SESLITE_PRIVATE int ses__refuse_event_count(const struct db *db, int64_t session_id, ses_error *error);
/* A damaged name may be none. */
SESLITE_PRIVATE bool ses__is_id(struct span text);

/* The eleven columns that every statement on sessions begins with. */
SESLITE_PRIVATE void ses__session_row_read(struct query *query, struct session_row *row);
/* Another program, or a damaged page, can put any number into a row: CORRUPT when one is out of
 * its bounds. */
SESLITE_PRIVATE int ses__session_row_check(const struct session_row *row, const struct db *db,
                                           ses_error *error);
#define HOUR_US INT64_C(3600000000)

/*
 * The column active_30s, by which lists are in order. The sessions that have a DETAIL_HIDDEN have a range of
 * their own in the two indexes by it: HIDDEN_SHIFT is subtracted, which is more than all times there are. So
 * a list of the others skips nothing, however many are hidden, and an append writes the pages that it always
 * did. (Partial indexes made an append 2 % dearer, and MySQL has none; a column more in `sessions`, 3 %.) A
 * list of all sessions reads a page of each range and merges them: where nothing is hidden, that is one more
 * search of the index.
 */
#define HIDDEN_SHIFT (INT64_C(1) << 34)
SESLITE_PRIVATE int64_t ses__active_of(const struct session_row *row);
/* The same for a time, of a session that is not hidden; and the column ahead_hour. */
SESLITE_PRIVATE int64_t ses__active_30s(int64_t time_us);
SESLITE_PRIVATE int64_t ses__hour_of(int64_t time_us);
/* True if the session was updated well after it was written to, so that active_30s does not show for how long
 * it is idle. */
static inline bool ses__is_ahead(int64_t updated_us, int64_t changed_us)
{
    return updated_us - changed_us > HOUR_US;
}

/* Finds the user, or (no user) the app; adds what is new. */
SESLITE_PRIVATE int ses__owner_ensure(struct db *db, const char *app, const char *user, struct user_row *row,
                                      ses_error *error);

/* The version of a new session of that user. LIMIT: all have been used. */
SESLITE_PRIVATE int ses__version_first(struct db *db, int64_t user_id, int64_t *version, ses_error *error);
/* From now on new sessions of that user begin above `version`. */
SESLITE_PRIVATE int ses__version_pass(struct db *db, int64_t user_id, int64_t version, ses_error *error);

/* ---- pages of rows, where the db asks for them so */

enum { FEW_ROWS = 100 };

/* For a walk that may end soon: the first page is small. */
static inline struct paging ses__paging_few(const struct db *db)
{
    return (struct paging){.rows = db->traits->page < FEW_ROWS ? db->traits->page : FEW_ROWS};
}

/* Begins the next page, and gives the parameter with its rows. Those after it are as large as the db says. */
static inline struct value ses__paging_begin(struct paging *paging, const struct db *db)
{
    paging->left = paging->rows;
    paging->rows = db->traits->page;
    return INT_IF(db->traits->page > 0, paging->left);
}

/* A row of the page. */
static inline bool ses__paging_row(struct paging *paging, struct query *query)
{
    const bool row = ses__query_row(query);

    paging->left -= row;
    return row;
}

/* After the last row of a page: true if there may be another, which is to be asked for in place
 * of the query. */
static inline bool ses__paging_turn(const struct paging *paging, struct query *query)
{
    const bool turns = query->db->traits->page > 0 && paging->left == 0 && query->code == SES_OK;

    if (turns)
        (void)ses__query_end(query);
    return turns;
}

#endif
