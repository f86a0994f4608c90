/* The rows of a session, copied to another within the file. */
#include "base/error.h"
#include "storage/sql/rows/parts.h"

/* Rows that belong to a session as a whole. */
static int copy_rows(struct db *db, const struct statement *statement, int64_t from, int64_t to,
                     ses_error *error)
{
    struct query query;

    ses__query_start(&query, db, statement, error);
    ses__query_bind_int(&query, 1, from);
    ses__query_bind_int(&query, 2, to);
    (void)ses__query_row(&query);
    return ses__query_end(&query);
}

static int copy_events(struct db *db, int64_t from, int64_t to, int64_t last, int64_t *count,
                       ses_error *error)
{
    struct query query;

    ses__query_start(&query, db, STATEMENT_EVENTS_COPY, error);
    ses__query_bind_int(&query, 1, from);
    ses__query_bind_int(&query, 2, to);
    ses__query_bind_int(&query, 3, last);
    (void)ses__query_row(&query);
    int code = ses__query_end(&query);
    *count = ses__db_changed(db);
    return code;
}

/* Marks are few, and each is looked at. */
static int copy_marks(struct db *db, int64_t from, int64_t to, int64_t last, ses_error *error)
{
    struct mark_rows rows;
    struct mark_row mark;
    struct query query;

    ses__mark_rows_open(&rows, db, from, last, error);
    while (ses__mark_rows_next(&rows, &mark))
        ;
    int code = ses__mark_rows_close(&rows);
    if (code != SES_OK)
        return code;
    ses__query_start(&query, db, STATEMENT_EVENT_MARKS_COPY, error);
    ses__query_bind_int(&query, 1, from);
    ses__query_bind_int(&query, 2, to);
    ses__query_bind_int(&query, 3, last);
    (void)ses__query_row(&query);
    return ses__query_end(&query);
}

int ses__events_copy(struct db *db, int64_t from, int64_t to, int64_t last, int64_t *count, ses_error *error)
{
    int code = copy_events(db, from, to, last, count, error);
    return code == SES_OK ? copy_marks(db, from, to, last, error) : code;
}

int ses__log_copy(struct db *db, int64_t from, int64_t to, int64_t last, int64_t *count, ses_error *error)
{
    int code = ses__events_copy(db, from, to, last, count, error);

    if (code == SES_OK)
        code = copy_rows(db, STATEMENT_BASE_STATE_COPY, from, to, error);
    return code == SES_OK ? copy_rows(db, STATEMENT_SESSION_LABELS_COPY, from, to, error) : code;
}

int ses__session_state_copy(struct db *db, int64_t from, int64_t to, ses_error *error)
{
    return copy_rows(db, STATEMENT_SESSION_STATE_COPY, from, to, error);
}

int ses__details_copy(struct db *db, int64_t from, int64_t to, const ses_key *parent, int64_t parent_seq,
                      ses_error *error)
{
    struct query query;

    ses__query_start(&query, db, STATEMENT_DETAILS_COPY, error);
    ses__query_bind_int(&query, 1, from);
    ses__query_bind_int(&query, 2, to);
    ses__query_bind_string(&query, 3, parent->user);
    ses__query_bind_string(&query, 4, parent->session);
    ses__query_bind_int(&query, 5, parent_seq);
    (void)ses__query_row(&query);
    return ses__query_end(&query);
}

int ses__session_fill(struct db *db, const struct session_row *row, ses_error *error)
{
    struct query query;

    ses__query_start(&query, db, STATEMENT_SESSION_FILL, error);
    ses__query_bind_int(&query, 1, row->id);
    ses__query_bind_int(&query, 2, row->last_seq);
    ses__query_bind_int(&query, 3, row->event_count);
    ses__query_bind_int(&query, 4, row->updated_us);
    ses__query_bind_int(&query, 5, ses__hour_of(row->updated_us));
    ses__query_bind_int(&query, 6, row->base_seq);
    ses__query_bind_int(&query, 7, row->details);
    ses__query_bind_int(&query, 8, row->version);
    ses__query_bind_int(&query, 9, row->changed_us);
    if (ses__is_ahead(row->updated_us, row->changed_us))
        ses__query_bind_int(&query, 10, ses__hour_of(row->changed_us));
    (void)ses__query_row(&query);
    int code = ses__query_end(&query);
    return code == SES_OK ? ses__check_one_changed(db, "sessions", error) : code;
}
