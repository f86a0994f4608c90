/* The marks of a session: the events that change how its log is read. */
#include "base/error.h"
#include "storage/sql/rows/parts.h"

/* From where the walk is. */
static void start_marks(struct mark_rows *rows, struct db *db, ses_error *error)
{
    ses__query_open(&rows->query, db, STATEMENT_EVENT_MARKS_BACKWARD, error,
                    VALUES(OWNER(rows->session_id), INT(rows->next), ses__paging_begin(&rows->paging, db)));
}

void ses__mark_rows_open(struct mark_rows *rows, struct db *db, int64_t session_id, int64_t last,
                         ses_error *error)
{
    *rows = (struct mark_rows){.paging.rows = db->traits->page, .session_id = session_id, .next = last};
    start_marks(rows, db, error);
}

/* Pages that are damaged can hold the marks of others, and lead back: each mark comes before the one before
 * it. */
static bool mark_is_sound(struct mark_rows *rows, const struct mark_row *row)
{
    if (row->seq < 1 || row->seq > rows->next)
        return false;
    rows->next = row->seq - 1;
    return ses__query_int(&rows->query, 0) == rows->session_id &&
           (row->kind >= MARK_COMPACTION ||
            (row->kind == MARK_REWIND && row->target >= 0 && row->target < row->seq));
}

static int check_mark(struct mark_rows *rows, const struct mark_row *row)
{
    struct query *query = &rows->query;

    if (!mark_is_sound(rows, row))
        return ses__error_set(
            query->error, SES_CORRUPT,
            "%s: a row of event_marks of session number %lld (event %lld) is out of place, or holds impossible numbers",
            query->db->name, (long long)rows->session_id, (long long)row->seq);
    return row->kind <= MARK_COMPACTION || rows->any_kind
               ? SES_OK
               : ses__error_set(
                     query->error, SES_UNSUPPORTED,
                     "%s: the mark of event %lld of session number %lld is of the kind %d, which this seslite (%s) does not know: use a newer seslite",
                     query->db->name, (long long)row->seq, (long long)rows->session_id, (int)row->kind,
                     ses_version());
}

bool ses__mark_rows_next(struct mark_rows *rows, struct mark_row *row)
{
    struct query *query = &rows->query;

    while (!ses__paging_row(&rows->paging, query)) {
        if (!ses__paging_turn(&rows->paging, query))
            return false;
        start_marks(rows, query->db, query->error);
    }
    *row = (struct mark_row){ses__query_int(query, 1), (enum mark_kind)ses__query_int(query, 2),
                             ses__query_int(query, 3)};
    if (query->code == SES_OK)
        query->code = check_mark(rows, row);
    return query->code == SES_OK;
}

int ses__mark_rows_take_live(struct mark_rows *rows, int64_t session_id, struct live *live)
{
    struct mark_row row;

    rows->session_id = session_id;
    live->count = 0; /* of an earlier run */
    while (ses__mark_rows_next(rows, &row)) {
        if (row.kind == MARK_REWIND && !ses__live_add_rewind(live, row.seq, row.target))
            ses__query_keep(&rows->query, ses__error_nomem(rows->query.error));
    }
    return ses__query_end(&rows->query);
}

int ses__load_live(struct db *db, int64_t session_id, int64_t last, struct live *live, ses_error *error)
{
    struct mark_rows rows;

    ses__mark_rows_open(&rows, db, session_id, last, error);
    return ses__mark_rows_take_live(&rows, session_id, live);
}
