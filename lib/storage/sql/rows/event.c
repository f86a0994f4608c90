/* The rows of the events table. A session's events are next to each other under one integer key. */
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "model/event/timestamp.h"
#include "storage/sql/rows/parts.h"

/* ---------------------------------------------------------------------------------------------- marks */

/* A rewind is never live, so that a compaction in it counts for nothing. */
static int add_mark(struct db *db, int64_t session_id, const struct event_row *row, ses_error *error)
{
    bool rewinds = row->rewinds_before.len > 0;
    int64_t target = row->rewinds_to;
    int code = SES_OK;

    /* This is rare, and looks through the log so that no walk over live events has to. */
    if (rewinds && target == 0)
        code = ses__event_of_invocation(db, session_id, row->rewinds_before, row->rewinds_after + 1,
                                        row->seq - 1, &target, error);
    if (code != SES_OK)
        return code;
    return ses__query_do(db, STATEMENT_EVENT_MARK_ADD, error,
                         VALUES(INT(session_id), INT(row->seq), INT(rewinds ? MARK_REWIND : MARK_COMPACTION),
                                INT_IF(rewinds, target)));
}

/* ------------------------------------------------------------------------------------------------ ids */

/* As a column of four bytes holds it. Files are made of it: it never changes. */
static int64_t hash_of(struct span id)
{
    return (int64_t)ses__hash32(HASH32_BASIS, id.ptr, id.len) - (INT64_C(1) << 31);
}

/* A byte of the body at which the text begins, which ends before the next quote; 0: there is none. */
static size_t place_in(struct span body, struct span text)
{
    uintptr_t from = (uintptr_t)text.ptr - (uintptr_t)body.ptr;
    const char *end = body.ptr + body.len;

    if (from < body.len && text.len < body.len - from)
        return from; /* it was read from there */
    if (text.len == 0 || memchr(text.ptr, '"', text.len))
        return 0;
    for (const char *quote = memchr(body.ptr, '"', body.len); quote;
         quote = memchr(quote + 1, '"', (size_t)(end - quote - 1))) {
        size_t before = (size_t)(quote - body.ptr);
        if (before > text.len && memcmp(quote - text.len, text.ptr, text.len) == 0)
            return before - text.len;
    }
    return 0;
}

static struct value quoted(const struct db *db, struct span body, struct span text)
{
    const size_t place = db->traits->packs_events ? place_in(body, text) : 0;
    return place > 0 ? INT((int64_t)place) : TEXT(text);
}

/* Reads such a value. Returns no text if the file is damaged. */
static struct span read_quoted(struct query *query, int column, struct span body)
{
    if (ses__query_type(query, column) != SQL_INT)
        return ses__query_text(query, column);
    int64_t place = ses__query_int(query, column);
    if (place < 0 || (uint64_t)place >= body.len)
        return (struct span){NULL, 0};
    const char *text = body.ptr + place;
    const char *end = memchr(text, '"', body.len - (size_t)place);
    return end ? (struct span){text, (size_t)(end - text)} : (struct span){NULL, 0};
}

/* --------------------------------------------------------------------------------------------- adding */

/* SES_EXISTS (without a message): the place or the key in the index is taken. */
static int insert_event(struct db *db, const struct session_row *session, const struct event_row *row,
                        bool hash_is_taken, ses_error *error)
{
    /* If the session has lost events, an id may be in the index as text although no event has its hash any
     * more. */
    const bool has_gaps = session->event_count != session->last_seq;
    const struct span none = {NULL, 0};
    const int code = ses__query_do(
        db, STATEMENT_EVENT_ADD, error,
        VALUES(INT(session->id), INT(row->seq), quoted(db, row->body, row->id),
               quoted(db, row->body, row->invocation_id), TEXT(row->author), TEXT(row->branch),
               INT(row->time_us), INT_IF(row->high_us > row->time_us, row->high_us), TEXT(row->body),
               hash_is_taken ? TEXT(row->id) : INT(hash_of(row->id)), TEXT(has_gaps ? row->id : none)));

    if (code == SES_OK && db->looks_first) { /* so its place is free, as the session is locked */
        db->engine->must_change(db, "events");
        return SES_OK;
    }
    return code == SES_OK && ses__db_changed(db) == 0 ? SES_EXISTS : code;
}

int ses__event_add(struct db *db, const struct session_row *session, const struct event_row *row,
                   ses_error *error)
{
    int64_t known = 0;
    int code = insert_event(db, session, row, false, error);

    if (code == SES_EXISTS) {
        code = ses__event_find(db, session->id, row->id, &known, error);
        if (code == SES_OK && known > 0)
            return SES_EXISTS;
        if (code == SES_OK) /* the hash is that of another id */
            code = insert_event(db, session, row, true, error);
    }
    if (code == SES_OK)
        db->events++;
    if (code == SES_OK && (row->rewinds_before.len > 0 || row->compacts))
        code = add_mark(db, session->id, row, error);
    return code;
}

int ses__event_replace(struct db *db, int64_t session_id, const struct event_row *row, ses_error *error)
{
    return ses__change_one(db, STATEMENT_EVENT_REPLACE, "events", error,
                           VALUES(INT(session_id), INT(row->seq), quoted(db, row->body, row->id),
                                  quoted(db, row->body, row->invocation_id), TEXT(row->body)));
}

/* -------------------------------------------------------------------------------------------- reading */

static void read_times(struct query *query, int column, struct event_row *row)
{
    row->time_us = ses__query_int(query, column);
    row->high_us =
        ses__query_type(query, column + 1) == SQL_NULL ? row->time_us : ses__query_int(query, column + 1);
}

/* The high bits of an event's rowid: the session, where the engine packs both into one number. */
static uint64_t first_place(const struct db *db, int64_t session_id)
{
    return db->traits->packs_events ? (uint64_t)session_id << 32 : 0;
}

static bool times_are_sound(const struct event_row *row)
{
    return row->time_us >= TIMESTAMP_MIN && row->time_us <= row->high_us && row->high_us <= TIMESTAMP_MAX;
}

/* Reads the columns of that walk. False: they hold values that no event can have. */
static bool read_columns(struct query *query, enum walk walk, struct event_row *row)
{
    switch (walk) {
    case WALK_FORWARD_BODIES:
    case WALK_BACKWARD_BODIES:
        row->body = ses__query_text(query, 1);
        return row->body.len > 0;
    case WALK_BACKWARD_TIMES:
        read_times(query, 1, row);
        return times_are_sound(row);
    default:
        read_times(query, 5, row);
        row->body = ses__query_text(query, 7);
        row->id = read_quoted(query, 1, row->body);
        row->invocation_id = read_quoted(query, 2, row->body);
        row->author = ses__query_text(query, 3);
        if (ses__query_type(query, 4) != SQL_NULL)
            row->branch = ses__query_text(query, 4);
        return times_are_sound(row) && row->id.len - 1 < SES_ID_MAX && row->invocation_id.ptr &&
               row->author.ptr && row->body.len > 0;
    }
}

static int refuse_event(const struct event_rows *rows, int64_t seq, ses_error *error)
{
    const bool only_bodies = rows->walk == WALK_FORWARD_BODIES || rows->walk == WALK_BACKWARD_BODIES;
    const int body = only_bodies ? 1 : 7; /* its column */

    /* Later versions may store other forms than text. */
    if (rows->walk != WALK_BACKWARD_TIMES && ses__query_type(&rows->query, body) == SQL_BLOB)
        return ses__error_set(
            error, SES_UNSUPPORTED,
            "%s: event %lld of session number %lld is stored in a form that this seslite (%s) does not know: use a newer seslite",
            rows->query.db->name, (long long)seq, (long long)rows->session_id, ses_version());
    return ses__error_set(
        error, SES_CORRUPT,
        "%s: event %lld of session number %lld is out of place, or holds values that no event can have",
        rows->query.db->name, (long long)seq, (long long)rows->session_id);
}

/* The bytes of this number of events are not added up: a server takes as long for that as for
 * finding them. */
enum { FEW_EVENTS = 50 };

/* Starts a query at the position of the walk. */
static void start_walk(struct event_rows *rows, struct db *db, ses_error *error)
{
    static const struct statement *const statements[] = {
        [WALK_FORWARD] = STATEMENT_EVENTS_FORWARD,
        [WALK_FORWARD_BODIES] = STATEMENT_EVENT_BODIES_FORWARD,
        [WALK_BACKWARD] = STATEMENT_EVENTS_BACKWARD,
        [WALK_BACKWARD_BODIES] = STATEMENT_EVENT_BODIES_BACKWARD,
        [WALK_BACKWARD_TIMES] = STATEMENT_EVENT_TIMES_BACKWARD,
    };

    const bool any_size = rows->page_bytes == INT64_MAX;

    ses__query_open(&rows->query, db, any_size ? db->traits->events_newest : statements[rows->walk], error,
                    VALUES(OWNER(rows->session_id), INT((int64_t)rows->first), INT((int64_t)rows->last),
                           INT_IF(db->traits->page > 0, rows->page),
                           INT_IF(db->traits->page > 0, rows->page_bytes)));
    rows->left = rows->page;
    rows->left_bytes = rows->page_bytes;
}

void ses__event_rows_open(struct event_rows *rows, struct db *db, int64_t session_id, int64_t first,
                          int64_t last, enum walk walk, ses_error *error)
{
    ses__event_rows_open_few(rows, db, session_id, first, last, &(struct few_events){INT64_MAX, INT64_MAX},
                             walk, error);
}

void ses__event_rows_open_few(struct event_rows *rows, struct db *db, int64_t session_id, int64_t first,
                              int64_t last, const struct few_events *few, enum walk walk, ses_error *error)
{
    if (first < 1)
        first = 1;
    if (last > MAX_SEQ)
        last = MAX_SEQ;
    *rows = (struct event_rows){.empty = first > last,
                                .session_id = session_id,
                                .place = first_place(db, session_id),
                                .first = (uint64_t)first,
                                .last = (uint64_t)last,
                                .page = few->count < db->traits->page ? few->count : db->traits->page,
                                .page_bytes =
                                    few->bytes < db->traits->page_bytes ? few->bytes : db->traits->page_bytes,
                                .walk = walk};
    if (walk == WALK_BACKWARD && db->traits->events_newest && few->count <= FEW_EVENTS &&
        few->bytes == INT64_MAX)
        rows->page_bytes = INT64_MAX;
    if (!rows->empty)
        start_walk(rows, db, error);
}

void ses__event_row_open(struct event_rows *rows, struct db *db, int64_t session_id, struct span id,
                         ses_error *error)
{
    *rows = (struct event_rows){.session_id = session_id,
                                .place = first_place(db, session_id),
                                .first = 1,
                                .last = MAX_SEQ,
                                .walk = WALK_FORWARD,
                                .id = id};
    ses__query_open(&rows->query, db, STATEMENT_EVENT_BY_ID, error,
                    VALUES(OWNER(session_id), TEXT(id), INT(hash_of(id))));
}

/* The next row; of the next page, where there are pages and one was full. */
static bool pull_row(struct event_rows *rows)
{
    struct db *db = rows->query.db;

    if (ses__query_row(&rows->query)) {
        rows->left--;
        return true;
    }
    if (db->traits->page == 0 || (rows->left > 0 && rows->left_bytes > 0) || rows->id.ptr ||
        rows->first > rows->last || rows->query.code != SES_OK)
        return false;
    (void)ses__query_end(&rows->query);
    if (rows->page < db->traits->page) { /* a walk that did go beyond its first few may go far */
        rows->page = 2 * rows->page < db->traits->page ? 2 * rows->page : db->traits->page;
        if (rows->page_bytes > db->traits->page_bytes)
            rows->page_bytes = db->traits->page_bytes;
    }
    start_walk(rows, db, rows->query.error);
    rows->left--;
    return ses__query_row(&rows->query);
}

static bool next_row(struct event_rows *rows, struct event_row *row)
{
    struct query *query = &rows->query;

    if (rows->empty || !pull_row(rows))
        return false;
    const uint64_t seq = (uint64_t)ses__query_int(query, 0) - rows->place;
    *row = (struct event_row){.seq = (int64_t)seq};
    /* The row must be the session's and lie ahead: pages that are damaged can lead anywhere, and
     * back again. */
    const bool ahead = seq >= rows->first && seq <= rows->last;
    if (rows->walk == WALK_FORWARD || rows->walk == WALK_FORWARD_BODIES)
        rows->first = seq + 1;
    else
        rows->last = seq - 1;
    bool sound = read_columns(query, rows->walk, row) && ahead;
    rows->left_bytes -= (int64_t)row->body.len;
    if (UNLIKELY(query->code == SES_OK && !sound))
        query->code = refuse_event(rows, row->seq, query->error);
    return query->code == SES_OK;
}

bool ses__event_rows_next(struct event_rows *rows, struct event_row *row)
{
    return next_row(rows, row) && (!rows->id.ptr || ses__span_is(row->id, rows->id));
}

int ses__event_rows_close(struct event_rows *rows)
{
    return rows->empty ? rows->query.code : ses__query_end(&rows->query);
}

/* -------------------------------------------------------------------------------------------- one event */

/* Closes a walk of which the first event counts. */
static int close_at_first(struct event_rows *rows, int64_t *seq)
{
    struct event_row row;

    *seq = ses__event_rows_next(rows, &row) ? row.seq : 0;
    return ses__event_rows_close(rows);
}

int ses__event_find(struct db *db, int64_t session_id, struct span id, int64_t *seq, ses_error *error)
{
    struct event_rows rows;

    ses__event_row_open(&rows, db, session_id, id, error);
    return close_at_first(&rows, seq);
}

int ses__event_last(struct db *db, int64_t session_id, int64_t first, int64_t last, int64_t *seq,
                    ses_error *error)
{
    struct event_rows rows;

    ses__event_rows_open(&rows, db, session_id, first, last, WALK_BACKWARD_TIMES, error);
    return close_at_first(&rows, seq);
}

int ses__event_of_invocation(struct db *db, int64_t session_id, struct span invocation, int64_t first,
                             int64_t last, int64_t *seq, ses_error *error)
{
    struct event_rows rows = {.empty = first > last,
                              .session_id = session_id,
                              .place = first_place(db, session_id),
                              .first = (uint64_t)first,
                              .last = (uint64_t)last,
                              .left = INT64_MAX, /* there are no pages */
                              .left_bytes = INT64_MAX,
                              .walk = WALK_FORWARD};
    struct event_row row;

    *seq = 0;
    if (!rows.empty)
        ses__query_open(&rows.query, db, STATEMENT_EVENT_OF_INVOCATION, error,
                        VALUES(INT(session_id), INT(first), INT(last), TEXT(invocation)));
    while (*seq == 0 && ses__event_rows_next(&rows, &row)) {
        if (ses__span_is(row.invocation_id, invocation))
            *seq = row.seq;
    }
    return ses__event_rows_close(&rows);
}
