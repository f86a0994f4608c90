/* Reading one session: whole, what a snapshot lacks, one value, a page of its events. */
#include <string.h>

#include "base/error.h"
#include "storage/sqlite/operations.h"
#include "storage/sqlite/rows.h"
#include "storage/sqlite/run.h"

/* ------------------------------------------------------------------------------------------- ranges */

/*
 * The events of a range, from the newest to the oldest, touching only these and any that lie out of order among them:
 * the latest time so far, which every row holds, shows where older ones cannot be.
 */
struct range_rows {
    struct event_rows rows;
    const struct range *range;
    int64_t left;
};

static void range_open(struct range_rows *walk, struct db *db, int64_t session_id, const struct range *range,
                       enum walk how, ses_error *error)
{
    int64_t last = range->none || range->newest == 0 ? 0 : range->last_seq;
    walk->range = range;
    walk->left = range->newest;
    ses__event_rows_open(&walk->rows, db, session_id, range->first_seq, last, how, error);
}

static bool range_next(struct range_rows *walk, struct event_row *row)
{
    while (walk->left > 0 && ses__event_rows_next(&walk->rows, row)) {
        if (row->high_us < walk->range->since_us)
            return false; /* no event before this one is later */
        if (row->time_us >= walk->range->since_us) {
            walk->left--;
            return true;
        }
    }
    return false;
}

/* ---------------------------------------------------------------------------------------------- whole */

int ses__load_snapshot(struct db *db, struct snapshot *snapshot, const struct session_row *row,
                       const struct range *range, ses_error *error)
{
    struct range_rows walk;
    struct event_row event;

    snapshot->row = *row;
    snapshot->keeps_events = !range->none;
    snapshot->events.count = 0; /* of an earlier run */
    int code = ses__load_scopes(db, &snapshot->state, row, error);
    if (code != SES_OK)
        return code;
    range_open(&walk, db, row->id, range, WALK_BACKWARD, error);
    while (code == SES_OK && range_next(&walk, &event))
        code = ses__snapshot_add_event(snapshot, &event, error);
    int closed = ses__event_rows_close(&walk.rows);
    ses__event_list_reverse(&snapshot->events);
    return code != SES_OK ? code : closed;
}

static int run_get(struct db *db, void *context, ses_error *error)
{
    const struct get_op *op = context;
    const struct session_ref ref = {op->key, NULL};
    struct session_row row;
    int code = ses__session_of(db, &ref, &row, error);

    return code == SES_OK ? ses__load_snapshot(db, op->snapshot, &row, &op->range, error) : code;
}

int ses__sqlite_get(struct storage *storage, struct get_op *op, ses_error *error)
{
    return ses__run_read(storage, run_get, op, error);
}

/* -------------------------------------------------------------------------------------------- refresh */

int ses__read_missed(struct db *db, struct advance *advance, int64_t last_seq, ses_error *error)
{
    const struct session_row *known = &advance->snapshot->row;
    struct event_rows rows;
    struct event_row event;
    int code = SES_OK;

    ses__event_rows_open(&rows, db, known->id, known->last_seq + 1, last_seq, WALK_FORWARD, error);
    while (code == SES_OK && ses__event_rows_next(&rows, &event))
        code = ses__advance_read_event(advance, &event, error);
    int closed = ses__event_rows_close(&rows);
    return code != SES_OK ? code : closed;
}

int ses__read_shared(struct db *db, struct advance *advance, ses_error *error)
{
    const struct session_row *known = &advance->snapshot->row;
    int code = ses__load_scope(db, &advance->shared, SCOPE_APP, known, error);
    if (code == SES_OK)
        code = ses__load_scope(db, &advance->shared, SCOPE_USER, known, error);
    advance->reloads_shared = code == SES_OK;
    return code;
}

static int run_refresh(struct db *db, void *context, ses_error *error)
{
    struct refresh_op *op = context;
    struct session_row row;

    ses__advance_free(&op->advance); /* of an earlier run */
    int code = ses__advance_init(&op->advance, op->snapshot, error);
    if (code == SES_OK)
        code = ses__session_of(db, &op->session, &row, error);
    if (code == SES_OK && row.version != op->snapshot->row.version)
        code = ses__read_missed(db, &op->advance, row.last_seq, error);
    if (code == SES_OK)
        code = ses__read_shared(db, &op->advance, error);
    return code == SES_OK ? ses__advance_prepare(&op->advance, &row, error) : code;
}

int ses__sqlite_refresh(struct storage *storage, struct refresh_op *op, ses_error *error)
{
    op->advance = (struct advance){.snapshot = NULL};
    return ses__run_read(storage, run_refresh, op, error);
}

/* ------------------------------------------------------------------------------------------ one value */

static int keep_text(struct value_op *op, struct span text, ses_error *error)
{
    op->json = ses__memory_text(op->allocator, text.len);
    if (!op->json)
        return ses__error_nomem(error);
    memcpy(op->json, text.ptr, text.len);
    op->len = text.len;
    return SES_OK;
}

static int run_value(struct db *db, void *context, ses_error *error)
{
    struct value_op *op = context;
    const struct session_ref ref = {op->key, NULL};
    struct session_row row;
    struct state_rows rows;
    struct span key;
    struct span value;

    ses_free(op->json); /* of an earlier run */
    op->json = NULL;
    int code = ses__session_of(db, &ref, &row, error);
    if (code != SES_OK || op->scope == SCOPE_TEMP) /* which is never stored */
        return code;
    ses__state_row_open(&rows, db, op->scope, ses__scope_owner(op->scope, &row), op->state_key, error);
    if (ses__state_rows_next(&rows, &key, &value)) {
        code = ses__state_check_value(op->name, value, error);
        if (code == SES_OK)
            code = keep_text(op, value, error);
    }
    int closed = ses__state_rows_close(&rows);
    return code != SES_OK ? code : closed;
}

int ses__sqlite_value(struct storage *storage, struct value_op *op, ses_error *error)
{
    op->json = NULL;
    op->len = 0;
    return ses__run_read(storage, run_value, op, error);
}

/* ---------------------------------------------------------------------------------------------- pages */

/* Walking forward, a range of times or of the newest begins at its oldest event. */
static int find_begin(struct db *db, struct page_op *op, ses_error *error)
{
    struct range *range = &op->range;
    struct range_rows walk;
    struct event_row event;
    int64_t first = INT64_MAX;

    range_open(&walk, db, op->row.id, range, WALK_BACKWARD_TIMES, error);
    while (range_next(&walk, &event))
        first = event.seq;
    range->first_seq = first;
    range->newest = INT64_MAX;
    return ses__event_rows_close(&walk.rows);
}

/* Ends the range at the events that are there now. */
static int begin_walk(struct db *db, struct page_op *op, ses_error *error)
{
    struct range *range = &op->range;
    bool seeks = !op->backward && (range->newest != INT64_MAX || range->since_us != INT64_MIN);

    if (range->last_seq > op->row.last_seq)
        range->last_seq = op->row.last_seq;
    return seeks ? find_begin(db, op, error) : SES_OK;
}

/* True when the page is full. */
static int add_to_page(struct page_op *op, const struct event_row *row, size_t *bytes, bool *full,
                       ses_error *error)
{
    if (!ses__event_list_add(op->events, op->allocator, ses__event_copy(op->arena, row)))
        return ses__error_nomem(error);
    *bytes += row->body.len;
    *full = op->events->count >= op->most_events || *bytes >= op->most_bytes;
    return SES_OK;
}

static int read_backward(struct db *db, struct page_op *op, bool *full, ses_error *error)
{
    struct range_rows walk;
    struct event_row event;
    size_t bytes = 0;
    int code = SES_OK;

    range_open(&walk, db, op->row.id, &op->range, WALK_BACKWARD, error);
    while (code == SES_OK && !*full && range_next(&walk, &event))
        code = add_to_page(op, &event, &bytes, full, error);
    int closed = ses__event_rows_close(&walk.rows);
    return code != SES_OK ? code : closed;
}

static int read_forward(struct db *db, struct page_op *op, bool *full, ses_error *error)
{
    const struct range *range = &op->range;
    struct event_rows rows;
    struct event_row event;
    size_t bytes = 0;
    int code = SES_OK;

    ses__event_rows_open(&rows, db, op->row.id, range->first_seq, range->none ? 0 : range->last_seq,
                         WALK_FORWARD, error);
    while (code == SES_OK && !*full && ses__event_rows_next(&rows, &event)) {
        if (event.time_us >= range->since_us)
            code = add_to_page(op, &event, &bytes, full, error);
    }
    int closed = ses__event_rows_close(&rows);
    return code != SES_OK ? code : closed;
}

/* Takes what the page holds out of the range. */
static void shrink_range(struct page_op *op, bool full)
{
    struct range *range = &op->range;
    const struct event_list *events = op->events;

    if (!full) {
        range->none = true;
    } else if (op->backward) {
        range->last_seq = events->items[events->count - 1]->seq - 1;
        if (range->newest != INT64_MAX)
            range->newest -= (int64_t)events->count;
    } else {
        range->first_seq = events->items[events->count - 1]->seq + 1;
    }
}

struct page_run {
    struct page_op *op;
    const struct range asked; /* for a run that begins again */
};

static int run_page(struct db *db, void *context, ses_error *error)
{
    const struct page_run *run = context;
    struct page_op *op = run->op;
    bool full = false;

    op->range = run->asked;
    ses__arena_reset(op->arena);
    op->events->count = 0;
    int code = ses__session_of(db, &op->session, &op->row, error);
    if (code == SES_OK && op->first)
        code = begin_walk(db, op, error);
    if (code == SES_OK)
        code = op->backward ? read_backward(db, op, &full, error) : read_forward(db, op, &full, error);
    if (code == SES_OK)
        shrink_range(op, full);
    return code;
}

int ses__sqlite_page(struct storage *storage, struct page_op *op, ses_error *error)
{
    struct page_run run = {op, op->range};
    return ses__run_read(storage, run_page, &run, error);
}
