/* The rows of the events table. A session's events stand side by side under one integer key. */
#include "storage/sqlite/connection.h"
#include "base/error.h"
#include "storage/door.h"
#include "model/timestamp.h"

static int64_t position_of(int64_t session_id, int64_t seq)
{
    return session_id << 32 | seq;
}

int ses__event_add(struct db *db, int64_t session_id, const struct event_row *row, ses_error *error)
{
    struct query query;

    ses__query_start(&query, db, STATEMENT_EVENT_ADD, error);
    ses__query_bind_int(&query, 1, position_of(session_id, row->seq));
    ses__query_bind_int(&query, 2, session_id);
    ses__query_bind_text(&query, 3, row->id);
    ses__query_bind_text(&query, 4, row->invocation_id);
    ses__query_bind_text(&query, 5, row->author);
    if (row->branch.ptr)
        ses__query_bind_text(&query, 6, row->branch);
    ses__query_bind_int(&query, 7, row->time_us);
    if (row->high_us > row->time_us)
        ses__query_bind_int(&query, 8, row->high_us);
    ses__query_bind_text(&query, 9, row->body);
    (void)ses__query_row(&query);
    int code = ses__query_end(&query);
    if (code == SES_OK && sqlite3_changes(db->handle) == 0)
        code = SES_EXISTS;
    else if (code == SES_OK)
        db->events++;
    return code;
}

static void read_texts(struct query *query, struct event_row *row)
{
    row->id = ses__query_text(query, 1);
    row->invocation_id = ses__query_text(query, 2);
    row->author = ses__query_text(query, 3);
    row->branch = ses__query_text(query, 4);
    row->body = ses__query_text(query, 7);
}

/* What a walk may still meet: the numbers between `first` and `last`, which draw together with each row. */
struct events_left {
    int64_t session_id;
    int64_t first;
    int64_t last;
    enum walk walk;
};

/* The row must be the session's and lie ahead: pages that are damaged can lead anywhere, and back again. */
static bool move_on(struct events_left *left, int64_t position)
{
    int64_t seq = position & STORAGE_MAX_SEQ;
    bool ahead = position >> 32 == left->session_id && seq >= left->first && seq <= left->last;

    if (left->walk == WALK_FORWARD)
        left->first = seq + 1;
    else
        left->last = seq - 1;
    return ahead;
}

static bool times_are_sound(const struct event_row *row)
{
    return row->time_us >= TIMESTAMP_MIN && row->time_us <= row->high_us && row->high_us <= TIMESTAMP_MAX;
}

static bool texts_are_sound(const struct event_row *row)
{
    return row->id.len > 0 && row->id.len <= SES_ID_MAX && row->invocation_id.ptr && row->author.ptr &&
           row->body.len > 0;
}

static int refuse_event(const struct query *query, int64_t position, ses_error *error)
{
    return ses__error_set(error, SES_CORRUPT,
                          "%s: the row %lld of events is out of its place, or holds what no event can",
                          query->db->config->path, (long long)position);
}

static int visit_event_rows(struct query *query, struct events_left left, event_visitor *visit, void *context,
                            ses_error *error)
{
    const bool times_only = left.walk == WALK_BACKWARD_TIMES;
    const int high_column = times_only ? 2 : 6;
    int result = SES_OK;

    while (result == SES_OK && ses__query_row(query)) {
        int64_t position = ses__query_int(query, 0);
        struct event_row row = {.seq = position & STORAGE_MAX_SEQ,
                                .time_us = ses__query_int(query, high_column - 1),
                                .high_us = ses__query_int(query, high_column)};
        if (sqlite3_column_type(query->statement, high_column) == SQLITE_NULL)
            row.high_us = row.time_us;
        if (!times_only)
            read_texts(query, &row);
        bool sound =
            move_on(&left, position) && times_are_sound(&row) && (times_only || texts_are_sound(&row));
        if (LIKELY(query->code == SES_OK && sound))
            result = visit(context, &row, error);
        else if (query->code == SES_OK)
            result = refuse_event(query, position, error);
    }
    int code = ses__query_end(query);
    return code != SES_OK ? code : result < 0 ? result : SES_OK;
}

int ses__event_by_id(struct db *db, int64_t session_id, struct span id, event_visitor *visit, void *context,
                     ses_error *error)
{
    const struct events_left left = {session_id, 1, STORAGE_MAX_SEQ, WALK_FORWARD};
    struct query query;
    ses__query_start(&query, db, STATEMENT_EVENT_BY_ID, error);
    ses__query_bind_int(&query, 1, session_id);
    ses__query_bind_text(&query, 2, id);
    return visit_event_rows(&query, left, visit, context, error);
}

int ses__events_walk(struct db *db, int64_t session_id, int64_t first, int64_t last, enum walk walk,
                     event_visitor *visit, void *context, ses_error *error)
{
    static const enum statement_id statements[] = {
        [WALK_FORWARD] = STATEMENT_EVENTS_FORWARD,
        [WALK_BACKWARD] = STATEMENT_EVENTS_BACKWARD,
        [WALK_BACKWARD_TIMES] = STATEMENT_EVENT_TIMES_BACKWARD,
    };
    int code = SES_OK;

    if (first < 1)
        first = 1;
    if (last > STORAGE_MAX_SEQ)
        last = STORAGE_MAX_SEQ;
    if (first <= last) {
        const struct events_left left = {session_id, first, last, walk};
        struct query query;
        ses__query_start(&query, db, statements[walk], error);
        ses__query_bind_int(&query, 1, position_of(session_id, first));
        ses__query_bind_int(&query, 2, position_of(session_id, last));
        code = visit_event_rows(&query, left, visit, context, error);
    }
    return code;
}
