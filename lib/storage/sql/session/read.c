/* Reading one session: whole, what a snapshot lacks, one value. */
#include <string.h>

#include "base/error.h"
#include "storage/sql/session/jobs.h"
#include "storage/sql/rows/event.h"
#include "storage/sql/rows/session.h"
#include "storage/sql/rows/state.h"
#include "storage/sql/engine.h"

/* ---------------------------------------------------------------------------------------------- whole */

/* The newest come first, and the list is turned round. */
static int load_events(struct db *db, struct snapshot *snapshot, const struct range *range,
                       const struct live *live, ses_error *error)
{
    struct range_rows walk;
    struct event_row event;
    const int64_t count = snapshot->row.event_count;
    int code = ses__snapshot_begin_events(snapshot, range->newest < count ? range->newest : count, error);

    if (code != SES_OK)
        return code;
    ses__range_rows_open(&walk, db, snapshot->row.id, range, live, WALK_BACKWARD, error);
    while (code == SES_OK && ses__range_rows_next(&walk, &event))
        code = ses__snapshot_add_event(snapshot, &event, error);
    int closed = ses__range_rows_close(&walk);
    if (code == SES_OK)
        code = closed;
    return code == SES_OK ? ses__snapshot_end_events(snapshot, error) : code;
}

static int load_live_events(struct db *db, struct snapshot *snapshot, const struct range *range,
                            ses_error *error)
{
    struct live live;

    ses__live_init(&live, snapshot->allocator);
    int code = ses__load_live(db, snapshot->row.id, snapshot->row.last_seq, &live, error);
    if (code == SES_OK)
        code = load_events(db, snapshot, range, &live, error);
    ses__live_free(&live);
    return code;
}

int ses__load_snapshot(struct db *db, struct snapshot *snapshot, const ses_key *key,
                       const struct session_row *row, const struct range *range, ses_error *error)
{
    snapshot->row = *row;
    snapshot->keeps_events = !range->none;
    int code = ses__load_details_of(
        db, &(struct described){&snapshot->row, key->app, snapshot, &snapshot->annotations}, error);
    if (code == SES_OK)
        code = ses__load_scopes(db, &snapshot->state, row, error);
    if (code == SES_OK && !range->none)
        code = range->live ? load_live_events(db, snapshot, range, error)
                           : load_events(db, snapshot, range, NULL, error);
    return code;
}

int ses__get_job(struct db *db, void *context, ses_error *error)
{
    const struct get_op *op = context;
    const struct session_ref ref = {op->key, NULL};
    struct session_row row;
    int code = ses__session_of(db, &ref, &row, error);

    return code == SES_OK ? ses__load_snapshot(db, op->snapshot, op->key, &row, &op->range, error) : code;
}

int ses__door_get(struct storage *storage, struct get_op *op, ses_error *error)
{
    return ses__run_read(storage, ses__get_job, op, error);
}

/* -------------------------------------------------------------------------------------------- refresh */

/* The last event that the snapshot may know and that is still there; 0: none. */
static int find_survivor(struct db *db, const struct session_row *known, int64_t *seq, ses_error *error)
{
    struct event_rows rows;
    struct event_row event;

    *seq = 0;
    ses__event_rows_open(&rows, db, known->id, 1, known->last_seq, WALK_BACKWARD_TIMES, error);
    if (ses__event_rows_next(&rows, &event))
        *seq = event.seq;
    return ses__event_rows_close(&rows);
}

/* Pruned events were not cut, so the snapshot keeps them. If every known event was cut or pruned, the two
 * cannot be distinguished, and it starts again. */
static int restart_after_cut(struct db *db, struct advance *advance, const struct session_row *row,
                             ses_error *error)
{
    const struct session_row *known = &advance->snapshot->row;
    int64_t keep = 0;
    int code = find_survivor(db, known, &keep, error);

    if (keep < row->base_seq && row->base_seq <= known->last_seq)
        keep = row->base_seq;
    ses__advance_restart(advance, keep);
    return code;
}

int ses__read_missed(struct db *db, struct advance *advance, const struct session_row *row, ses_error *error)
{
    const struct session_row *known = &advance->snapshot->row;
    struct event_rows rows;
    struct event_row event;
    int code = SES_OK;

    if (ses__row_epoch(row) != ses__row_epoch(known))
        code = restart_after_cut(db, advance, row, error);
    else if (row->base_seq > known->last_seq) /* events that are lacking were pruned */
        ses__advance_restart(advance, known->last_seq);
    if (code != SES_OK)
        return code;
    ses__event_rows_open(&rows, db, known->id, known->last_seq + 1, row->last_seq, WALK_FORWARD, error);
    while (code == SES_OK && ses__event_rows_next(&rows, &event))
        code = ses__advance_read_event(advance, &event, error);
    int closed = ses__event_rows_close(&rows);
    return code != SES_OK ? code : closed;
}

int ses__read_scopes(struct db *db, struct advance *advance, ses_error *error)
{
    const enum scope end = advance->restarts ? SCOPE_TEMP : SCOPE_SESSION;
    int code = SES_OK;

    for (enum scope scope = SCOPE_APP; scope < end && code == SES_OK; scope++)
        code = ses__load_scope(db, &advance->fresh, scope, &advance->snapshot->row, error);
    if (code == SES_OK)
        advance->loaded = end;
    return code;
}

int ses__refresh_job(struct db *db, void *context, ses_error *error)
{
    struct refresh_op *op = context;
    struct session_row row;

    ses__advance_free(&op->advance); /* of an earlier run */
    int code = ses__advance_init(&op->advance, op->snapshot, error);
    if (code == SES_OK)
        code = ses__session_of(db, &op->session, &row, error);
    if (code == SES_OK)
        code = ses__load_details_of(
            db, &(struct described){.row = &row, .annotations = &op->advance.annotations}, error);
    op->advance.annotates = true;
    if (code == SES_OK && row.version != op->snapshot->row.version)
        code = ses__read_missed(db, &op->advance, &row, error);
    if (code == SES_OK)
        code = ses__read_scopes(db, &op->advance, error);
    return code == SES_OK ? ses__advance_prepare(&op->advance, &row, error) : code;
}

int ses__door_refresh(struct storage *storage, struct refresh_op *op, ses_error *error)
{
    op->advance = (struct advance){.snapshot = NULL};
    return ses__run_read(storage, ses__refresh_job, op, error);
}

/* ------------------------------------------------------------------------------------------ one value */

static int keep_text(struct value_op *op, struct span text, ses_error *error)
{
    op->json = ses__memory_text_of(op->allocator, text);
    op->len = text.len;
    return op->json ? SES_OK : ses__error_nomem(error);
}

int ses__value_job(struct db *db, void *context, ses_error *error)
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

int ses__door_value(struct storage *storage, struct value_op *op, ses_error *error)
{
    op->json = NULL;
    op->len = 0;
    return ses__run_read(storage, ses__value_job, op, error);
}
