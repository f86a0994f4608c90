/* The rows of a session, copied to another within the file. */
#include "base/error.h"
#include "storage/sql/rows/parts.h"

/* Rows that belong to a session as a whole. */
static int copy_rows(struct db *db, const struct statement *statement, int64_t from, int64_t to,
                     ses_error *error)
{
    return ses__query_do(db, statement, error, VALUES(INT(from), INT(to)));
}

static int copy_events(struct db *db, int64_t from, int64_t to, int64_t last, int64_t *count,
                       ses_error *error)
{
    int code = ses__query_do(db, STATEMENT_EVENTS_COPY, error, VALUES(INT(from), INT(to), INT(last)));
    *count = ses__db_changed(db);
    return code;
}

/* Marks are few, and each is looked at. */
static int copy_marks(struct db *db, int64_t from, int64_t to, int64_t last, ses_error *error)
{
    struct mark_rows rows;
    struct mark_row mark;

    ses__mark_rows_open(&rows, db, from, last, error);
    while (ses__mark_rows_next(&rows, &mark))
        ;
    int code = ses__query_end(&rows.query);
    if (code != SES_OK)
        return code;
    return ses__query_do(db, STATEMENT_EVENT_MARKS_COPY, error, VALUES(INT(from), INT(to), INT(last)));
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
    return ses__query_do(
        db, STATEMENT_DETAILS_COPY, error,
        VALUES(INT(from), INT(to), STRING(parent->user), STRING(parent->session), INT(parent_seq)));
}

int ses__session_fill(struct db *db, const struct session_row *row, ses_error *error)
{
    return ses__change_one(
        db, STATEMENT_SESSION_FILL, "sessions", error,
        VALUES(INT(row->id), INT(row->last_seq), INT(row->event_count), INT(row->updated_us),
               INT(ses__active_30s(row->updated_us)), INT(row->base_seq), INT(row->details),
               INT(row->version), INT(row->changed_us),
               INT_IF(ses__is_ahead(row->updated_us, row->changed_us), ses__hour_of(row->changed_us))));
}
